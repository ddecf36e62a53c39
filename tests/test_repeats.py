"""Repeats: accuracies are means over them, exact tests use the first, consistency is counted as a loop counts it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from examgen.accuracy import overall_rows
from examgen.calibration import calibrate
from examgen.records import Response
from examgen.repeats import STATISTICS, repeat_rows
from examgen.report.numbers import find, value_of
from examgen.scores import collect
from examgen.study import Statistics
from tests.panels import answer, endpoint, make_bank

BANK = make_bank(4, 5)
SETTINGS = Statistics(bootstrap_replicates=200, permutations=2)
PANEL = [endpoint("a"), endpoint("b")]


def repeated(repeats: int = 3, seed: int = 4) -> list[Response]:
    """Three repeats of endpoint a (some unread), one of endpoint b."""
    random = np.random.default_rng(seed)
    rows = [
        answer(item, "a", None if random.random() < 0.15 else int(random.integers(4)), repeat=repeat)
        for item in BANK
        for repeat in range(repeats)
    ]
    return rows + [answer(item, "b", item.key) for item in BANK]


def test_accuracy_is_the_mean_over_items_of_the_mean_over_repeats() -> None:
    given = repeated()
    means, worst, best = [], [], []
    for item in BANK:
        mine = [row.correct for row in given if row.item_id == item.item_id and row.endpoint_id == "a"]
        known = [value for value in mine if value is not None]
        means += [np.mean(known)] if known else []
        worst.append(sum(known) / len(mine))
        best.append((sum(known) + mine.count(None)) / len(mine))
    rows = overall_rows(collect(BANK, given, PANEL), SETTINGS)
    a = [row for row in rows if row["endpoint_id"] == "a"]
    assert value_of(a, statistic="accuracy") == pytest.approx(np.mean(means))
    bounds = find(a, statistic="accuracy, bounds")
    assert bounds is not None
    assert (bounds["low"], bounds["high"]) == pytest.approx((np.mean(worst), np.mean(best)))
    assert "means over repeats" in str(find(a, statistic="accuracy, these items")["method"])  # type: ignore[index]
    assert value_of(rows, endpoint_id="b", statistic="accuracy") == 1.0


def test_exact_tests_use_the_first_repeat() -> None:
    given = repeated()
    first = [row for row in given if row.repeat == 0]
    one, two = (calibrate(BANK, rows, PANEL, SETTINGS) for rows in (given, first))
    assert one["pair_comparisons"] == two["pair_comparisons"]
    assert one["item_difficulty"] == two["item_difficulty"]
    assert one["accuracy"] != two["accuracy"]


def test_consistency_equals_a_loop() -> None:
    given = repeated()
    strict, pairwise = [], []
    for item in BANK:
        said = [row.choice for row in given if row.item_id == item.item_id and row.endpoint_id == "a"]
        strict.append(None not in said and len(set(said)) == 1)
        pairs = [x == y for x, y in combinations(said, 2) if x is not None and y is not None]
        pairwise += [np.mean(pairs)] if pairs else []
    rows = repeat_rows(collect(BANK, given, PANEL))
    assert {row["scope"] for row in rows} == {"a"}
    assert value_of(rows, statistic=STATISTICS[0]) == pytest.approx(np.mean(strict))
    assert value_of(rows, statistic=STATISTICS[1]) == pytest.approx(np.mean(pairwise))
    spread = find(rows, statistic=STATISTICS[2])
    assert spread is not None
    assert spread["low"] < spread["value"] < spread["high"]


def test_without_repeats_nothing_changes_and_the_note_says_so() -> None:
    answers = collect(BANK, [row for row in repeated() if row.repeat == 0], PANEL)
    assert answers.mean_scores is answers.scores
    assert all("asked once" in row["note"] and row["value"] is None for row in repeat_rows(answers))
