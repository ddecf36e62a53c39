"""Option order: the responder of content, the responder of places, and the shown positions."""

from __future__ import annotations

import numpy as np
import pytest

from examgen.answers import shown_order
from examgen.option_order import STATISTICS, _as_rotations, _by_key_place, answers_by_order, option_order_rows
from examgen.report.numbers import find, value_of
from examgen.scores import collect
from tests.panels import answer, endpoint, make_answers, make_bank

BANK = make_bank(5, 8)
ENDPOINTS = [endpoint("content"), endpoint("first place")]


def rows() -> list[dict[str, object]]:
    random = np.random.default_rng(1)
    given = []
    for item in BANK:
        same = int(random.integers(4))
        for order in range(4):
            given.append(answer(item, "content", same, order))
            given.append(answer(item, "first place", shown_order(4, order)[0], order))
    return option_order_rows(collect(BANK, given, ENDPOINTS), seed=4)


ROWS = rows()


def test_who_answers_the_content_is_stable_and_unbiased() -> None:
    assert value_of(ROWS, endpoint_id="content", statistic="strict stability") == 1.0
    assert value_of(ROWS, endpoint_id="content", statistic="position test P") == 1.0
    assert value_of(ROWS, endpoint_id="content", statistic="Cochran's Q P") == 1.0
    assert value_of(ROWS, endpoint_id="content", statistic="largest score change") == 0.0


def test_who_answers_the_first_place_is_found_out() -> None:
    assert value_of(ROWS, endpoint_id="first place", statistic="strict stability") == 0.0
    assert value_of(ROWS, endpoint_id="first place", statistic="position test P, Holm") < 0.01
    assert value_of(ROWS, endpoint_id="first place", statistic="Cochran's Q P, Holm") < 0.001
    assert value_of(ROWS, endpoint_id="first place", statistic="spread of recall by key place") > 0.4


def test_places_are_those_that_were_shown() -> None:
    given = make_answers(BANK, {"a": 0.5}, orders=4, missing=0.1)
    answers = collect(BANK, given, [endpoint("a")])
    places, chosen, right = answers_by_order(answers, 0)
    options = answers.n_options[places].astype(np.int64)
    table = _by_key_place(right, answers.keys[places], options)
    turned = _as_rotations(chosen, options)
    for row, place in enumerate(places):
        item = BANK[place]
        for order in range(4):
            shown = shown_order(4, order)
            expected, found = right[row, order], table[row, shown.index(item.key)]
            assert expected == found or (np.isnan(expected) and np.isnan(found))
            if chosen[row, order] >= 0:
                column = (-order) % 4
                assert (turned[row, column] + column) % 4 == shown.index(int(chosen[row, order]))


def test_one_order_is_not_estimable() -> None:
    found = option_order_rows(collect(BANK, make_answers(BANK, {"content": 0.5}), ENDPOINTS))
    assert {row["statistic"] for row in found if row["endpoint_id"] == "content"} == set(STATISTICS)
    assert all(row["value"] is None and row["note"] for row in found)


def test_the_panel_row_holds_the_rank_correlation() -> None:
    names = {f"m{n}": 0.9 - 0.1 * n for n in range(6)}
    found = option_order_rows(collect(BANK, make_answers(BANK, names, orders=4), [endpoint(n) for n in names]))
    row = find(found, endpoint_id="all", statistic="lowest rank correlation between orders")
    assert row is not None
    assert row["value"] > 0.5
    mean, most = (value_of(found, endpoint_id="all", statistic=f"{s} score change") for s in ("mean", "largest"))
    assert 0 < mean <= most


def test_some_items_with_five_options() -> None:
    mixed = [*make_bank(2, 5), *make_bank(2, 5, options=5, seed=2)]
    given = make_answers(mixed, {"a": 0.6}, orders=4)
    found = option_order_rows(collect(mixed, given, [endpoint("a")]))
    assert value_of(found, endpoint_id="a", statistic="position test P") == pytest.approx(0.5, abs=0.5)
