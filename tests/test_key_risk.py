"""Key-risk queues against plain counting, and on a bank whose wrong keys people marked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from examgen.difficulty import misses
from examgen.key_risk import MAJORITY, STRICT, key_risk_rows, majority_queue, queues, removal_rows, strict_queue, votes
from examgen.records import BankItem, EndpointRow
from examgen.scores import Answers, collect
from tests.panels import PANEL, answer, endpoint, make_answers, make_bank, make_item
from tests.redux import redux_bank, redux_rows

SHARED = Path(__file__).resolve().parents[1].parent / "shared"
BANK = make_bank()
ENDPOINTS = [endpoint(name, family=f"family {n % 5}") for n, name in enumerate(PANEL)]


def test_votes_equal_counting() -> None:
    random = np.random.default_rng(3)
    choices, keys = random.integers(-1, 4, size=(200, 7)), random.integers(0, 4, size=200)
    option, most = votes(choices, keys, 4)
    for row, key, found, count in zip(choices, keys, option, most, strict=True):
        tally = Counter(int(x) for x in row if x not in (-1, key))
        assert count == max(tally.values(), default=0)
        assert found == -1 if not tally else tally[int(found)] == count


def test_a_majority_must_agree_on_one_option() -> None:
    item = make_item(0, "topic", ["a 0", "b 1", "c 2", "d 3"], 0)
    agree = [answer(item, name, 1) for name in list(PANEL)[:4]] + [answer(item, name, 0) for name in list(PANEL)[4:]]
    split = [answer(item, name, 1 + n % 3) for n, name in enumerate(PANEL)]
    assert majority_queue(collect([item], agree, ENDPOINTS))[0].tolist() == [True]
    assert majority_queue(collect([item], split, ENDPOINTS))[0].tolist() == [False]


def test_a_family_votes_once_and_an_unread_answer_is_no_vote() -> None:
    item = make_item(0, "topic", ["a 0", "b 1", "c 2", "d 3"], 0)
    names = list(PANEL)
    all_same = [answer(item, name, 2) for name in names]
    assert strict_queue(collect([item], all_same, ENDPOINTS))[0].tolist() == [True]
    silent = [answer(item, name, None if n in (2,) else 2) for n, name in enumerate(names)]
    assert strict_queue(collect([item], silent, ENDPOINTS))[0].tolist() == [False]


def test_removing_a_queue_never_lowers_the_panel() -> None:
    found = collect(BANK, make_answers(BANK, dict.fromkeys(PANEL, 0.3), seed=8), ENDPOINTS)
    inside = queues(found)[MAJORITY][0]
    assert inside.any()
    rows = [row for row in removal_rows(found) if row["level"] == MAJORITY]
    assert np.mean([row["value"] for row in rows]) > 0
    listed = [row for row in key_risk_rows(found) if row["queue"] == MAJORITY]
    assert len(listed) == inside.sum()
    assert all(row["chosen_text"] != row["key_text"] and row["quotes"] for row in listed)


def test_a_small_panel_has_no_queue_but_says_why() -> None:
    found = collect(BANK, make_answers(BANK, {"model-0": 0.3}), ENDPOINTS[:1])
    assert key_risk_rows(found) == []
    rows = removal_rows(found)
    assert {row["level"] for row in rows} == {MAJORITY, STRICT}
    assert all(row["value"] is None and "at least 5" in row["note"] for row in rows)


@pytest.fixture(scope="module")
def redux() -> tuple[Answers, np.ndarray]:
    rows = redux_rows()
    models = list(rows[0])[6:]
    bank = redux_bank(rows)
    answers = [
        _answer(item, model, "ABCD".index(letter) if (letter := row[model].strip().upper()) in set("ABCD") else None)
        for item, row in zip(bank, rows, strict=True)
        for model in models
    ]
    return collect(bank, answers, [_model(name) for name in models]), np.array([r["error_type"] for r in rows])


def _model(name: str) -> EndpointRow:
    return endpoint(name, family=name.split("_")[0])


def _answer(item: BankItem, model: str, choice: int | None) -> dict[str, object]:
    return {
        "item_id": item.item_id, "endpoint_id": model, "choice": choice, "order": 0, "repeat": 0, "mode": "letter",
        "status": "parsed" if choice is not None else "unparseable",
        "correct": None if choice is None else choice == item.key,
    }  # fmt: skip


def test_misses_find_nine_in_ten_wrong_keys(redux: tuple[Answers, np.ndarray]) -> None:
    answers, errors = redux
    flagged = misses(answers.scores)[0] >= 4
    wrong, sound = errors == "wrong_groundtruth", errors == "ok"
    assert wrong.sum() == 107
    assert flagged[wrong].mean() == pytest.approx(0.90, abs=0.02)
    assert flagged[sound].mean() == pytest.approx(0.22, abs=0.015)


def test_queues_of_mmlu_redux(redux: tuple[Answers, np.ndarray]) -> None:
    answers, errors = redux
    wrong = errors == "wrong_groundtruth"
    majority = majority_queue(answers)[0]
    assert (majority.sum(), round(float(wrong[majority].mean()), 3)) == (547, 0.141)
    five = [
        "anthropic_claude-3-5-sonnet-20240620", "meta_llama-3.1-405b-instruct-turbo", "openai_gpt-4o-2024-05-13",
        "qwen_qwen2.5-72b-instruct-turbo", "google_gemini-1.5-pro-001",
    ]
    alone = replace(answers, endpoints=tuple(endpoint(name, family=name) for name in answers.names))
    strict = strict_queue(alone, five)[0]
    assert (strict.sum(), round(float(wrong[strict].mean()), 3)) == (191, 0.304)
    assert wrong[strict].sum() / wrong.sum() == pytest.approx(0.542, abs=0.001)
