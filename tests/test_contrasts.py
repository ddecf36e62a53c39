"""Differences between endpoints against plain counting."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from examgen.contrasts import contrast_rows
from examgen.report.numbers import every, find, value_of
from examgen.scores import collect
from examgen.study import Statistics
from tests.panels import endpoint, make_answers, make_bank

BANK = make_bank(6, 10)
NAMES = {"a": 0.9, "b": 0.6, "chance": 0.25, "writer": 0.9}
ENDPOINTS = [
    endpoint("a"), endpoint("b"), endpoint("chance", "baseline"), endpoint("writer", "construction_overlap"),
]  # fmt: skip
ANSWERS = collect(BANK, make_answers(BANK, NAMES, missing=0.05), ENDPOINTS)
ROWS = contrast_rows(ANSWERS, Statistics(bootstrap_replicates=400))


def test_families_are_primary_pairs_and_pairs_with_baselines() -> None:
    pairs = {(row["endpoint_a"], row["endpoint_b"], row["scope"]) for row in ROWS}
    assert pairs == {
        ("a", "b", "primary endpoints"), ("a", "chance", "primary against baselines"),
        ("b", "chance", "primary against baselines"),
    }  # fmt: skip


def test_a_difference_equals_plain_counting() -> None:
    one, two = ANSWERS.scores[:, 0], ANSWERS.scores[:, 1]
    both = ~np.isnan(one) & ~np.isnan(two)
    b, c = int((one[both] > two[both]).sum()), int((one[both] < two[both]).sum())
    mine = every(ROWS, endpoint_a="a", endpoint_b="b")
    gain = find(mine, statistic="difference of accuracy, first minus second")
    assert gain is not None
    assert gain["value"] == pytest.approx((b - c) / both.sum())
    assert gain["low"] < gain["value"] < gain["high"]
    assert value_of(mine, statistic="exact McNemar P") == pytest.approx(stats.binomtest(min(b, c), b + c).pvalue)


def test_holm_runs_over_its_own_family() -> None:
    outer = every(ROWS, scope="primary against baselines")
    plain = [row["value"] for row in every(outer, statistic="exact McNemar P")]
    held = [row["value"] for row in every(outer, statistic="exact McNemar P, Holm")]
    assert min(held) == pytest.approx(2 * min(plain))


def test_one_endpoint_has_no_difference() -> None:
    assert contrast_rows(collect(BANK, [], ENDPOINTS[:1]), Statistics()) == []
