"""Numbers as a reader sees them."""

from __future__ import annotations

from examgen.report.numbers import decimal, interval, p_value, percent, points, whole


def test_signs_and_rounding() -> None:
    assert percent(0.2831) == "28.3"
    assert points(-0.0241) == "−2.4"
    assert points(0.1) == "+10.0"
    assert percent(-0.0001) == "0.0"
    assert whole(1051.0) == "1,051"


def test_what_is_not_estimable_is_said() -> None:
    assert {percent(None), points(None), decimal(None), whole(None), p_value(None), interval(None)} == {"n.e."}


def test_p_values() -> None:
    assert [p_value(p) for p in (0.0002, 0.0312, 0.25, 0.9999, 1.0)] == ["&lt; .001", ".031", ".250", "1", "1"]


def test_an_interval_without_limits_is_its_value() -> None:
    assert interval({"value": 0.5, "low": None, "high": None}) == "50.0"
    assert interval({"value": 0.5, "low": 0.4, "high": 0.6}) == "50.0 (40.0 to 60.0)"
