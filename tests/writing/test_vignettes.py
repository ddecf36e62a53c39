"""Scenes come from the frame and add no finding."""

from __future__ import annotations

import pytest

from examgen.writing.options import two_by_two
from examgen.writing.slots import find_slots
from examgen.writing.vignettes import frame_kind, vignette
from tests.writing.sample import LEXICONS, clause


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("In MOGAD, lesions of the optic nerve are long and bilateral.", "disease"),
        ("In suspected multiple sclerosis, lesions of the nerve are short.", "group"),
        ("In children with MOGAD, lesions of the optic nerve are long.", "group"),
        ("In Alexander disease, lesions of the brain are frontal and symmetric.", "group"),
        ("In the 2017 McDonald criteria, dissemination in space requires lesions.", "criteria"),
        ("According to the 2021 MAGNIMS-CMSC-NAIMS recommendations, slices are thin.", "recommendation"),
        ("On FLAIR, lesions of the brain are hyperintense.", "imaging"),
        ("Lesions of the brain are hyperintense and ovoid.", "other"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert frame_kind(clause(text), LEXICONS) == kind


def test_a_vignette_ends_in_the_lead_in_and_names_the_condition() -> None:
    one = clause("In children with MOGAD, the lesions of the optic nerve are typically long and bilateral.")
    made = two_by_two(one, find_slots(one, LEXICONS), LEXICONS)[0]
    stem = vignette(made, LEXICONS, frozenset({"in"}))
    assert stem.endswith("the lesions of the optic nerve are typically:")
    assert "-year-old girl with MOGAD" in stem or "-year-old boy with MOGAD" in stem


def test_age_in_the_group_is_not_contradicted() -> None:
    one = clause("In children with MOGAD younger than 6 years, the lesions of the optic nerve are long and bilateral.")
    assert frame_kind(one, LEXICONS) == "other"
