"""What a bank can resolve."""

from __future__ import annotations

import pytest

from examgen.report.numbers import every, find, value_of
from examgen.resolving_power import resolvable, sizing_rows
from examgen.study import Contrast, Sizing

GAIN = Contrast(name="gain", better=0.1, worse=0.025)


def test_the_paper_s_contrast_needs_185_items() -> None:
    rows = sizing_rows(Sizing(contrasts=(GAIN,)), 168)
    assert value_of(rows, contrast="gain", statistic="items needed") == 185
    assert value_of(rows, contrast="gain", statistic="power of this bank") == pytest.approx(0.75, abs=0.03)
    assert resolvable(rows, 168) is False
    assert resolvable(rows, 185) is True


def test_without_contrasts_there_is_still_a_smallest_difference() -> None:
    rows = sizing_rows(None, 168)
    assert len(every(rows, contrast="any pair")) == 4
    assert resolvable(rows, 168) is None


def test_a_pilot_that_was_not_read_is_a_row_with_the_reason() -> None:
    unread = Contrast(name="pilot", pilot="pilot.csv", endpoints=("a", "b"))
    row = find(sizing_rows(Sizing(contrasts=(unread,)), 100), contrast="all")
    assert row is not None
    assert row["value"] is None
    assert "has not been read" in row["note"]


def test_an_empty_bank_is_said() -> None:
    assert all(row["value"] is None and row["note"] for row in sizing_rows(None, 0))
