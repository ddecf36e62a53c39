"""A statement is cut into frame, subject and verb only where that is certain."""

# ruff: noqa: E501 (sentences of the field are data and stand on one line)

from __future__ import annotations

import pytest

from examgen.evidence import Statement
from examgen.writing.clauses import cut_before, is_plural, read
from tests.writing.sample import LEXICONS, clause


def test_frame_subject_and_verb() -> None:
    found = clause(
        "In the 2017 McDonald criteria, dissemination in space requires lesions in at least two of four sites."
    )
    assert (found.frame, found.subject_text, found.verb_text, found.base) == (
        "In the 2017 McDonald criteria", "dissemination in space", "requires", "require",
    )  # fmt: skip
    assert not is_plural(found)


def test_the_verb_of_a_relative_clause_is_not_the_main_verb() -> None:
    found = clause("Lesions that extend over three segments and involve the conus are typical of MOGAD in adults.")
    assert found.verb_text == "are"
    assert found.frame == ""


def test_a_noun_that_looks_like_a_verb_is_passed_over() -> None:
    found = clause("In T2-weighted images, signal changes of the cord are hyperintense and central in most people.")
    assert found.verb_text == "are"


def test_criteria_may_count() -> None:
    found = clause(
        "In a patient with myelitis, the 2017 McDonald criteria count the cord lesion, whereas the 2010 criteria exclude it."
    )
    assert (found.verb_text, is_plural(found)) == ("count", True)


def test_no_clause_without_a_verb_that_is_known() -> None:
    text = "In MOGAD, long lesions of both nerves with swelling of the disc and of the sheath."
    assert read(Statement("s", 0, len(text), text, text), LEXICONS) is None


@pytest.mark.parametrize(
    ("text", "place", "head"),
    [
        ("In MS, a lesion affects a short segment of the optic nerve.", "short", "In MS, a lesion affects"),
        ("In MS, brain MRI is performed at a field strength of at least 1.5 T in adults.", "at least",
         "In MS, brain MRI is performed at a field strength of"),
        ("In MS, lesions of the cord are typically short and eccentric.", "short", "In MS, lesions of the cord are typically"),
        ("In MS, typical lesions are round to ovoid in shape.", "ovoid", "In MS, typical lesions are"),
    ],
)  # fmt: skip
def test_the_cut_falls_before_the_whole_phrase(text: str, place: str, head: str) -> None:
    found = clause(text)
    cut = cut_before(found, found.text.index(place), LEXICONS)
    assert found.text[:cut].strip() == head


def test_segments_end_at_joints() -> None:
    found = clause("In MOGAD, the lesion is anterior, whereas in NMOSD the lesion is posterior and long.")
    assert [found.text[a:b] for a, b in found.segments()] == [
        "is anterior",
        "in NMOSD the lesion is posterior and long",
    ]
