"""Numbers change by enough to be wrong, keep their grammar, and only where a rule fixes them."""

# ruff: noqa: E501 (sentences of the field are data and stand on one line)

from __future__ import annotations

import itertools

import pytest

from examgen.writing.numbers import number_of, spelled
from examgen.writing.quantities import quantity_slots
from tests.writing.sample import LEXICONS, clause


def found(text: str) -> list[tuple[str, tuple[str, ...]]]:
    one = clause(text)
    return [(one.text[q.start : q.end], tuple(sorted(q.alternatives))) for q in quantity_slots(one, LEXICONS)]


def test_thresholds_of_a_rule_move_by_a_clear_factor() -> None:
    ((surface, others),) = found("In the 2017 McDonald criteria, a lesion measures at least 3 mm in long axis.")
    assert surface == "at least 3 mm"
    assert set(others) == {"at least 1 mm", "at least 5 mm"}


def test_units_agree_with_their_number() -> None:
    ((_, others),) = found(
        "In the MAGNIMS guideline, a follow-up scan is required after at least 3 months of treatment."
    )
    assert "at least 1 month" in others


def test_a_count_never_exceeds_its_total() -> None:
    for x, y in ((1, 2), (2, 3), (3, 4), (4, 5)):
        words = ("zero", "one", "two", "three", "four", "five")
        text = f"In the McDonald criteria, dissemination in space requires lesions in at least {words[x]} of {words[y]} sites."
        one = clause(text)
        count, *total = quantity_slots(one, LEXICONS)
        for value in (*count.alternatives, *count.scale):
            assert 1 <= number_of(value) <= y
        for quantity in total:
            assert all(number_of(value) > x for value in quantity.alternatives)


def test_a_member_of_a_list_is_not_counted_anew() -> None:
    assert [
        surface for surface, _ in found("In the McDonald criteria, the spinal cord is one of four sites in all people.")
    ] == ["four"]


def test_one_becomes_more_with_its_noun() -> None:
    (first, *_) = found(
        "In the McDonald criteria, dissemination in space requires at least one T2-weighted lesion in the brain."
    )
    assert first == (
        "at least one T2-weighted lesion",
        ("at least three T2-weighted lesions", "at least two T2-weighted lesions"),
    )


def test_observed_bounds_are_contradicted_by_the_opposite_bound() -> None:
    assert found("In optic neuritis, enhancement is present in more than 90% of patients at onset.") == [
        ("more than 90%", ("fewer than 50%",))
    ]
    assert found("In optic neuritis, enhancement is absent in more than 20% of patients at onset.") == []


@pytest.mark.parametrize(
    "text",
    [
        "In the McDonald criteria, slices of 1 mm × 1 mm are recommended for the brain in adults.",
        "In older people, lesions were described in 2016 and appear in 3D images at onset.",
        "In older people, NMOSD starts after the age of 50 years more often than MS does.",
    ],
)
def test_numbers_that_cannot_be_changed_safely(text: str) -> None:
    assert found(text) == []


def test_ranges_do_not_touch() -> None:
    one = clause(
        "In the MAGNIMS guideline, the new baseline scan is obtained 3 to 6 months after the start of treatment."
    )
    (quantity,) = quantity_slots(one, LEXICONS)
    spans = sorted(
        (int(low), int(high)) for low, high in (text.split(" months")[0].split(" to ") for text in quantity.scale)
    )
    assert (3, 6) in spans
    assert all(first[1] < second[0] for first, second in itertools.pairwise(spans))


def test_spelling() -> None:
    assert [spelled(value, like) for value, like in ((2, "three"), (14, "three"), (0.05, "0.1"), (2, "3"))] == [
        "two",
        "14",
        "0.05",
        "2",
    ]
