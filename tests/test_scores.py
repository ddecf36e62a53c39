"""Responses as arrays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from examgen.errors import TableError
from examgen.scores import collect
from tests.panels import answer, endpoint, make_answers, make_bank

BANK = make_bank(2, 3)


def test_scores_follow_item_ids_and_not_the_order_of_rows() -> None:
    rows = [answer(item, "a", item.key if place % 2 else (item.key + 1) % 4) for place, item in enumerate(BANK)]
    found = collect(BANK, rows[::-1], [endpoint("a")])
    assert found.scores[:, 0].tolist() == [0, 1, 0, 1, 0, 1]
    assert found.choices[1, 0] == BANK[1].key


def test_an_unparsed_row_is_unresolved_and_an_absent_one_not_asked() -> None:
    rows = [answer(BANK[0], "a", None), answer(BANK[1], "a", BANK[1].key)]
    found = collect(BANK, rows, [endpoint("a")])
    assert np.isnan(found.scores[0, 0])
    assert found.asked[:, 0].tolist() == [True, True, False, False, False, False]


def test_the_lowest_order_and_repeat_are_the_main_answer() -> None:
    item = BANK[0]
    wrong = (item.key + 1) % 4
    rows = [answer(item, "a", wrong, 1), answer(item, "a", wrong, 0, 1), answer(item, "a", item.key, 0, 0)]
    assert collect(BANK, rows, [endpoint("a")]).scores[0, 0] == 1


def test_rows_asked_without_the_stem_are_no_accuracy() -> None:
    row = answer(BANK[0], "a", BANK[0].key).model_copy(update={"mode": "no_stem"})
    found = collect(BANK, [row], [endpoint("a")])
    assert np.isnan(found.scores).all()
    assert found.stemless.tolist() == [True]


def test_records_rows_and_frames_give_the_same() -> None:
    rows = make_answers(BANK, {"a": 0.5}, missing=0.2)
    plain = [row.model_dump() for row in rows]
    frame = pd.DataFrame(plain)[["item_id", "endpoint_id", "choice", "correct", "status"]]
    found = [collect(BANK, form, [endpoint("a")]).scores for form in (rows, plain, frame)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([answer(make_bank(1, 1, seed=9)[0], "a", 0)], "is not in table bank"),
        ([answer(BANK[0], "b", 0)], "is not in table endpoints"),
        ([answer(BANK[0], "a", 0), answer(BANK[0], "a", 1)], "two rows for item"),
    ],
)
def test_rows_that_fit_nothing_are_errors(rows: list[object], said: str) -> None:
    with pytest.raises(TableError, match=said):
        collect(BANK, rows, [endpoint("a")])


def test_a_frame_without_a_needed_column_says_which() -> None:
    with pytest.raises(TableError, match="'correct' is missing"):
        collect(BANK, pd.DataFrame({"item_id": [], "endpoint_id": [], "choice": []}), [endpoint("a")])
