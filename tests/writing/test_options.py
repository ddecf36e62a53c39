"""Options cross two details, or vary one fourfold, without a false option that could be true."""

# ruff: noqa: E501 (sentences of the field are data and stand on one line)

from __future__ import annotations

from examgen.writing.options import at_verb, four_values, one_slot, two_by_two
from examgen.writing.slots import find_slots
from tests.writing.sample import LEXICONS, clause


def crossed(text: str) -> list[list[str]]:
    one = clause(text)
    return [[option for _, option in made.options()] for made in two_by_two(one, find_slots(one, LEXICONS), LEXICONS)]


def test_two_by_two_has_the_key_first_and_every_value_twice() -> None:
    (options,) = crossed(
        "In NMOSD, cord lesions typically extend over three or more segments and occupy the central grey matter."
    )
    assert options == [
        "three or more segments and occupy the central grey matter",
        "three or more segments and occupy the peripheral white matter",
        "one or two segments and occupy the central grey matter",
        "one or two segments and occupy the peripheral white matter",
    ]


def test_both_sides_of_a_contrast_are_joined_by_and() -> None:
    (options,) = crossed(
        "In MOGAD, the optic nerve lesion is anterior and intraorbital, whereas in NMOSD the lesion is posterior and intracranial."
    )
    assert options[0] == "anterior and intraorbital, and in NMOSD the lesion is posterior and intracranial"
    assert all("whereas" not in option for option in options)


def test_no_crossing_with_what_something_is_compared_with() -> None:
    assert crossed("In MS, 3D FLAIR shows more lesions than short T2-weighted images do in adults.") == []


def test_no_crossing_of_a_cause_with_its_effect() -> None:
    assert (
        crossed("In the MAGNIMS guideline, contrast is not recommended because new lesions are rare in most adults.")
        == []
    )


def test_articles_follow_the_word() -> None:
    one = clause(
        "In the MAGNIMS guideline, SWI is an optional sequence that improves the detection of the central vein."
    )
    made = two_by_two(one, find_slots(one, LEXICONS), LEXICONS)[0]
    options = [text for _, text in made.options()]
    assert options[0].startswith("an optional sequence")
    assert all(text.startswith(("an optional", "a mandatory")) for text in options)


def test_four_values_hold_the_original_once() -> None:
    one = clause("In the MAGNIMS guideline, a follow-up scan is obtained 12 months after the start of treatment.")
    (made,) = four_values(one, find_slots(one, LEXICONS), LEXICONS)
    options = [text for _, text in made.options()]
    assert len(set(options)) == 4
    assert options[0] == "12 months after the start of treatment"


def test_halves_and_longer_endings() -> None:
    one = clause("In paediatric MOGAD, optic neuritis affects a long segment of the optic nerve, in contrast to MS.")
    (half,) = one_slot(one, find_slots(one, LEXICONS), LEXICONS)
    assert half.render([0]) == "a long segment of the optic nerve"
    assert at_verb(half).render([1]) == "affects a short segment of the optic nerve"
