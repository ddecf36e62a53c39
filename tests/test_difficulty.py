"""Empirical difficulty against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from examgen.difficulty import Thresholds, bin_of, difficulty_rows, leave_one_out_rows, misses, panel_rows
from examgen.report.numbers import find, value_of
from examgen.scores import collect
from tests.panels import PANEL, endpoint, make_answers, make_bank

BANK = make_bank()
ENDPOINTS = [endpoint(name) for name in PANEL]
ANSWERS = collect(BANK, make_answers(BANK, PANEL, missing=0.05), ENDPOINTS)


def test_the_paper_s_thresholds() -> None:
    assert Thresholds.of(12) == Thresholds(4, 7)
    assert [label for label, _ in Thresholds.of(12).bins()] == ["0", "1 to 3", "4 to 6", "7 or more"]
    assert bin_of(np.array([0, 1, 3, 4, 6, 7, 12]), Thresholds(4, 7)).tolist() == [
        "0", "1 to 3", "1 to 3", "4 to 6", "4 to 6", "7 or more", "7 or more",
    ]  # fmt: skip


def test_a_missing_answer_is_no_miss() -> None:
    count, seen = misses(np.array([[0, 1, np.nan], [np.nan, np.nan, np.nan]]))
    assert count.tolist() == [1, 0]
    assert seen.tolist() == [2, 0]


def test_rows_equal_a_loop() -> None:
    for place, row in enumerate(difficulty_rows(ANSWERS)):
        known = [x for x in ANSWERS.scores[place] if not np.isnan(x)]
        assert row["misses"] == sum(x == 0 for x in known)
        assert row["seen"] == len(known)
        assert row["miss_rate"] == pytest.approx(row["misses"] / len(known))


def test_overlap_and_baselines_do_not_count() -> None:
    endpoints = [*ENDPOINTS, endpoint("writer", "construction_overlap"), endpoint("chance", "baseline")]
    more = make_answers(BANK, PANEL, missing=0.05) + make_answers(BANK, {"writer": 0.0, "chance": 0.0})
    wider = collect(BANK, more, endpoints)
    assert difficulty_rows(wider) == difficulty_rows(ANSWERS)
    scopes = {row["scope"] for row in panel_rows(wider)}
    assert scopes == {"primary endpoints", "with overlap"}


def test_leave_one_out_names_its_coefficients() -> None:
    rows = leave_one_out_rows(ANSWERS)
    whole, _ = misses(ANSWERS.scores)
    rest, _ = misses(np.delete(ANSWERS.scores, 2, axis=1))
    found = value_of(rows, endpoint_id="model-2", statistic="Spearman")
    assert found == pytest.approx(stats.spearmanr(whole, rest).statistic)
    assert value_of(rows, endpoint_id="model-2", statistic="Kendall tau-b") < found


def test_a_small_panel_is_not_estimable() -> None:
    small = collect(BANK, make_answers(BANK, {"model-0": 0.5}), ENDPOINTS[:1])
    assert {row["queue"] for row in difficulty_rows(small)} == {"not estimable"}
    row = find(leave_one_out_rows(small), statistic="Spearman")
    assert row is not None
    assert row["value"] is None
    assert row["note"] == "1 primary endpoint: at least 5 are needed"


def test_everything_right_is_defined() -> None:
    perfect = collect(BANK, make_answers(BANK, dict.fromkeys(PANEL, 1.0)), ENDPOINTS)
    values = [row["value"] for row in leave_one_out_rows(perfect) if row["statistic"] == "Spearman"]
    assert values == [None] * 7
