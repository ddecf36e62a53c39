"""The letter-only prompt, option orders, and the parser against its tables of cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examgen import ids
from examgen.answers import PARSER_VERSION, content_choice, orders_of, parse, pilot, prompt, shown_order
from examgen.answers.responses import letter_probabilities
from examgen.records import BankItem

OWN = Path(__file__).parent / "data" / "responses.jsonl"
SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "cases" / "tricky_responses.jsonl"


def cases(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def check(case: dict[str, Any]) -> None:
    reading = parse(
        case["raw"],
        case.get("letters", "ABCD"),
        options=case.get("options", ()),
        abstain=case.get("abstain", ""),
        finish_reason=case.get("finish", ""),
    )
    assert reading.letter == case["expected"], f"{case['why']}: {reading}"
    assert reading.rule
    if "status" in case:
        assert reading.status == case["status"]
    if reading.letter is None:
        assert reading.status not in ("parsed",)


@pytest.mark.parametrize("case", cases(OWN), ids=lambda case: case["why"][:40])
def test_own_cases(case: dict[str, Any]) -> None:
    check(case)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared cases are not beside the project")
def test_given_cases() -> None:
    given_cases = cases(SHARED)
    assert given_cases
    for case in given_cases:
        check(case)


def test_there_are_many_cases_and_none_twice() -> None:
    keys = [(case["raw"], case.get("letters"), case.get("finish"), str(case.get("options"))) for case in cases(OWN)]
    assert len(keys) >= 190
    assert len(set(keys)) == len(keys)


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_exception(raw: str) -> None:
    reading = parse(raw)
    assert reading.letter is None or reading.letter in "ABCD"


@pytest.mark.parametrize("letters", ["A", "ABCDEFGHIJK"])
def test_only_two_to_ten_options_are_read(letters: str) -> None:
    with pytest.raises(ValueError, match="2 to 10"):
        parse("A", letters)


@pytest.mark.parametrize("count", range(2, 11))
def test_every_letter_of_every_size_is_read(count: int) -> None:
    letters = "ABCDEFGHIJ"[:count]
    for letter in letters:
        for raw in (letter, f"({letter})", f"Answer: {letter}", f"The answer is {letter}.", f"**{letter}**"):
            assert parse(raw, letters).letter == letter, raw


def make_item(number: int = 0, options: int = 4, **more: Any) -> BankItem:
    texts = tuple(f"option {number} {word}" for word in ("one", "two", "three", "four", "five", "six")[:options])
    name = ids.item_id(f"stem {number}", texts, texts[0])
    fields: dict[str, Any] = {
        "item_id": name,
        "candidate_id": name,
        "topic_id": f"t{number % 3}",
        "topic": "T",
        "subtopic": "S",
        "stratum": "easy",
        "stem": f"stem {number}",
        "options": texts,
        "key": 0,
        "key_letter": "A",
        "explanation": "",
        "evidence": (),
        "writer": "test",
    }
    return BankItem.model_validate(fields | more)


def test_the_prompt_names_its_letters_and_shows_the_order() -> None:
    asked = prompt(make_item(options=5), order=2)
    text = asked.messages[-1][1]
    assert text.splitlines()[2] == "A. option 0 three"
    assert "A, B, C, D or E" in text
    assert asked.order == (2, 3, 4, 0, 1)
    assert asked.prompt_id.startswith("letter-only/")


def test_abstention_is_one_more_letter_and_examples_never_show_the_item_itself() -> None:
    item, other = make_item(0), make_item(1)
    asked = prompt(item, abstention=True, examples=[item, other])
    assert asked.letters == "ABCDE"
    assert asked.abstain == "E"
    assert [role for role, _ in asked.messages] == ["user", "assistant", "user"]
    assert "stem 0" not in prompt(item, no_stem=True).messages[-1][1]


@given(st.integers(2, 10), st.integers(0, 9))
def test_orders_are_rotations_and_map_back(options: int, order: int) -> None:
    shown = shown_order(options, order)
    assert sorted(shown) == list(range(options))
    assert [content_choice(place, options, order) for place in range(options)] == list(shown)


@given(st.integers(2, 10))
def test_over_all_orders_each_option_stands_once_in_each_place(options: int) -> None:
    columns = [[shown_order(options, order)[place] for order in orders_of(options, "all")] for place in range(options)]
    assert all(sorted(column) == list(range(options)) for column in columns)


def test_orders_never_exceed_the_options() -> None:
    assert orders_of(4, 1) == (0,)
    assert orders_of(3, 4) == (0, 1, 2)
    assert orders_of(5, "all") == (0, 1, 2, 3, 4)


def test_the_pilot_is_deterministic_and_reaches_small_strata() -> None:
    items = [
        make_item(n, semantic_parent=f"p{0 if n < 90 else n}", stratum=("easy", "hard")[n % 2]) for n in range(100)
    ]
    chosen = pilot(items, 20)
    assert chosen == pilot(list(reversed(items)), 20)
    assert len(set(chosen)) == 20
    parents = {item.semantic_parent for item in items if item.item_id in set(chosen)}
    assert len(parents) == 11
    assert pilot(items, 20, {item.item_id: n % 4 for n, item in enumerate(items)}) != chosen
    assert len(pilot(items, 1000)) == 100


def test_letter_likelihoods_come_back_in_the_banks_order() -> None:
    asked = prompt(make_item(), order=1)
    found = letter_probabilities([("A", -0.1), (" A", -3.0), ("D", -2.0), ("The", -1.0)], asked)
    assert found[1] == max(found)
    assert found[0] > 0
    assert sum(found) == pytest.approx(1.0)
    assert letter_probabilities([("The", -0.1)], asked) == ()


def test_the_parser_has_a_version() -> None:
    assert PARSER_VERSION
