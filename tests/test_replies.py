"""What models really return, and what is made of it without a call."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examgen.replies import in_language, recover, renamed

GOOD = '{"stem": "Which site?", "distractors": ["a", "b", "c"]}'


@pytest.mark.parametrize(
    ("raw", "step"),
    [
        (GOOD, ""),
        (f"Sure! Here is the item:\n{GOOD}\nI hope this helps.", "prose removed"),
        (f"```json\n{GOOD}\n```", "fence removed"),
        (f"Here:\n```\n{GOOD}\n```\nDone.", "fence removed"),
        (f"<think>I need {{a}} item.</think>\n{GOOD}", "reasoning removed"),
        (f"so maybe {{x}}</think>{GOOD}", "reasoning removed"),
        ('{"stem": "Which site?", "distractors": ["a", "b", "c",],}', "trailing commas removed"),
        (f"[{GOOD}]", ""),
        (f'{{"items": [{GOOD}]}}', ""),
        (f'{{"question": {GOOD}}}', ""),
        ("{'stem': 'Which site?', 'distractors': ['a', 'b', 'c']}", "quote marks mended"),
        ('{stem: "Which site?", distractors: ["a", "b", "c"]}', "bare names quoted"),
        ('{"stem": "Which site?"\n "distractors": ["a", "b", "c"]}', "commas added"),
        ("{“stem”: “Which site?”, “distractors”: [“a”, “b”, “c”]}", "quote marks mended"),
        ('{"stem": "Which site?", // the stem\n"distractors": ["a", "b", "c"]}', "comments and literals mended"),
        (GOOD[:-1], "closed after truncation"),
    ],
)
def test_recoverable(raw: str, step: str) -> None:
    found = recover(raw)
    assert not found.problem
    assert dict(found.items[0]) == json.loads(GOOD)
    assert not step or step in found.steps


def test_a_line_break_inside_a_string_is_kept() -> None:
    found = recover('{"stem": "Which\nsite?"}')
    assert found.items[0]["stem"] == "Which\nsite?"
    assert found.steps


@pytest.mark.parametrize(
    "raw",
    ["", "  ", "I cannot do that.", "<think>{", '<think>the item could be {"stem": "x"}', "{", "[]", "null", "42"],
)
def test_unrecoverable_says_why(raw: str) -> None:
    found = recover(raw)
    assert found.items == ()
    assert found.problem


def test_truncation_keeps_what_was_whole() -> None:
    found = recover('{"stem": "Which site?", "correct_answer": "Cortex", "distractors": ["one", "tw')
    assert found.items[0]["correct_answer"] == "Cortex"
    assert found.items[0]["distractors"] == ["one"]
    assert "closed after truncation" in found.steps


def test_truncated_list_keeps_whole_objects() -> None:
    found = recover(f'[{GOOD}, {GOOD}, {{"stem": "Whi')
    assert list(found.items)[:2] == [json.loads(GOOD)] * 2


@given(st.text(max_size=400))
def test_no_text_raises(raw: str) -> None:
    recover(raw)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_valid_json_objects_are_taken_as_they_are(value: object) -> None:
    wrapped = {"stem": value, "other": 1}
    found = recover(json.dumps(wrapped))
    assert found.items == (wrapped,)
    assert found.steps == ()


def test_other_names() -> None:
    fields, steps = renamed(
        {"Question Text": "Q", "correctAnswer": "A", "unknown": 1},
        {"stem": ("question_text",), "correct_answer": ("answer",)},
    )
    assert fields == {"stem": "Q", "correct_answer": "A"}
    assert steps == ["question_text read as stem"]


def test_languages() -> None:
    assert in_language("Which of the following sites is typical of the disease in this patient?", "en")
    assert not in_language(
        "Welche der folgenden Lokalisationen ist typisch für die Erkrankung bei dieser Patientin?", "en"
    )
    assert not in_language("以下哪个部位是多发性硬化的典型部位", "en")
    assert in_language("Welche der folgenden Lokalisationen ist typisch?", "de")
