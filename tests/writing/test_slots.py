"""Slots are asserted details with values that make the sentence false, and only those."""

from __future__ import annotations

import pytest

from examgen.writing.slots import find_slots
from tests.writing.sample import LEXICONS, clause


def surfaces(text: str) -> list[str]:
    return [slot.surface for slot in find_slots(clause(text), LEXICONS)]


def test_contraries_and_bounds() -> None:
    slots = find_slots(
        clause(
            "In NMOSD, cord lesions typically extend over three or more segments and occupy the central grey matter."
        ),
        LEXICONS,
    )
    assert [(slot.surface, slot.alternatives) for slot in slots] == [
        ("three or more", ("one or two",)),
        ("central grey matter", ("peripheral white matter",)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "In MOGAD, lesions of the optic nerve may be bilateral in children and adults.",
        "In MOGAD, lesions of the optic nerve are often bilateral in children and adults.",
        "In MS, lesions of the optic nerve are not bilateral in children and adults.",
        "In MS, features of a lesion such as a long segment are seen in adults.",
        "In MS, lesions of the cord are short or long in adults with attacks.",
        "In MS, the dissemination in time is no longer asked for in adults.",
        "In MS, children are present with attacks of the brainstem and cerebellum.",
    ],
)
def test_hedged_denied_and_alternative_details_are_no_slots(text: str) -> None:
    assert surfaces(text) == []


def test_names_are_protected() -> None:
    assert (
        surfaces("In MS, the central vein and white matter lesions of multiple sclerosis are seen best in adults.")
        == []
    )


def test_a_detail_of_another_subject_is_no_slot() -> None:
    text = "In PML, the border is ill-defined, whereas the border of an acute lesion is sharp in adults."
    assert surfaces(text) == ["ill-defined", "sharp"]


def test_siblings_need_a_cue_and_are_not_kin() -> None:
    slots = find_slots(clause("In suspected MS, symmetric temporal pole lesions are a red flag for CADASIL."), LEXICONS)
    (slot,) = slots
    assert slot.surface == "CADASIL"
    assert not {"migraine", "small vessel disease"} & set(slot.alternatives)
    assert slot.four
    assert surfaces("In suspected MS, lesions of both temporal poles were seen in people who had CADASIL.") == []


def test_preference_is_exchanged_as_a_whole() -> None:
    slots = find_slots(
        clause("In optic neuritis, enhancement of the sheath points to MOGAD rather than to multiple sclerosis."),
        LEXICONS,
    )
    assert [slot.alternatives for slot in slots] == [("multiple sclerosis rather than to MOGAD",)]
