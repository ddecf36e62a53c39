"""The stages that ask a language model: taxonomy, writing, screen. One event loop a shard; replies are journalled."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from examgen import locking, tables
from examgen.chat import ChatModel
from examgen.errors import EndpointError, RunError
from examgen.records import STRATA, Candidate, Chunk, Finding, Retrieval, Stratum, Topic, Verdict
from examgen.screening_model import screen_with_model
from examgen.study import Endpoint, Seed
from examgen.study import Retrieval as RetrievalSettings
from examgen.study import Taxonomy as Settings
from examgen.study import Writing as WritingSettings
from examgen.taxonomy import distinct_passages
from examgen.taxonomy_model import propose
from examgen.writing.llm import WriteResult, write_with_model
from tasks import store, tally
from tasks.asking import BUDGET_SPENT
from tasks.ledger import shared_budget
from tasks.llm import with_model
from tasks.progress import bars
from tasks.stages import Shard, stage
from tasks.taxonomy_stage import finish_topics, search
from tasks.writing_stage import wide

T = TypeVar("T")


def ask(shard: Shard, purpose: str, work: Callable[[ChatModel], Awaitable[T]]) -> T:
    """Run `work` with the shard's endpoint: its journals, its address, the study's budget; count what was sent.

    An endpoint that stopped, or a budget that is spent, ends the shard: its replies stay in the journal, and the shard
    is done again when the endpoint is back or the budget is raised.
    """
    endpoint = Endpoint.model_validate(shard.inputs["endpoint"])
    journals = Path(shard.inputs["journals"])
    done, use = with_model(
        endpoint,
        work,
        base_url=shard.inputs["base_urls"].get(endpoint.id, ""),
        journal=str(journals / f"{endpoint.id}-{purpose}-{shard.key}.calls.jsonl"),
        budget=shared_budget(journals, shard.inputs["budget"]),
        earlier=sorted(journals.glob(f"{endpoint.id}-{purpose}-*.calls.jsonl")),
    )
    tally.add("model calls", use.sent)
    if use.stopped == BUDGET_SPENT:
        raise RunError(
            f"study {shard.study}: the budget of {shard.inputs['budget']:g} is spent ({use.spent:.2f} paid): raise "
            f"`budget` in the study and run again; what was answered is kept and not asked again"
        )
    if use.stopped:
        raise EndpointError(
            f"endpoint {endpoint.id}: stopped while it was asked to {purpose} ({use.stopped}): run again when it "
            f"answers; what was answered is kept and not asked again"
        )
    return done


@stage("taxonomy-model", "examgen.taxonomy_model")
def find_topics_by_model(shard: Shard, folder: Path) -> dict[str, Any]:
    """Tables topics, retrievals and coverage, the topics proposed by a model from the passages that the seeds found."""
    passages = tables.read_records(shard.inputs["chunks"], Chunk)
    by_id = {chunk.chunk_id: chunk for chunk in passages}
    settings = Settings.model_validate(shard.inputs["taxonomy"])
    seeds = [Seed.model_validate(seed).query for seed in shard.inputs["seeds"]]
    retrieved = search(shard, seeds, shard.inputs["passages_per_seed"], "seed", passages)
    rows = distinct_passages(retrieved, shard.inputs["passage_cap"])

    async def work(model: ChatModel) -> Any:
        return await propose(
            model,
            [by_id[row.chunk_id] for row in rows],
            seeds,
            topics_at_most=settings.topics_at_most,
            subtopics_per_topic=settings.subtopics_per_topic,
            seed_of_chunk={row.chunk_id: row.query for row in rows},
        )

    proposal = ask(shard, "taxonomy", work)
    if not proposal.topics:
        raise EndpointError(
            f"endpoint {shard.inputs['endpoint']['id']}: gave no usable taxonomy "
            f"({'; '.join(proposal.problems)[:300]}): use another endpoint, or taxonomy.method: headings"
        )
    found = finish_topics(shard, folder, list(proposal.topics), retrieved, passages)
    found["facts"] |= {"prompt": proposal.prompt_id, "problems": list(proposal.problems)}
    return found


@stage("write-model", "examgen.writing.llm", elsewhere=True)
def write_items_by_model(shard: Shard, folder: Path) -> dict[str, Any]:
    """Candidates of one topic's subtopics by a model, and the drafts that came to nothing, each with its reason."""
    retrieval = RetrievalSettings.model_validate(shard.inputs["retrieval"])
    settings = WritingSettings.model_validate(shard.inputs["writing"])
    by_id = {chunk.chunk_id: chunk for chunk in tables.read_records(shard.inputs["chunks"], Chunk)}
    rows = tables.read_records(shard.inputs["retrievals"], Retrieval)
    topics = [Topic.model_validate(topic) for topic in shard.inputs["topics"]]
    wanted: dict[str, dict[Stratum, int]] = shard.inputs["wanted"]
    asked = [(t, s, wanted[t.topic_id].get(s, 0)) for t in topics for s in STRATA if wanted[t.topic_id].get(s, 0)]

    async def one(model: ChatModel, topic: Topic, stratum: Stratum, number: int) -> WriteResult:
        found = [row for row in rows if row.query_id == topic.topic_id]
        own = [by_id[chunk_id] for chunk_id in topic.passages]
        result = await write_with_model(
            model,
            topic,
            stratum,
            number,
            wide(topic, found, by_id, retrieval) if stratum == "synthesis" else own,
            batch=shard.inputs["batch"],
            attempt=shard.inputs["attempt"],
            temperature=settings.temperature,
            repair_temperature=settings.repair_temperature,
            repairs=settings.repairs,
            language=shard.inputs["language"],
        )
        bars.advance("writing items")
        return result

    async def work(model: ChatModel) -> list[WriteResult]:
        return list(await asyncio.gather(*(one(model, *part) for part in asked)))

    results = ask(shard, "write", work)
    candidates = [candidate for result in results for candidate in result.candidates]
    rejects = [
        {
            "topic_id": topic.topic_id, "stratum": stratum, "number": reject.number, "attempt": shard.inputs["attempt"],
            "reason": reject.reason, "outcome": reject.outcome, "raw": reject.raw, "request_hash": reject.request_hash,
            "repairs": reject.repairs,
        }
        for (topic, stratum, _), result in zip(asked, results, strict=True)
        for reject in result.rejects
    ]  # fmt: skip
    store.write(folder / "candidates.parquet", "candidates", candidates)
    store.write(folder / "rejected_drafts.parquet", "rejected_drafts", rejects)
    return {"counts": {"candidates": len(candidates), "rejected": len(rejects)}}


