"""From a subtopic to candidate items: focused or wide retrieval, then the rule-based writer or a model."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from examgen import tables
from examgen.lexicons import Lexicons, load_lexicons
from examgen.records import STRATA, Candidate, Chunk, Retrieval, Stratum, Topic
from examgen.study import Retrieval as RetrievalSettings
from examgen.writing.rules import CorpusFacts
from examgen.writing.rules import write as write_by_rules
from tasks import store
from tasks.progress import bars
from tasks.stages import Shard, stage


@functools.lru_cache(maxsize=2)
def _corpus(chunks: str) -> tuple[tuple[Chunk, ...], CorpusFacts]:
    """The passages and what is known of them as a whole; the same for every shard of a run."""
    passages = tuple(tables.read_records(chunks, Chunk))
    return passages, CorpusFacts.from_chunks(passages)


@functools.lru_cache(maxsize=2)
def _lexicons(folder: str) -> Lexicons:
    return load_lexicons(Path(folder))


def wide(
    topic: Topic, rows: Sequence[Retrieval], by_id: Mapping[str, Chunk], settings: RetrievalSettings
) -> list[Chunk]:
    """Passages for a synthesis item: at most so many a source, so many in all, the subtopic's own first."""
    chosen: list[str] = []
    used: Counter[str] = Counter()
    for chunk_id in dict.fromkeys([*topic.chunk_ids, *(row.chunk_id for row in rows)]):
        source = by_id[chunk_id].source_id
        if used[source] < settings.synthesis_per_source and len(chosen) < settings.synthesis_snippets:
            used[source] += 1
            chosen.append(chunk_id)
    return [by_id[chunk_id] for chunk_id in chosen]


@stage("write", "examgen.writing.rules", elsewhere=True)
def write_items(shard: Shard, folder: Path) -> dict[str, Any]:
    """Candidates of all subtopics of one topic, by the rule-based writer: table candidates."""
    settings = RetrievalSettings.model_validate(shard.inputs["retrieval"])
    passages, facts = _corpus(shard.inputs["chunks"])
    lexicons = _lexicons(shard.inputs["lexicons"])
    by_id = {chunk.chunk_id: chunk for chunk in passages}
    topics = [Topic.model_validate(topic) for topic in shard.inputs["topics"]]
    wanted: dict[str, dict[Stratum, int]] = shard.inputs["wanted"]
    rows = tables.read_records(shard.inputs["retrievals"], Retrieval)
    candidates: list[Candidate] = []
    for topic in topics:
        found = [row for row in rows if row.query_id == topic.topic_id]
        for stratum in STRATA:
            number = wanted[topic.topic_id].get(stratum, 0)
            if number:
                own = [by_id[chunk_id] for chunk_id in topic.passages]
                near = wide(topic, found, by_id, settings) if stratum == "synthesis" else own
                candidates += write_by_rules(topic, stratum, number, near, facts, lexicons, shard.inputs["batch"])
        bars.advance("writing items")
    store.write(folder / "candidates.parquet", "candidates", candidates)
    return {"counts": {"candidates": len(candidates), **Counter(candidate.stratum for candidate in candidates)}}
