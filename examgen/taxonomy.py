"""The taxonomy: topics and subtopics found in the passages that the seed queries brought, and what they cover."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import yaml

from examgen.errors import StudyError
from examgen.ids import normalised, topic_id
from examgen.phrases import content_words, key_phrase
from examgen.records import Chunk, Coverage, Retrieval, Topic
from examgen.study import Concept, Seed
from examgen.study import Taxonomy as TaxonomySettings

Vectors = Mapping[str, np.ndarray]
"""Unit vectors by chunk id, shape (d,)."""

MERGE_COSINE = 0.8
"""A topic with a single subtopic joins the nearest topic when their mean vectors are at least this close."""

# fmt: off
GENERIC = frozenset((
    "abstract", "acknowledgements", "appendix", "background", "conclusion", "conclusions", "contents",
    "discussion", "introduction", "key", "points", "learning", "objectives", "limitations", "methods", "notes",
    "overview", "references", "results", "summary", "supplementary", "questions", "further", "reading",
    "prerequisites", "setup",
))
# fmt: on
"""Headings made only of these words say where a text is, not what it is about."""


def distinct_passages(retrieved: Sequence[Retrieval], cap: int) -> list[Retrieval]:
    """The passages of all seeds, best ranks first, each once, at most `cap`; the first seed to reach one keeps it."""
    kept: dict[str, Retrieval] = {}
    for row in sorted(retrieved, key=lambda row: (row.rank, row.query_id)):
        if len(kept) >= cap:
            break
        kept.setdefault(row.chunk_id, row)
    return list(kept.values())


def _headings(chunk: Chunk) -> list[str]:
    """Headings above a passage that say what it is about, outermost first, without numbering."""
    parts = [
        re.sub(r"^\s*(\d+(\.\d+)*\.?|[IVX]+\.)\s+", "", part).strip(" :.#*_") for part in chunk.heading.split(" > ")
    ]
    return [part for part in parts if part and not set(normalised(part).split()) <= GENERIC and len(part.split()) <= 14]


def _labels(chunks: Sequence[Chunk], corpus: Sequence[Chunk]) -> dict[str, tuple[str, str]]:
    """Topic and subtopic label of each passage: its headings, or a phrase that is frequent in it and rare elsewhere."""
    texts = [chunk.text for chunk in corpus]
    by_source: dict[str, list[str]] = defaultdict(list)
    for chunk in corpus:
        by_source[chunk.source_id].append(chunk.text)
    labels = {}
    source_labels: dict[str, str] = {}
    for chunk in chunks:
        found = _headings(chunk)
        if chunk.source_id not in source_labels:
            whole = "\n".join(by_source[chunk.source_id])
            source_labels[chunk.source_id] = found[0] if found else key_phrase(whole, texts)
        topic = source_labels[chunk.source_id]
        inner = found[-1] if len(found) > 1 else key_phrase(chunk.text, texts, avoid=topic)
        labels[chunk.chunk_id] = (topic, inner)
    return labels


def _merge_small(groups: dict[str, list[Chunk]], vectors: Vectors, settings: TaxonomySettings) -> dict[str, str]:
    """Which topic each label ends up in: single-passage topics join a near neighbour, and the total is bounded."""
    home = {label: label for label in groups}
    means = {label: np.mean([vectors[c.chunk_id] for c in chunks], axis=0) for label, chunks in groups.items()}
    means = {label: mean / max(float(np.linalg.norm(mean)), 1e-12) for label, mean in means.items()}
    sizes = {label: len(chunks) for label, chunks in groups.items()}
    for label in sorted(groups, key=lambda label: (sizes[label], label)):
        alive = [other for other in groups if home[other] == other and other != label]
        if not alive:
            break
        nearest = max(alive, key=lambda other: (float(means[label] @ means[other]), other))
        near = float(means[label] @ means[nearest]) >= MERGE_COSINE
        if (sizes[label] == 1 and near) or len(alive) + 1 > settings.topics_at_most:
            home[label] = nearest
            home.update({other: nearest for other, where in home.items() if where == label})
            sizes[nearest] += sizes[label]
    return home


def build(
    seeds: Sequence[Seed],
    retrieved: Sequence[Retrieval],
    corpus: Sequence[Chunk],
    vectors: Vectors,
    settings: TaxonomySettings,
    cap: int,
) -> list[Topic]:
    """Topics and subtopics from the passages that the seeds retrieved, without a language model.

    Passages with the same document title make a topic, passages with the same inner heading a subtopic; passages
    without headings are labelled by a phrase of their own. Topics of one passage join the nearest topic, and a topic is
    completed by the other sections of its documents, up to the allowed number of subtopics.
    `retrieved` holds one row per seed and passage; its `query_id` is the seed's query.
    """
    by_id = {chunk.chunk_id: chunk for chunk in corpus}
    rows = distinct_passages(retrieved, cap)
    chunks = [by_id[row.chunk_id] for row in rows]
    labels = _labels(chunks, corpus)
    seed_of_chunk = {row.chunk_id: row.query for row in rows}
    preferred = {seed.query: seed.label for seed in seeds if seed.label}
    groups: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        wanted = preferred.get(seed_of_chunk[chunk.chunk_id])
        groups[wanted or labels[chunk.chunk_id][0]].append(chunk)
    home = _merge_small(groups, vectors, settings)
    members: dict[tuple[str, str], list[Chunk]] = defaultdict(list)
    for label, found in groups.items():
        for chunk in found:
            members[home[label], labels[chunk.chunk_id][1]].append(chunk)
    _complete(members, {label: home[label] for label in groups}, corpus, set(by_id) & set(seed_of_chunk))
    return _as_topics(members, seed_of_chunk, settings)


def _complete(
    members: dict[tuple[str, str], list[Chunk]], home: Mapping[str, str], corpus: Sequence[Chunk], taken: set[str]
) -> None:
    """Add the other sections of the documents that became topics: a topic is not only what its seed happened to find.

    A passage joins under its own headings, in the order of the document, behind what the seeds found.
    """
    for chunk in sorted(corpus, key=lambda chunk: (chunk.path, chunk.ordinal)):
        found = _headings(chunk)
        if chunk.chunk_id not in taken and len(found) > 1 and found[0] in home:
            members[home[found[0]], found[-1]].append(chunk)


def _as_topics(
    members: dict[tuple[str, str], list[Chunk]], seeds: Mapping[str, str], settings: TaxonomySettings
) -> list[Topic]:
    """Records of the grouped passages: one spelling a label, at most the allowed number of subtopics a topic."""
    merged: dict[tuple[str, str], tuple[str, str, list[Chunk]]] = {}
    for (topic, subtopic), chunks in members.items():
        key = (normalised(topic), normalised(subtopic))
        merged.setdefault(key, (topic, subtopic, []))[2].extend(chunks)
    used: Counter[str] = Counter()
    topics = []
    in_order = sorted(merged.values(), key=lambda found: (found[0], found[2][0].chunk_id not in seeds))
    for topic, subtopic, chunks in in_order:
        if used[topic] >= settings.subtopics_per_topic:
            continue
        used[topic] += 1
        topics.append(
            Topic(
                topic_id=topic_id(topic, subtopic),
                topic=topic,
                subtopic=subtopic,
                description=f"{subtopic}: {len(chunks)} passage(s) {_found_by(chunks, seeds)}",
                seed=next((seeds[chunk.chunk_id] for chunk in chunks if chunk.chunk_id in seeds), ""),
                chunk_ids=tuple(chunk.chunk_id for chunk in chunks),
            )
        )
    return topics


def _found_by(chunks: Sequence[Chunk], seeds: Mapping[str, str]) -> str:
    found = [seeds[chunk.chunk_id] for chunk in chunks if chunk.chunk_id in seeds]
    return f"found for the seed “{found[0]}”" if found else "of a document that a seed found"


NEAR = 0.3
"""A passage of another document is written from for a subtopic only when it is at most this cosine distance away."""


def share_out(topics: Sequence[Topic], retrieved: Sequence[Retrieval], focused: int) -> list[Topic]:
    """Give each subtopic the passages to write from: its own, then up to `focused` of the nearest, of its own documents
    or near to it in meaning.

    A passage goes to the one subtopic it is nearest to, so that two subtopics do not ask the same facts.
    `retrieved` holds the subtopics' own searches; a row's `query_id` is the topic's id.
    """
    owner = {chunk_id: topic.topic_id for topic in reversed(topics) for chunk_id in topic.chunk_ids}
    source_of = {row.chunk_id: row.source_id for row in retrieved}
    own = {t.topic_id: {source_of[c] for c in t.chunk_ids if c in source_of} for t in topics}
    given: dict[str, list[str]] = defaultdict(list)
    for row in sorted(retrieved, key=lambda row: (row.distance, row.chunk_id, row.query_id)):
        belongs = row.distance <= NEAR or row.source_id in own[row.query_id]
        if belongs and row.chunk_id not in owner and len(given[row.query_id]) < focused:
            owner[row.chunk_id] = row.query_id
            given[row.query_id].append(row.chunk_id)
    return [
        topic.model_copy(
            update={
                "passages": (
                    *(chunk_id for chunk_id in topic.chunk_ids if owner[chunk_id] == topic.topic_id),
                    *given[topic.topic_id],
                )
            }
        )
        for topic in topics
    ]


def cover(concepts: Sequence[Concept], topics: Sequence[Topic], corpus: Sequence[Chunk]) -> list[Coverage]:
    """For each checklist concept, the subtopic that covers it: all its terms occur in the label or the passages.

    The score is the share of the concept's terms found there; the label counts before the passages in a tie.
    """
    text_of = {chunk.chunk_id: chunk.text for chunk in corpus}
    words = {
        topic.topic_id: _stems(" ".join([topic.subtopic, *(text_of.get(c, "") for c in topic.chunk_ids)]))
        for topic in topics
    }
    rows = []
    for concept in concepts:
        terms = _stems(" ".join(concept.terms)) if concept.terms else _stems(concept.concept)
        scored = [
            (len(terms & words[t.topic_id]) / max(len(terms), 1), len(terms & _stems(f"{t.topic} {t.subtopic}")), t)
            for t in topics
        ]
        score, _, best = max(scored, key=lambda found: (found[0], found[1], found[2].topic_id), default=(0.0, 0, None))
        missing = sorted(terms - words[best.topic_id]) if best else sorted(terms)
        covered = best is not None and not missing
        rows.append(
            Coverage(
                concept=concept.concept,
                covered=covered,
                score=score,
                topic_id=best.topic_id if covered and best else "",
                topic=best.topic if covered and best else "",
                subtopic=best.subtopic if covered and best else "",
                reason="" if covered else f"no subtopic's passages contain: {', '.join(missing)}",
            )
        )
    return rows


def _stems(text: str) -> set[str]:
    """Content words without plural endings, so that "lesions" meets "lesion"."""
    return {re.sub(r"(ies|es|s)$", "", word) if len(word) > 4 else word for word in content_words(text)}


def from_yaml(text: str, path: str) -> list[Topic]:
    """A taxonomy edited by hand: a list of {topic, subtopics: [{subtopic, description, passages}]}; used as given."""
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise StudyError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
    topics: list[Topic] = []
    for entry in data if isinstance(data, list) else (data or {}).get("topics", []):
        if not isinstance(entry, dict) or "topic" not in entry or not entry.get("subtopics"):
            raise StudyError(f"{path}: each entry needs `topic` and a list `subtopics`; found {entry!r}")
        topics += [_by_hand(str(entry["topic"]), inner, path) for inner in entry["subtopics"]]
    if not topics:
        raise StudyError(f"{path}: no topics in it; write a list of entries with `topic` and `subtopics`")
    return topics


def _by_hand(topic: str, inner: Any, path: str) -> Topic:
    given = {"subtopic": inner} if isinstance(inner, str) else inner
    if not isinstance(given, dict) or "subtopic" not in given:
        raise StudyError(f"{path}: topic {topic!r}: a subtopic is a name or a mapping with `subtopic`; found {inner!r}")
    name = str(given["subtopic"])
    return Topic(
        topic_id=topic_id(topic, name),
        topic=topic,
        subtopic=name,
        description=str(given.get("description", "")),
        seed="by hand",
        chunk_ids=tuple(str(c) for c in given.get("passages", ())),
    )


def to_yaml(topics: Sequence[Topic]) -> str:
    """The taxonomy as YAML that `from_yaml` reads back."""
    grouped: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for topic in topics:
        grouped[topic.topic].append(
            {"subtopic": topic.subtopic, "description": topic.description, "passages": list(topic.chunk_ids)}
        )
    entries = [{"topic": name, "subtopics": subtopics} for name, subtopics in grouped.items()]
    return str(yaml.safe_dump(entries, allow_unicode=True, sort_keys=False, width=120))
