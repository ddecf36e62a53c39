"""The option-order pilot: by earlier disagreement where there is any, the same ones on a rerun."""

from __future__ import annotations

from pathlib import Path

from examgen.answers import disagreement
from tasks.evaluation_folder import use, write_evaluation
from tasks.pilot_sample import pilot_sample
from tasks.workplace import Workplace
from tests.panels import answer, endpoint
from tests.tasks.bank_folder import make_bank_folder


def test_disagreement_counts_first_answers_in_the_banks_order(tmp_path: Path) -> None:
    _, (item, other, *_) = make_bank_folder(tmp_path)
    rows = [answer(item, "a", 0), answer(item, "b", 2), answer(item, "c", None), answer(other, "a", 1)]
    rows += [answer(other, "a", 3, order=1), answer(other, "a", 3, repeat=1)]
    assert disagreement(rows) == {item.item_id: 2, other.item_id: 1}


def test_the_sample_is_drawn_once_and_says_by_what(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path, items=24)
    place = Workplace(tmp_path, "small")
    first, about = pilot_sample(place, folder, bank, 6)
    assert len(first) == 6
    assert "no earlier evaluation" in about

    split = {item.item_id for item in bank[::2]}
    rows = {
        name: [answer(item, name, number if item.item_id in split else 0) for item in bank]
        for number, name in enumerate(("a", "b", "c"))
    }
    endpoints = [endpoint("a"), endpoint("b"), endpoint("c", role="baseline")]
    evaluation = write_evaluation(place, rows, endpoints, {"bank": folder.name})
    use(place, evaluation, folder)
    assert pilot_sample(place, folder, bank, 6) == (first, about), "a rerun asks the same items"
    drawn, why = pilot_sample(place, folder, bank, 5)
    assert len(drawn) == 5
    assert f"disagreement in evaluation {evaluation.name} (24 of 24 items known)" in why
