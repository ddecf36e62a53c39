"""From passages to topics: the seeds search the index, what they find becomes the taxonomy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from examgen import tables
from examgen import taxonomy as core
from examgen.ids import content_hash, digest
from examgen.records import Chunk, Retrieval, Topic
from examgen.study import Concept, Embedding, Seed
from examgen.study import Taxonomy as Settings
from tasks import embed, index, store
from tasks.stages import Shard, stage


def search(
    shard: Shard, queries: Sequence[str], k: int, purpose: str, passages: Sequence[Chunk], ids: Sequence[str] = ()
) -> list[Retrieval]:
    """The k nearest passages of each query, a row each; a query's id is as given, or hashes its purpose and text."""
    embedder = embed.make_embedder(
        Embedding.model_validate(shard.inputs["embedding"]), [chunk.text for chunk in passages]
    )
    names = list(ids) or [digest("query", purpose, query) for query in queries]
    vectors = embed_texts(embedder, queries, Path(shard.inputs["embeddings"]))
    asked = np.stack([vectors[query] for query in queries])
    place, fingerprint = Path(shard.inputs["index"]), shard.inputs["fingerprint"]
    with index.open_index(place, fingerprint, embedder, shard.inputs["index_server"]) as found:
        return found.query(asked, k, purpose=purpose, query_ids=names, queries=list(queries))


def embed_texts(embedder: embed.Embedder, texts: Sequence[str], place: Path) -> dict[str, embed.Vectors]:
    """Vectors of queries or items by text, from the embeddings table where they were embedded before."""
    hashes = {content_hash(text): text for text in texts}
    stored = embed.embed_missing(embedder, hashes, place)
    return {text: stored[name] for name, text in hashes.items()}


@stage("taxonomy")
def find_topics(shard: Shard, folder: Path) -> dict[str, Any]:
    """Tables topics, retrievals and coverage, and the taxonomy as YAML that can be edited and given back."""
    passages = tables.read_records(shard.inputs["chunks"], Chunk)
    settings = Settings.model_validate(shard.inputs["taxonomy"])
    seeds = [Seed.model_validate(seed) for seed in shard.inputs["seeds"]]
    retrieved = search(shard, [seed.query for seed in seeds], shard.inputs["passages_per_seed"], "seed", passages)
    if settings.file:
        topics = _by_hand(shard, passages)
    else:
        vectors = embed.read_embeddings(Path(shard.inputs["embeddings"]), shard.inputs["embedder"])
        by_chunk = {chunk.chunk_id: vectors[chunk.content_hash] for chunk in passages}
        topics = core.build(seeds, retrieved, passages, by_chunk, settings, shard.inputs["passage_cap"])
    return finish_topics(shard, folder, topics, retrieved, passages)


def finish_topics(
    shard: Shard, folder: Path, topics: list[Topic], retrieved: list[Retrieval], passages: Sequence[Chunk]
) -> dict[str, Any]:
    """Search for every subtopic, share the passages out, hold the checklist against it, write the tables."""
    names = [f"{topic.topic}: {topic.subtopic}" for topic in topics]
    ids = [topic.topic_id for topic in topics]
    near = search(shard, names, shard.inputs["synthesis"], "subtopic", passages, ids)
    topics = core.share_out(topics, near, shard.inputs["focused"])
    retrieved += near
    concepts = [Concept.model_validate(concept) for concept in shard.inputs["checklist"]]
    asked = list(dict.fromkeys(core.concept_query(concept) for concept in concepts))
    told = search(shard, asked, core.CONCEPT_PASSAGES, "checklist", passages) if asked else []
    retrieved += told
    nearest = {query: [row.chunk_id for row in told if row.query == query] for query in asked}
    coverage = core.cover(concepts, topics, passages, nearest)
    store.write(folder / "topics.parquet", "topics", topics)
    store.write(folder / "retrievals.parquet", "retrievals", retrieved)
    store.write(folder / "coverage.parquet", "coverage", coverage)
    store.write_text(folder / "taxonomy.yaml", core.to_yaml(topics))
    counts = {
        "topics": len({topic.topic for topic in topics}),
        "subtopics": len(topics),
        "concepts": len(coverage),
        "covered": sum(row.covered for row in coverage),
    }
    uncovered = [row.concept for row in coverage if not row.covered]
    return {"counts": counts, "facts": {"uncovered": uncovered, "unplaced": core.unplaced(topics, passages)}}


def _by_hand(shard: Shard, passages: Sequence[Chunk]) -> list[Topic]:
    """A taxonomy from a file; subtopics without passages get the nearest ones."""
    topics = core.from_yaml(shard.inputs["taxonomy_text"], shard.inputs["taxonomy"]["file"])
    bare = [topic for topic in topics if not topic.chunk_ids]
    queries = [f"{topic.topic}: {topic.subtopic}" for topic in bare]
    rows = search(shard, queries, shard.inputs["focused"], "subtopic", passages) if bare else []
    by_query: dict[str, list[str]] = {}
    for row in rows:
        by_query.setdefault(row.query, []).append(row.chunk_id)
    return [
        topic
        if topic.chunk_ids
        else topic.model_copy(update={"chunk_ids": tuple(by_query[f"{topic.topic}: {topic.subtopic}"])})
        for topic in topics
    ]
