"""An explanation states the fact and names the wrong details, without letters."""

# ruff: noqa: E501 (sentences of the field are data and stand on one line)

from __future__ import annotations

from examgen.writing.explanations import explanation
from examgen.writing.options import four_values, two_by_two
from examgen.writing.slots import find_slots
from tests.writing.sample import LEXICONS, clause


def test_two_details() -> None:
    one = clause(
        "In NMOSD, cord lesions typically extend over three or more segments and occupy the central grey matter."
    )
    made = two_by_two(one, find_slots(one, LEXICONS), LEXICONS)[0]
    assert explanation([made]) == (
        "In NMOSD, cord lesions typically extend over three or more segments and occupy the central grey matter. "
        "The correct details are “three or more” and not “one or two”, and “central grey matter” and not “peripheral white matter”."
    )


def test_four_values() -> None:
    one = clause("In the MAGNIMS guideline, a follow-up scan is obtained 12 months after the start of treatment.")
    made = four_values(one, find_slots(one, LEXICONS), LEXICONS)[0]
    text = explanation([made])
    assert "The correct detail is “12 months” and not “" in text
    assert text.count("“") == 4
