"""The writer end to end on two small documents: sound items, exact evidence, the same in every run."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from examgen.records import STRATA, Candidate, Stratum, Topic
from examgen.writing.facts import CorpusFacts
from examgen.writing.rules import WRITER, permitted, write
from tests.writing.sample import LEXICONS, corpus

CHUNKS = corpus()
FACTS = CorpusFacts.from_chunks(CHUNKS)
TOPICS = [
    Topic(topic_id="t1", topic="Optic nerve", subtopic="Optic neuritis lesions in MOGAD and NMOSD"),
    Topic(topic_id="t2", topic="Spinal cord", subtopic="Spinal cord lesions in MOGAD and NMOSD"),
    Topic(topic_id="t3", topic="Criteria", subtopic="Dissemination in space in the McDonald criteria"),
    Topic(topic_id="t4", topic="Protocol", subtopic="Standard contrast dose and slices of the 2021 recommendations"),
]


def items(stratum: Stratum, wanted: int = 9, attempt: int = 1) -> list[Candidate]:
    return [one for topic in TOPICS for one in write(topic, stratum, wanted, CHUNKS, FACTS, LEXICONS, "batch", attempt)]


@pytest.mark.parametrize("stratum", STRATA)
def test_items_are_sound(stratum: Stratum) -> None:
    found = items(stratum)
    assert found, stratum
    by_id = {chunk.chunk_id: chunk for chunk in CHUNKS}
    for item in found:
        assert len({option.casefold() for option in item.options}) == 4
        assert item.stem[-1] in ":?"
        assert item.writer == WRITER
        assert not any(option.endswith((".", ",")) for option in item.options)
        for evidence in item.evidence:
            assert by_id[evidence.chunk_id].text[evidence.start : evidence.end] == evidence.quote
        folded = " ".join(" ".join(evidence.quote.split()) for evidence in item.evidence)
        assert item.explanation.split(" The correct detail")[0].rstrip(".") in folded.rstrip(".")
        assert json.loads(item.raw)["writer"] == WRITER
    assert len({item.candidate_id for item in found}) == len(found)


def test_strata_keep_their_lengths_and_sources() -> None:
    for item in items("hard"):
        assert len(item.stem.split()) >= 18
        assert all(8 <= len(option.split()) <= 60 for option in item.options)
    for item in items("synthesis"):
        assert len({evidence.source_id for evidence in item.evidence}) == 2
        assert len(item.stem.split()) >= 35
        words = [len(option.split()) for option in item.options]
        assert all(14 <= count <= 70 for count in words)
        assert not (words[item.key] == max(words) and words.count(max(words)) == 1)


def test_a_fact_serves_one_plain_stratum() -> None:
    for statement in FACTS.statements:
        assert set(permitted(statement)) in ({"easy", "hard"}, {"medium", "hard"})
    used = Counter(item.evidence[0].quote for stratum in ("easy", "medium") for item in items(stratum))
    repeated = [quote for quote, count in used.items() if count > len(TOPICS)]
    assert not repeated


def test_the_same_call_gives_the_same_items_and_a_later_attempt_gives_others() -> None:
    assert items("hard") == items("hard")
    for topic in TOPICS:
        first, second = (write(topic, "hard", 1, CHUNKS, FACTS, LEXICONS, "batch", attempt) for attempt in (1, 2))
        assert first
        assert not {item.item_id for item in first} & {item.item_id for item in second}


def test_a_false_option_that_the_corpus_states_is_not_written() -> None:
    for item in (*items("easy"), *items("medium"), *items("hard")):
        if "2017 McDonald" in item.stem and "space" in item.stem:
            assert item.key_text.endswith("two of four sites")


def test_a_subtopic_without_fitting_statements_yields_nothing() -> None:
    nothing = Topic(topic_id="t9", topic="Cooking", subtopic="Boiling of potatoes")
    assert [write(nothing, stratum, 3, CHUNKS, FACTS, LEXICONS, "batch") for stratum in STRATA] == [[], [], [], []]
