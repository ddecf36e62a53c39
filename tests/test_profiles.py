"""Profiles over crossed axes."""

from __future__ import annotations

import numpy as np
import pytest

from examgen.profiles import crossings, profile_rows
from examgen.report.numbers import find
from examgen.scores import collect
from tests.panels import endpoint, make_answers, make_bank

BANK = make_bank(3, 16)
ANSWERS = collect(BANK, make_answers(BANK, {"a": 0.6}), [endpoint("a")])


def test_a_cell_equals_its_items() -> None:
    rows = profile_rows(ANSWERS, ("stratum", "site"))
    inside = [n for n, item in enumerate(BANK) if item.stratum == "easy" and item.axes[0].value == "A"]
    row = find(rows, cell="easy × A")
    assert row is not None
    assert (row["n"], row["value"]) == (len(inside), pytest.approx(np.mean(ANSWERS.scores[inside, 0])))


def test_a_small_cell_has_a_count_and_no_number() -> None:
    rows = profile_rows(ANSWERS, ("topic", "stratum"), smallest=5)
    assert {row["n"] for row in rows} == {4}
    assert all(row["value"] is None and row["note"] for row in rows)


def test_only_axes_with_two_levels_are_crossed() -> None:
    assert ("topic", "stratum") in crossings(ANSWERS)
    alone = collect(make_bank(1, 4), [], [])
    assert not any("topic" in pair for pair in crossings(alone))
