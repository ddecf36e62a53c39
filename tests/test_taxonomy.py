from __future__ import annotations

import numpy as np
import pytest

from examgen import taxonomy
from examgen.errors import StudyError
from examgen.ids import chunk_id, content_hash
from examgen.records import Chunk, Retrieval
from examgen.study import Concept, Seed
from examgen.study import Taxonomy as Settings


def passage(source: str, ordinal: int, text: str, heading: str = "") -> Chunk:
    start = 100 * ordinal
    return Chunk(
        chunk_id=chunk_id(source, start, text),
        content_hash=content_hash(text),
        source_id=source,
        path=f"{source}.md",
        start=start,
        end=start + len(text),
        ordinal=ordinal,
        heading=heading,
        text=text,
    )


PASSAGES = [
    passage("a", 0, "The optic nerve lesion enhances.", "Optic nerve imaging > Acute lesions"),
    passage("a", 1, "Fat suppression is used in the orbit.", "Optic nerve imaging > Orbit protocol"),
    passage("b", 0, "Cord lesions are short.", "Spinal cord imaging > Lesion length"),
    passage("b", 1, "Sagittal sequences are two.", "Spinal cord imaging > Introduction"),
    passage("c", 0, "Natalizumab surveillance of progressive disease. Natalizumab surveillance is frequent.", ""),
]
ANGLES = [0.0, 0.1, 1.5, 1.6, 1.2]
VECTORS = {
    chunk.chunk_id: np.array([np.cos(angle), np.sin(angle)]) for chunk, angle in zip(PASSAGES, ANGLES, strict=True)
}
SEEDS = [Seed(query="optic nerve"), Seed(query="spinal cord")]


def found(seed: str, chunks: list[Chunk]) -> list[Retrieval]:
    return [
        Retrieval(
            query_id=seed,
            purpose="seed",
            query=seed,
            rank=rank,
            chunk_id=c.chunk_id,
            source_id=c.source_id,
            distance=0.1,
        )
        for rank, c in enumerate(chunks)
    ]


RETRIEVED = [*found("optic nerve", PASSAGES[:2] + PASSAGES[4:]), *found("spinal cord", PASSAGES[2:4] + PASSAGES[:1])]


def test_headings_become_topics_and_subtopics() -> None:
    topics = taxonomy.build(SEEDS, RETRIEVED, PASSAGES, VECTORS, Settings(), cap=60)
    labels = {(topic.topic, topic.subtopic) for topic in topics}
    assert ("Optic nerve imaging", "Acute lesions") in labels
    assert ("Spinal cord imaging", "Lesion length") in labels
    assert not any("Introduction" in (t.topic, t.subtopic) for t in topics)
    assert sorted(chunk for topic in topics for chunk in topic.chunk_ids) == sorted(c.chunk_id for c in PASSAGES)


def test_a_lone_passage_joins_its_neighbour_and_the_cap_holds() -> None:
    topics = taxonomy.build(SEEDS, RETRIEVED, PASSAGES, VECTORS, Settings(), cap=60)
    assert {topic.topic for topic in topics} == {"Optic nerve imaging", "Spinal cord imaging"}
    few = taxonomy.build(SEEDS, RETRIEVED, PASSAGES, VECTORS, Settings(), cap=2)
    assert {topic.topic for topic in few} == {PASSAGES[0].heading.split(" > ")[0], "Spinal cord imaging"}
    bounded = taxonomy.build(SEEDS, RETRIEVED, PASSAGES, VECTORS, Settings(topics_at_most=1), cap=60)
    assert len({topic.topic for topic in bounded}) == 1


def test_ids_do_not_depend_on_the_order_of_retrieval() -> None:
    one = taxonomy.build(SEEDS, RETRIEVED, PASSAGES, VECTORS, Settings(), cap=60)
    two = taxonomy.build(SEEDS, RETRIEVED[::-1], PASSAGES[::-1], VECTORS, Settings(), cap=60)
    assert [topic.topic_id for topic in one] == [topic.topic_id for topic in two]


