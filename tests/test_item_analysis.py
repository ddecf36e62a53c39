"""Item analysis: guards, distractors, the transposed 2PL, the short form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from examgen.difficulty import misses
from examgen.item_analysis import analysis_rows, easiness, short_form_rows, transposed_fit
from examgen.report.numbers import every, find, value_of
from examgen.scores import collect
from tests.panels import PANEL, answer, endpoint, make_answers, make_bank

BANK = make_bank(10, 24)
ENDPOINTS = [endpoint(name) for name in PANEL]
HARD = np.random.default_rng(2).normal(size=(len(BANK), len(PANEL)))
HARD += 2.5 * np.random.default_rng(3).normal(size=(len(BANK), 1)) + 0.3 * np.arange(len(PANEL))
ANSWERS = collect(
    BANK,
    [
        answer(item, name, item.key if HARD[place, column] < 1 else (item.key + 1 + place % 3) % 4)
        for column, name in enumerate(PANEL)
        for place, item in enumerate(BANK)
    ],
    ENDPOINTS,
)
FIT = transposed_fit(ANSWERS)
ROWS = analysis_rows(ANSWERS, FIT)


def test_a_dozen_endpoints_give_no_discrimination() -> None:
    row = find(ROWS, statistic="median discrimination")
    assert row is not None
    assert row["value"] is None
    assert "7 endpoints: below 30" in row["note"]
    assert "do not act on it" in find(ROWS, statistic="KR-20")["note"]  # type: ignore[index]
    assert value_of(ROWS, statistic="items with differential functioning") is None


def test_functioning_distractors_equal_counting() -> None:
    working = total = 0
    for place, item in enumerate(BANK):
        for option in range(4):
            if option != item.key:
                total += 1
                working += bool((ANSWERS.choices[place] == option).any())
    assert value_of(ROWS, statistic="functioning distractors") == pytest.approx(working / total)


def test_easiness_ranks_as_the_misses_do() -> None:
    theta = easiness(ANSWERS, FIT)
    assert theta is not None
    assert stats.spearmanr(theta[0], -misses(ANSWERS.scores)[0]).statistic > 0.95
    assert np.all(theta[1] > 0)
    assert len(every(ROWS, statistic="2PL slope")) == 7


def test_a_small_panel_is_told_why() -> None:
    small = collect(BANK, make_answers(BANK, {"model-0": 0.5}), ENDPOINTS[:1])
    fit = transposed_fit(small)
    assert fit[0] is None
    assert "at least 5" in fit[1]
    assert easiness(small, fit) is None
    assert all(row["value"] is None and row["note"] for row in analysis_rows(small, fit))
    assert [row["value"] for row in short_form_rows(small)] == [None]


def test_a_short_form_has_weights_that_sum_to_one() -> None:
    rows = short_form_rows(ANSWERS, seed=3)
    size = value_of(rows, statistic="items")
    weights = every(rows, statistic="weight")
    assert size == len(weights) < len(BANK)
    assert sum(row["value"] for row in weights) == pytest.approx(1.0)
    assert {row["scope"] for row in weights} <= {item.item_id for item in BANK}


def test_many_respondents_show_discrimination() -> None:
    names = {f"m{n}": 0.2 + 0.02 * n for n in range(32)}
    bank = BANK[:24]
    answers = collect(bank, make_answers(bank, names), [endpoint(name) for name in names])
    row = find(analysis_rows(answers, transposed_fit(answers)), statistic="median discrimination")
    assert row is not None
    assert row["value"] > 0


def test_groups_of_twenty_can_be_compared() -> None:
    bank = BANK[:30]
    names = [f"m{n}" for n in range(44)]
    random = np.random.default_rng(0)
    given = [
        answer(item, name, item.key if random.random() < (0.2 if place == 0 and n % 2 else 0.7) else (item.key + 1) % 4)
        for n, name in enumerate(names)
        for place, item in enumerate(bank)
    ]
    groups = [endpoint(name, group="AB"[n % 2]) for n, name in enumerate(names)]
    answers = collect(bank, given, groups)
    rows = analysis_rows(answers, transposed_fit(answers))
    assert value_of(rows, statistic="items with differential functioning") >= 1
