"""From candidates to a locked bank: audits judged by the suites, the screen, the lock."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from examgen import audits, locking, screening, tables
from examgen.errors import BankError
from examgen.ids import canonical_json, digest
from examgen.records import BankItem, Candidate, Chunk, Coverage, Finding, FunnelRow, Stratum, Topic, Verdict
from examgen.study import Embedding
from examgen.taxonomy import with_items
from expectations import acceptance, contracts, documents
from tasks import embed, store
from tasks.progress import bars
from tasks.stages import Done, Shard, stage
from tasks.taxonomy_stage import embed_texts, search


def _candidates(shard: Shard) -> list[Candidate]:
    """The candidates of all writing shards in the order of the shards, each id once.

    Items carried over from the bank before stand first, so that of two alike they are the earlier one; one that was
    written again is taken as it was written now.
    """
    found: dict[str, Candidate] = {}
    for path in shard.inputs["candidates"]:
        for candidate in tables.read_records(path, Candidate):
            found.setdefault(candidate.candidate_id, candidate)
    carried = _carried(shard)
    again = {candidate.item_id: candidate for candidate in reversed(found.values())} if carried else {}
    items = {candidate.item_id for candidate in carried}
    first = [again.get(candidate.item_id, candidate) for candidate in carried]
    return [*first, *(candidate for candidate in found.values() if candidate.item_id not in items)]


def _carried(shard: Shard) -> list[Candidate]:
    """Candidates carried over from the bank before; none where the build follows no bank."""
    path = shard.inputs.get("carried_over")
    return tables.read_records(path, Candidate) if path else []


def _vectors(shard: Shard, items: Sequence[Candidate | BankItem], chunks: Mapping[str, Chunk]) -> dict[str, Any]:
    """Vectors of stem and key by candidate id, for the search for semantic duplicates."""
    embedding = Embedding.model_validate(shard.inputs["embedding"])
    embedder = embed.make_embedder(embedding, [chunk.text for chunk in chunks.values()])
    said = {item.candidate_id: f"{item.stem} {item.options[item.key]}" for item in items}
    stored = embed_texts(embedder, list(said.values()), Path(shard.inputs["embeddings"]))
    return {candidate_id: stored[text] for candidate_id, text in said.items()}


@stage("audit", "expectations.acceptance", "examgen.audits")
def audit(shard: Shard, folder: Path) -> dict[str, Any]:
    """Measure every candidate and let the suites accept or reject it: tables candidates, measures, findings."""
    candidates = _candidates(shard)
    if not candidates:
        raise BankError(
            f"study {shard.study}: no item could be written from these documents. The writer by rules needs sentences "
            "that state a number, a year or one of two contrary findings: give more documents, or let a model write "
            "(writing.method: llm)"
        )
    chunks = {chunk.chunk_id: chunk for chunk in tables.read_records(shard.inputs["chunks"], Chunk)}
    vectors = _vectors(shard, candidates, chunks)
    judged = acceptance.accept(candidates, chunks, vectors, shard.inputs["suites"], limits=shard.inputs["limits"])
    store.write(folder / "candidates.parquet", "candidates", candidates)
    store.write(folder / "measures.parquet", "measures", audits.measure_rows(judged.frame))
    store.write(folder / "findings.parquet", "findings", judged.findings)
    accepted, rejected = len(judged.accepted_ids), len(judged.rejected_ids)
    if accepted + rejected != len(candidates):
        raise BankError(
            f"study {shard.study}: {accepted} accepted and {rejected} rejected of {len(candidates)} candidates"
        )
    counts = {"candidates": len(candidates), "accepted": accepted, "rejected": rejected}
    documents.build_data_docs(judged.judgements, folder / "data_docs")
    return {"counts": counts, "facts": {"suites": judged.suite_hash}}


FINAL_SUITE = "final_bank"


@stage("screen", "examgen.screening", elsewhere=True)
def screen(shard: Shard, folder: Path) -> dict[str, Any]:
    """The rule-based screen of the candidates that the audits accepted: table verdicts."""
    passages = tables.read_records(shard.inputs["chunks"], Chunk)
    chunks = {chunk.chunk_id: chunk for chunk in passages}
    rejected = locking.rejections(tables.read_records(shard.inputs["findings"], Finding))
    candidates = [
        candidate
        for candidate in tables.read_records(shard.inputs["candidates"], Candidate)
        if candidate.candidate_id not in rejected
    ]
    bars.start("screening items", len(candidates))
    fresh: dict[str, list[str]] = {}
    if shard.inputs["context"] == "fresh" and candidates:
        stems = list(dict.fromkeys(candidate.stem for candidate in candidates))
        for row in search(shard, stems, shard.inputs["focused"], "screen", passages):
            fresh.setdefault(row.query, []).append(row.chunk_id)
    verdicts: list[Verdict] = []
    for candidate in candidates:
        stored = [chunks[evidence.chunk_id] for evidence in candidate.evidence]
        new = [chunks[chunk_id] for chunk_id in fresh.get(candidate.stem, ())]
        verdicts.append(screening.screen_by_rules(candidate, stored, new))
        bars.advance("screening items")
    store.write(folder / "verdicts.parquet", "verdicts", verdicts)
    return {"counts": {"screened": len(verdicts), "accepted": sum(verdict.accepted for verdict in verdicts)}}


@stage("lock", "examgen.locking", "expectations.contracts")
def lock_bank(shard: Shard, folder: Path) -> dict[str, Any]:
    """The bank folder: locked items, everything they rest on, the funnel, and `bank.lock.json` over all of it."""
    topics = tables.read_records(shard.inputs["topics"], Topic)
    candidates = tables.read_records(shard.inputs["candidates"], Candidate)
    wanted: dict[Stratum, int] = shard.inputs["per_subtopic"]
    items, funnel = locking.lock(
        candidates,
        tables.read_records(shard.inputs["findings"], Finding),
        tables.read_records(shard.inputs["verdicts"], Verdict),
        wanted,
        {candidate.item_id for candidate in _carried(shard)},
        shard.inputs.get("refused"),
    )
    if not items:
        raise BankError(
            f"study {shard.study}: no candidate passed audits and screen: see {shard.inputs['findings']} "
            f"and {shard.inputs['verdicts']}"
        )
    drafts = [row for path in shard.inputs["rejected_drafts"] for row in tables.read_rows(path)]
    store.write(folder / "rejected_drafts.parquet", "rejected_drafts", drafts)
    funnel = [*_written(candidates, drafts), *funnel]
    lost = locking.unbalanced(funnel)
    if lost:
        raise BankError(f"study {shard.study}: the funnel does not add up: {'; '.join(lost)}")
    items = _final_audit(shard, items, folder)
    store.write(folder / "bank.parquet", "bank", items)
    store.write(folder / "funnel.parquet", "funnel", funnel)
    for name, path in sorted(shard.inputs["carried"].items()):
        store.write_bytes(folder / f"{name}.parquet", Path(path).read_bytes())
    coverage = tables.read_records(str(folder / "coverage.parquet"), Coverage)
    coverage = with_items(coverage, [item.topic_id for item in items])
    store.write(folder / "coverage.parquet", "coverage", coverage)
    for name in ("sources", "chunks", "topics", "candidates", "funnel", "bank"):
        contracts.check(name, tables.read_rows(str(folder / f"{name}.parquet")))
    facts = {**shard.inputs["facts"], "contents": _contents(folder)}
    manifest = {**locking.manifest(items, topics, facts, wanted), "title": shard.inputs["title"]}
    manifest["tables"] = {
        place.name: hashlib.sha256(place.read_bytes()).hexdigest() for place in sorted(folder.glob("*.parquet"))
    }
    store.write_json(folder / "bank.lock.json", manifest)
    counts = {"locked": len(items), **Counter(str(item.stratum) for item in items)}
    itemless = [row.concept for row in coverage if row.covered and not row.items]
    return {"counts": counts, "facts": {"bank_id": manifest["bank_id"], "itemless": itemless}}


def _contents(folder: Path) -> str:
    """Hash over what the bank holds beside its items, so that its id changes with it; not over times of files."""
    parts = ["chunks", *tables.read_table(str(folder / "chunks.parquet")).column("chunk_id").to_pylist()]
    for name in ("sources", "topics", "coverage", "candidates", "findings", "verdicts", "funnel"):
        rows = tables.read_rows(str(folder / f"{name}.parquet"))
        parts += [name, canonical_json([{k: v for k, v in row.items() if k != "modified"} for row in rows])]
    return digest("contents", *parts)


def _final_audit(shard: Shard, items: list[BankItem], folder: Path) -> list[BankItem]:
    """The suites once more on what is locked: what they find stays with the item as transparency flags."""
    chunks = {chunk.chunk_id: chunk for chunk in tables.read_records(shard.inputs["chunks"], Chunk)}
    suites, limits = shard.inputs["suites"], shard.inputs["limits"]
    floor = acceptance.search_floor(suites, FINAL_SUITE, limits)
    frame = audits.measure(items, chunks, _vectors(shard, items, chunks), floor)
    judgement = acceptance.judge(frame, suites, FINAL_SUITE, limits)
    store.write(folder / "final_findings.parquet", "findings", judgement.findings + judgement.table_findings)
    flags: dict[str, set[str]] = {}
    for finding in judgement.findings:
        flags.setdefault(finding.candidate_id, set()).add(finding.check_id)
    return [locking.flagged(item, sorted(flags.get(item.candidate_id, ()))) for item in items]


def shortfall(
    audited: Done, screened: Done, subtopics: Sequence[Topic], wanted: Mapping[Stratum, int]
) -> dict[tuple[str, Stratum], int]:
    """How many more accepted items each subtopic and stratum needs; those that have enough are not in it."""
    candidates = tables.read_records(audited.table("candidates"), Candidate)
    verdicts = tables.read_records(screened.table("verdicts"), Verdict)
    passed = {verdict.candidate_id for verdict in verdicts if verdict.accepted}
    chosen, _ = locking.choose([c for c in candidates if c.candidate_id in passed], {}, wanted)
    have = Counter((candidate.topic_id, candidate.stratum) for candidate in chosen)
    return {
        (topic.topic_id, stratum): count - have[topic.topic_id, stratum]
        for topic in subtopics
        for stratum, count in wanted.items()
        if have[topic.topic_id, stratum] < count
    }


SPOKEN = ("answered", "refused", "filtered", "truncated")
"""How a call can end with the model having spoken; a draft that ended otherwise is unresolved, not rejected."""


def _written(candidates: list[Candidate], drafts: list[dict[str, Any]]) -> list[FunnelRow]:
    """The first stage of the funnel: candidates, and drafts that came to nothing."""
    entered: list[tuple[str, tuple[str, str]]] = [(candidate.stratum, ("accepted", "")) for candidate in candidates]
    for draft in drafts:
        outcome = "rejected" if draft["outcome"] in SPOKEN else "unresolved"
        entered.append((draft["stratum"], (outcome, draft["reason"])))
    return locking.account("write", entered)