def test_coverage_names_what_is_missing() -> None:
    topics = taxonomy.build(SEEDS, RETRIEVED, PASSAGES, VECTORS, Settings(), cap=60)
    concepts = [Concept(concept="Cord lesions"), Concept(concept="PML", terms=("natalizumab", "JC virus"))]
    everything = [chunk.chunk_id for chunk in PASSAGES]
    near = {taxonomy.concept_query(concept): everything for concept in concepts}
    first, second = taxonomy.cover(concepts, topics, PASSAGES, near)
    assert first.covered
    assert first.topic == "Spinal cord imaging"
    assert first.score == 1.0
    assert not second.covered
    assert "no document contains: jc" in second.reason
    assert second.score == pytest.approx(1 / 3)


def test_words_in_a_passage_about_something_else_cover_nothing() -> None:
    """The concept's own document has no place in the taxonomy; another's passage holds both words by chance."""
    own = passage("d", 0, "Treatment response is scored after a year.", "Treatment response > Scores")
    chance = passage("b", 2, "Treatment of attacks: lesions vanish in response.", "Spinal cord imaging > Lesion length")
    corpus = [*PASSAGES, own, chance]
    topics = taxonomy.build(SEEDS, RETRIEVED, PASSAGES, VECTORS, Settings(), cap=60)
    topics = [t.model_copy(update={"passages": (*t.chunk_ids, chance.chunk_id)}) for t in topics]
    concept = Concept(concept="Treatment response")
    (row,) = taxonomy.cover([concept], topics, corpus, {"Treatment response": [own.chunk_id]})
    assert not row.covered
    assert row.reason == "its passages are in no subtopic (d.md): add a seed for it"
    assert taxonomy.unplaced(topics, corpus) == ["d.md"]
    (row,) = taxonomy.cover([concept], topics, corpus, {"Treatment response": [own.chunk_id, chance.chunk_id]})
    assert row.covered, "among the passages nearest to it in meaning, it counts"


def test_a_covered_concept_may_have_no_item() -> None:
    topics = taxonomy.build(SEEDS, RETRIEVED, PASSAGES, VECTORS, Settings(), cap=60)
    concepts = [Concept(concept="Cord lesions"), Concept(concept="Optic nerve"), Concept(concept="Pregnancy")]
    rows = taxonomy.cover(concepts, topics, PASSAGES, {})
    assert [row.items for row in rows] == [None, None, None]
    counted = taxonomy.with_items(rows, [rows[0].topic_id, rows[0].topic_id])
    assert [(row.covered, row.items) for row in counted] == [(True, 2), (True, 0), (False, None)]


def test_a_taxonomy_by_hand_is_used_as_given() -> None:
    topics = taxonomy.build(SEEDS, RETRIEVED, PASSAGES, VECTORS, Settings(), cap=60)
    again = taxonomy.from_yaml(taxonomy.to_yaml(topics), "t.yaml")
    assert [(t.topic_id, t.chunk_ids) for t in again] == [(t.topic_id, t.chunk_ids) for t in topics]
    for wrong in ("[", "[]", "- {topic: a}", "- {topic: a, subtopics: [3]}"):
        with pytest.raises(StudyError, match=r"t\.yaml"):
            taxonomy.from_yaml(wrong, "t.yaml")


def test_a_passage_is_written_from_once() -> None:
    topics = taxonomy.build(SEEDS, RETRIEVED, PASSAGES, VECTORS, Settings(), cap=3)
    rows = [
        Retrieval(
            query_id=t.topic_id,
            purpose="subtopic",
            query="",
            rank=n,
            chunk_id=c.chunk_id,
            source_id=c.source_id,
            distance=0.1 * n,
        )
        for t in topics
        for n, c in enumerate(PASSAGES)
    ]
    shared = taxonomy.share_out(topics, rows, focused=2)
    given = [chunk_id for topic in shared for chunk_id in topic.passages]
    assert len(given) == len(set(given))
    assert all(set(topic.chunk_ids) <= set(topic.passages) for topic in shared)
    assert all(len(topic.passages) <= len(topic.chunk_ids) + 2 for topic in shared)