@stage("screen-model", "examgen.screening_model", elsewhere=True)
def screen_by_model(shard: Shard, folder: Path) -> dict[str, Any]:
    """Verdicts of a model on the candidates that the audits accepted; a second screener's are kept beside them."""
    passages = tables.read_records(shard.inputs["chunks"], Chunk)
    chunks = {chunk.chunk_id: chunk for chunk in passages}
    rejected = locking.rejections(tables.read_records(shard.inputs["findings"], Finding))
    everyone = tables.read_records(shard.inputs["candidates"], Candidate)
    candidates = [candidate for candidate in everyone if candidate.candidate_id not in rejected]
    fresh = _fresh(shard, candidates, passages)
    kind: Literal["stored", "fresh"] = shard.inputs["context"]
    bars.start("screening items", len(candidates))

    room = asyncio.Semaphore(2 * int(shard.inputs["endpoint"]["concurrency"]) + 64)  # prompts held at once

    async def one(model: ChatModel, candidate: Candidate) -> Verdict:
        names = fresh[candidate.stem] if kind == "fresh" else [e.chunk_id for e in candidate.evidence]
        context = [chunks[name] for name in dict.fromkeys(names)]
        async with room:
            verdict = await screen_with_model(
                model, candidate, context, context_kind=kind, family=shard.inputs["family"]
            )
        bars.advance("screening items")
        return verdict

    async def work(model: ChatModel) -> list[Verdict]:
        return list(await asyncio.gather(*(one(model, candidate) for candidate in candidates)))

    verdicts = ask(shard, "screen", work)
    store.write(folder / "verdicts.parquet", "verdicts", verdicts)
    return {"counts": {"screened": len(verdicts), "accepted": sum(verdict.accepted for verdict in verdicts)}}


def _fresh(shard: Shard, candidates: Sequence[Candidate], passages: Sequence[Chunk]) -> dict[str, list[str]]:
    """The passages a new search brings for each stem; nothing when the stored context is shown."""
    found: dict[str, list[str]] = {}
    if shard.inputs["context"] == "fresh" and candidates:
        stems = list(dict.fromkeys(candidate.stem for candidate in candidates))
        for row in search(shard, stems, shard.inputs["focused"], "screen", passages):
            found.setdefault(row.query, []).append(row.chunk_id)
    return found


def keep_drafts(paths: Sequence[str], final: Path) -> list[str]:
    """Bring the rejected drafts of some writing shards together in one table; lines that say how many went why."""
    rows = [row for path in paths if Path(path).is_file() for row in tables.read_rows(path)]
    store.write(final, "rejected_drafts", rows)
    reasons = Counter(str(row["reason"]) for row in rows)
    return [f"{count} × {reason}" for reason, count in reasons.most_common()]
