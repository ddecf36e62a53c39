"""The corpus as a whole: statements read across passage borders, and options it supports elsewhere."""

from __future__ import annotations

from examgen.writing.facts import CorpusFacts, similarity, terms_of
from tests.writing.sample import FIRST, SECOND, chunks_of, corpus

FACTS = CorpusFacts.from_chunks(corpus())


def test_statements_are_whole_whatever_the_passages() -> None:
    for size, overlap in ((300, 50), (700, 100), (5000, 0)):
        facts = CorpusFacts.from_chunks([*chunks_of(FIRST, "a", size, overlap), *chunks_of(SECOND, "b", size, overlap)])
        assert {statement.text for statement in facts.statements} == {statement.text for statement in FACTS.statements}


def test_evidence_lies_in_the_passage() -> None:
    chunks = corpus()
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    found = FACTS.statements_in(chunks)
    assert found
    for statement, evidence in found:
        assert by_id[evidence.chunk_id].text[evidence.start : evidence.end] == evidence.quote == statement.quote
    assert FACTS.statements_in(chunks[:1]) != found


def test_terms_fold_numbers_and_plurals() -> None:
    assert terms_of("Two lesions of the optic nerves") == terms_of("2 lesion, optic nerve")


def test_an_option_that_another_sentence_states_is_supported() -> None:
    stem = "In the 2024 McDonald criteria, dissemination in space requires lesions in"
    assert FACTS.supports(stem, "at least two of five topographies", "five", "four")
    assert not FACTS.supports(stem, "at least two of six topographies", "six", "five")
    assert not FACTS.supports(stem.replace("2024", "2017"), "at least two of five topographies", "five", "four")


def test_similarity_is_between_nothing_and_all() -> None:
    one, two = terms_of("optic neuritis in MOGAD"), terms_of("spinal cord slices")
    assert similarity(one, one, FACTS) == 1.0
    assert similarity(one, two, FACTS) == 0.0
