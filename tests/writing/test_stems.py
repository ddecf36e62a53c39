"""Lead-ins ask one thing: a question where one can be built, else a sentence that stops before its ending."""

# ruff: noqa: E501 (sentences of the field are data and stand on one line)

from __future__ import annotations

import pytest

from examgen.writing.options import two_by_two
from examgen.writing.slots import find_slots
from examgen.writing.stems import lead_in
from tests.writing.sample import LEXICONS, clause


@pytest.mark.parametrize(
    ("text", "stem"),
    [
        ("In the 2017 McDonald criteria, dissemination in space requires lesions in at least two of four sites.",
         "In the 2017 McDonald criteria, dissemination in space requires lesions in:"),
        ("In the 2017 McDonald criteria, dissemination in space requires at least two of four sites.",
         "In the 2017 McDonald criteria, what does dissemination in space require?"),
        ("In the MAGNIMS guideline, the recommended dose is 0.1 mmol/kg with a delay of at least 5 minutes.",
         "In the MAGNIMS guideline, what is the recommended dose?"),
        ("In MOGAD, the lesions of the optic nerve are typically long and bilateral in adults.",
         "In MOGAD, the lesions of the optic nerve are typically:"),
    ],
)  # fmt: skip
def test_lead_in(text: str, stem: str) -> None:
    one = clause(text)
    made = two_by_two(one, find_slots(one, LEXICONS), LEXICONS)[0]
    asked = lead_in(made, LEXICONS)
    assert asked == stem


def test_no_question_over_a_first_predicate() -> None:
    one = clause(
        "In adults, axial images increase confidence in small lesions and show a peripheral lesion with a short segment."
    )
    for made in two_by_two(one, find_slots(one, LEXICONS), LEXICONS):
        assert not lead_in(made, LEXICONS).endswith("?")
