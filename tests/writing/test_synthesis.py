"""Pairs join sentences of two sources on one subject, and never ask one fact twice."""

from __future__ import annotations

from dataclasses import replace

from examgen.writing.facts import CorpusFacts
from examgen.writing.options import Construction, one_slot
from examgen.writing.slots import find_slots
from examgen.writing.synthesis import pairs
from tests.writing.sample import LEXICONS, clause, corpus

FACTS = CorpusFacts.from_chunks(corpus())


def half(text: str, source: str) -> Construction:
    one = clause(text)
    one = replace(one, statement=replace(one.statement, source_id=source))
    return one_slot(one, find_slots(one, LEXICONS), LEXICONS)[0]


NMOSD = (
    "In AQP4-IgG-seropositive NMOSD, acute spinal cord lesions typically occupy the central grey matter of the cord."
)
MS = "In multiple sclerosis, acute spinal cord lesions typically span fewer than two segments of the cord."
DOSE = "In the MAGNIMS guideline, the standard dose of contrast for brain MRI is 0.1 mmol/kg in all adults."


def test_pairs_need_two_sources_and_a_common_subject() -> None:
    one, two, other = half(NMOSD, "a"), half(MS, "b"), half(DOSE, "c")
    everything = {part.clause.text for part in (one, two, other)}
    (pair,) = pairs([one, two, other], everything, FACTS)
    assert {pair.first, pair.second} == {one, two}
    assert list(pairs([one, half(MS, "a")], everything, FACTS)) == []
    assert list(pairs([one, two], set(), FACTS)) == []


def test_a_pair_asks_for_two_endings_in_order() -> None:
    (pair,) = pairs([half(NMOSD, "a"), half(MS, "b")], {NMOSD.rstrip(".")}, FACTS)
    stem = pair.stem()
    assert stem.endswith("Which pair of endings, in this order, makes both sentences correct?")
    options = dict(pair.options())
    assert len(set(options.values())) == 4
    assert options[0, 0] == f"{pair.first.render([0])}; {pair.second.render([0])}"


def test_one_fact_is_not_asked_twice() -> None:
    again = "In NMOSD of adults, acute spinal cord lesions mainly occupy the central grey matter over many segments."
    assert list(pairs([half(NMOSD, "a"), half(again, "b")], {NMOSD.rstrip("."), again.rstrip(".")}, FACTS)) == []
