"""The taxonomy: topics and subtopics found in the passages that the seed queries brought, and what they cover."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
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


CONCEPT_PASSAGES = 5
"""A concept is looked for in this many passages of the corpus: those that are nearest to it in meaning."""


def concept_query(concept: Concept) -> str:
    """What the index is asked for a checklist concept."""
    return f"{concept.concept}: {' '.join(concept.terms)}" if concept.terms else concept.concept


def cover(
    concepts: Sequence[Concept], topics: Sequence[Topic], corpus: Sequence[Chunk], nearest: Mapping[str, Sequence[str]]
) -> list[Coverage]:
    """For each checklist concept, the subtopic that covers it.

    That is one whose label names all terms of the concept, or one that holds a passage which has all of them and is
    among the few of the whole corpus that are nearest to the concept: words that merely occur in a passage about
    something else cover nothing. `nearest` has those passages' ids by `concept_query`, nearest first. The score is the
    largest share of the terms in one of them that a subtopic holds.
    """
    by_id = {chunk.chunk_id: chunk for chunk in corpus}
    words = {name: _stems(f"{by_id[name].heading} {by_id[name].text}") for ids in nearest.values() for name in ids}
    labels = {topic.topic_id: _stems(f"{topic.topic} {topic.subtopic}") for topic in topics}
    holders: dict[str, list[Topic]] = defaultdict(list)
    for topic in topics:
        for name in dict.fromkeys((*topic.chunk_ids, *topic.passages)):
            holders[name].append(topic)
    rows = []
    for concept in concepts:
        terms = _stems(" ".join(concept.terms)) if concept.terms else _stems(concept.concept)
        near = list(nearest.get(concept_query(concept), ()))
        telling = [name for name in near if terms <= words[name]]
        held = [topic for name in telling for topic in holders[name]]
        named = [topic for topic in topics if terms <= labels[topic.topic_id]]
        # Both at best; then the label says more than a passage does. Ties go by nearness, then by the taxonomy's order.
        wanted = terms | _stems(concept.concept)
        both = {topic.topic_id for topic in held} & {topic.topic_id for topic in named}
        fit = [(t.topic_id in both, len(wanted & labels[t.topic_id])) for t in (*held, *named)]
        if fit:
            rows.append(_covered(concept, (*held, *named)[fit.index(max(fit))]))
            continue
        best = max((len(terms & words[name]) for name in near if holders[name]), default=0)
        reason = _why_not(terms, telling, by_id, corpus)
        rows.append(
            Coverage(concept=concept.concept, covered=False, score=best / max(len(terms), 1), reason=reason)
        )
    return rows


def _covered(concept: Concept, topic: Topic) -> Coverage:
    return Coverage(
        concept=concept.concept, covered=True, topic_id=topic.topic_id, topic=topic.topic, subtopic=topic.subtopic,
        score=1.0,
    )


def _why_not(terms: set[str], telling: Sequence[str], by_id: Mapping[str, Chunk], corpus: Sequence[Chunk]) -> str:
    """Why no subtopic covers a concept: its documents have no place in the taxonomy, or there are none."""
    if telling:
        paths = ", ".join(dict.fromkeys(by_id[name].path for name in telling))
        return f"its passages are in no subtopic ({paths}): add a seed for it"
    missing = sorted(term for term in terms if not any(term in _stems(chunk.text) for chunk in corpus))
    if missing:
        return f"no document contains: {', '.join(missing)}"
    return f"none of the passages nearest to it contains: {', '.join(sorted(terms))}"


def unplaced(topics: Sequence[Topic], corpus: Sequence[Chunk]) -> list[str]:
    """Paths of the documents of which no subtopic holds a passage."""
    held = {name for topic in topics for name in (*topic.chunk_ids, *topic.passages)}
    return sorted({chunk.path for chunk in corpus} - {chunk.path for chunk in corpus if chunk.chunk_id in held})


def with_items(coverage: Sequence[Coverage], topic_ids: Iterable[str]) -> list[Coverage]:
    """The rows with the number of locked items in the subtopic that covers them; `topic_ids` are those of the items."""
    count = Counter(topic_ids)
    return [row.model_copy(update={"items": count[row.topic_id]}) if row.covered else row for row in coverage]


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
