"""Sentences keep their offsets whatever stands around them; only what stands alone is a statement."""

# ruff: noqa: E501 (sentences of the field are data and stand on one line)

from __future__ import annotations

import pytest

from examgen.evidence import chunk_span, locate, problem, sentences, statements, stitch
from tests.writing.sample import FIRST, chunks_of


def texts(text: str) -> list[str]:
    return [text[sentence.start : sentence.end] for sentence in sentences(text)]


def test_abbreviations_decimals_and_initials_do_not_end_a_sentence() -> None:
    text = "Slices are 1.5 mm thick, e.g. in FLAIR vs. T2, as J. Smith wrote. The dose is 0.1 mmol/kg. It is given i.v. once."
    assert texts(text) == [
        "Slices are 1.5 mm thick, e.g. in FLAIR vs. T2, as J. Smith wrote.",
        "The dose is 0.1 mmol/kg.",
        "It is given i.v. once.",
    ]


def test_a_sentence_may_end_in_an_abbreviation_of_the_field() -> None:
    assert texts("Lesions are typical of MS. The optic nerve is spared at 3 T. Both hold.") == [
        "Lesions are typical of MS.",
        "The optic nerve is spared at 3 T.",
        "Both hold.",
    ]


def test_headings_tables_code_and_markers_are_left_out() -> None:
    text = "# A heading\n\n- First item is whole.\n- Second item\n  goes on here.\n\n| a | b |\n|---|---|\n\n```\ncode. here.\n```\n\n1. Third one.\n"
    assert texts(text) == ["First item is whole.", "Second item\n  goes on here.", "Third one."]


def test_a_heading_without_markup_is_cut_off_before_wrapped_lines() -> None:
    text = "Field strength\nAccording to the guideline, brain images are acquired at a field strength\nof at least 1.5 T in adults."
    assert texts(text) == [
        "Field strength",
        "According to the guideline, brain images are acquired at a field strength\nof at least 1.5 T in adults.",
    ]


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("This sequence shows more lesions of the cortex than the other one does.", "leans"),
        ("In this case, the lesion of the optic nerve is longer than half its length.", "leans"),
        ("In MOGAD and NMOSD, lesions are anterior and posterior in the nerve, respectively.", "outside"),
        ("In MOGAD, lesions of the optic nerve (anterior are long and bilateral in most.", "bracket"),
        ("In MOGAD, lesions of the optic nerve were long and bilateral [12] in most people.", "citations"),
        ("Lesions are long.", "words"),
        ("in MOGAD, lesions of the optic nerve are long and bilateral in most people.", "start"),
        ("In MOGAD, lesions of the optic nerve are long and bilateral in most people", "full stop"),
    ],
)
def test_what_does_not_stand_alone_is_no_statement(sentence: str, why: str) -> None:
    assert why in problem(sentence)


def test_statements_quote_the_text_at_their_offsets() -> None:
    found = statements(FIRST, "id")
    assert len(found) == 6
    assert all(FIRST[one.start : one.end] == one.quote for one in found)


def test_stitched_passages_give_back_the_text_and_place_statements_in_passages() -> None:
    chunks = chunks_of(FIRST, "first.md", 400, 150)
    assert stitch(chunks) == FIRST
    found = statements(stitch(chunks), chunks[0].source_id)
    for statement in found:
        spans = [(chunk, chunk_span(statement, chunk)) for chunk in chunks]
        for chunk, span in spans:
            assert span is None or chunk.text[span[0] : span[1]] == statement.quote
    assert any(span for _, span in spans)


def test_a_gap_between_passages_is_blank() -> None:
    first, *_, last = chunks_of(FIRST, "first.md", 200, 50)
    text = stitch([last, first])
    assert text[: first.end] == first.text
    assert text[first.end : last.start].strip() == ""
    assert text[last.start : last.end] == last.text


def test_locate_tolerates_white_space_dashes_and_quote_marks() -> None:
    text = "The rule is\n  “40–60%” of  the lesions."
    assert locate("The rule is “40-60%” of the lesions.", text) == (0, len(text))
    assert locate('"40-60%"', text) == (14, 22)
    assert locate("50%", text) is None
    assert locate("  ", text) is None
