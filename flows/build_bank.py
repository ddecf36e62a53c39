"""Building a bank: read, index, find topics, write, audit, screen, top up, lock. The paper's Algorithm 1."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from prefect import flow

from examgen.ids import digest
from examgen.planned_contrasts import resolved
from examgen.sizing_report import build_warning
from examgen.study import Endpoint, Study
from flows.bank_releases import Following, tell_difference
from flows.item_rounds import Bench, accepted_items
from flows.request import StudyRequest
from tasks import artifacts, read_sources, runner
from tasks.acceptance_stage import lock_bank
from tasks.code_version import contracts_version, folder_version
from tasks.corpus_stage import build_index, read
from tasks.fingerprint import Contents, fingerprint
from tasks.manifest import reader_version
from tasks.model_stage import find_topics_by_model
from tasks.panel_stage import local_servers
from tasks.progress import Step, bars, say
from tasks.publishing import publish_bank, publish_documents
from tasks.run_record import recorded
from tasks.semantic_calibration import limits
from tasks.stages import Done, forget, make_shard
from tasks.taxonomy_stage import find_topics
from tasks.workplace import Workplace, corpus_folder, suites_folder

BUILDING_CONTEXT = 8192
"""Tokens a slot of a local server holds while it builds: a synthesis prompt shows ten passages."""


@flow(name="build-bank", flow_run_name="{request.name} · build")
def build_bank(request: StudyRequest) -> dict[str, Any]:
    """Build and lock the bank of a study; returns its id, folder and counts."""
    with artifacts.followed(request.name):
        study = request.load()
        place = Workplace(request.results, study.study)
        with place.alone(), recorded(place, "build-bank"), runner.using(study.runner), bars:
            return _build(request, study, place)


def _build(request: StudyRequest, study: Study, place: Workplace) -> dict[str, Any]:
    found = read_sources.scan(corpus_folder(study, request.study), study.corpus)
    contents = fingerprint(found, place.root / "files.json")
    following = Following.of(study, place, contents.rows)
    passages = _read(request, study, place, contents)
    indexed = _index(study, place, passages)
    base = _shared_inputs(study, place, passages, indexed)
    with local_servers(builders(study), BUILDING_CONTEXT) as servers:
        addresses = {name: about["base_url"] for name, about in servers.items()}
        bench = Bench(request, study, place, base, passages, addresses)
        topics = _topics(bench)
        wanted = topics.counts["subtopics"] * sum(study.writing.per_subtopic.values())
        for warning in build_warning(resolved(study.sizing, Path(request.study).resolve().parent), wanted):
            say(f"    warning: {warning}")
        carried = following.carry_over(bench, passages, topics)
        accepted = accepted_items(replace(bench, topics=topics, carried=carried))
    done = _lock(bench, passages, indexed, topics, accepted, carried)
    # Entered before it is pointed to: a run killed in between follows the same bank when it is run again.
    entry = following.enter(place, done.facts["bank_id"])
    folder, in_use = publish_bank(place, done)
    if in_use:
        say(f"    note: {in_use}")
    tell_difference(study, place, entry)
    documents = publish_documents(place, accepted["audit"], done.facts["bank_id"])
    artifacts.bank_artifacts(study.study, folder, documents)
    return {"bank_id": done.facts["bank_id"], "folder": str(folder), "items": done.counts["locked"]}


def _read(request: StudyRequest, study: Study, place: Workplace, contents: Contents) -> Done:
    folder = corpus_folder(study, request.study)
    cache = place.root / "texts"
    depends = {
        "corpus": study.corpus.model_dump(mode="json", exclude={"folder"}),
        "reader": reader_version(),
        "chunking": study.chunking.model_dump(mode="json"),
        "files": contents.rows,
    }
    shard = make_shard(
        study.study,
        "read",
        f"{study.study} · read corpus",
        place.work,
        depends,
        {"folder": str(folder), "cache": str(cache), "corpus": study.corpus.model_dump(mode="json")},
    )
    looked = f"{contents.known} known by size and time, {contents.hashed} hashed"
    if shard.finished():
        looked = f"nothing read again: {looked}"
    with Step("read") as step:
        done = read(shard)
        counts = done.counts
        step.outcome = f"{counts['indexed']} of {counts['files']} files, {counts['chunks']} passages; {looked}"
    for warning in done.facts["warnings"]:
        say(f"    note: {warning}")
    return done


def _index(study: Study, place: Workplace, passages: Done) -> Done:
    embedding = study.embedding.model_dump(mode="json")
    depends = {
        "read": passages.key,
        "embedding": {k: v for k, v in embedding.items() if k not in ("key_env", "batch")},
        "server": study.index.server,
    }
    inputs = {
        "embedding": embedding,
        "chunks": passages.table("chunks"),
        "embeddings": str(place.root / "embeddings"),
        "index": str(place.root / "index"),
        "index_server": study.index.server,
    }
    shard = make_shard(study.study, "index", f"{study.study} · index", place.work, depends, inputs)
    earlier = shard.finished()
    if earlier and not (place.root / "index" / f"index-{earlier.facts['fingerprint']}").is_dir():
        forget(shard)  # an index of other passages took its place since: build it again from the embeddings
    with Step("index") as step:
        done = build_index(shard)
        step.outcome = f"{done.counts['passages']} passages, embedder {done.facts['embedder']}"
    return done


def _shared_inputs(study: Study, place: Workplace, passages: Done, indexed: Done) -> dict[str, Any]:
    """What every later stage needs to search: none of it changes a result that the keys do not name."""
    return {
        "chunks": passages.table("chunks"),
        "embeddings": str(place.root / "embeddings"),
        "index": str(place.root / "index"),
        "index_server": study.index.server,
        "fingerprint": indexed.facts["fingerprint"],
        "embedder": indexed.facts["embedder"],
        "embedding": study.embedding.model_dump(mode="json"),
        "focused": study.retrieval.focused,
    }


def builders(study: Study) -> list[Endpoint]:
    """The local endpoints that build the bank; remote ones need no server of ours."""
    parts = (study.taxonomy, study.writing, study.screen)
    names = {part.endpoint for part in parts if part.method == "llm"} | {study.screen.second_endpoint}
    return [endpoint for endpoint in study.endpoints if endpoint.id in names and endpoint.kind == "local"]


def _topics(bench: Bench) -> Done:
    study, settings = bench.study, bench.study.taxonomy
    by_hand = settings.file
    depends: dict[str, Any] = {
        "fingerprint": bench.base["fingerprint"],
        "taxonomy": settings.model_dump(mode="json"),
        "taxonomy_text": (Path(bench.request.study).parent / by_hand).read_text(encoding="utf-8") if by_hand else "",
        "seeds": [seed.model_dump() for seed in study.seeds],
        "checklist": [concept.model_dump() for concept in study.checklist],
        "passages_per_seed": study.retrieval.passages_per_seed,
        "passage_cap": study.retrieval.passage_cap,
        "synthesis": study.retrieval.synthesis,
        "focused": study.retrieval.focused,
    }
    with Step("taxonomy") as step:
        if settings.method == "llm" and not by_hand:
            of_endpoint, inputs = bench.asking(settings.endpoint, "taxonomy")
            done = find_topics_by_model(bench.shard("taxonomy-model", "taxonomy", {**depends, **of_endpoint}, inputs))
        else:
            done = find_topics(bench.shard("taxonomy", "taxonomy", depends, {}))
        found = done.counts
        step.outcome = (
            f"{found['topics']} topics, {found['subtopics']} subtopics; "
            f"{found['covered']} of {found['concepts']} checklist concepts covered"
        )
    for problem in done.facts.get("problems", ()):
        say(f"    note: taxonomy: {problem}")
    if done.facts["uncovered"]:
        say(f"    note: not covered: {', '.join(done.facts['uncovered'])}")
    if done.facts["unplaced"]:
        say(f"    note: in no subtopic, a seed would find them: {', '.join(done.facts['unplaced'])}")
    return done


def _unplaced(study: Study) -> Study:
    """The study without what says where things are and how fast they go: none of it changes a bank."""
    embedding = study.embedding.model_copy(update={"key_env": "", "batch": 1})
    return study.model_copy(
        update={"corpus": study.corpus.model_copy(update={"folder": ""}), "embedding": embedding}
    )


def _lock(
    bench: Bench,
    passages: Done,
    indexed: Done,
    topics: Done,
    accepted: dict[str, Any],
    over: Done | None,
) -> Done:
    study, suites = bench.study, suites_folder(bench.study, bench.request.study)
    audited, screened = accepted["audit"], accepted["screen"]
    rejected_drafts = [done.table("rejected_drafts") for done in accepted["written"] if done.counts.get("rejected")]
    carried = {name: passages.table(name) for name in ("sources", "texts", "chunks")}
    carried |= {name: topics.table(name) for name in ("topics", "retrievals", "coverage")}
    carried |= {name: audited.table(name) for name in ("candidates", "measures", "findings")}
    carried |= {"verdicts": screened.table("verdicts")}
    if "second" in accepted:
        carried |= {"second_verdicts": accepted["second"].table("verdicts")}
    judged_by, threshold = limits(study.audits, indexed.facts["embedder"])
    facts = {
        "study": study.study,
        "study_hash": _unplaced(study).section_hash(
            "corpus",
            "chunking",
            "embedding",
            "retrieval",
            "seeds",
            "checklist",
            "taxonomy",
            "writing",
            "audits",
            "screen",
        ),
        "suites": audited.facts["suites"],
        "embedder": indexed.facts["embedder"],
        "index": indexed.facts["fingerprint"],
        "semantic_threshold": threshold,
    }
    if "second" in accepted:
        facts |= {"second_screener": study.screen.second_endpoint, "screen_agreement": accepted["agreement"]}
    if over is not None:
        facts |= {"parent": over.facts["parent"]}
    if "prompt" in topics.facts:
        facts |= {"taxonomy_prompt": topics.facts["prompt"]}
    depends = {
        "read": passages.key,
        "audit": audited.key,
        "screen": screened.key,
        "topics": topics.key,
        "per_subtopic": study.writing.per_subtopic,
        "suites_version": digest(folder_version(suites, pattern="final_bank.json"), contracts_version()),
        "facts": facts,
        "limits": judged_by,
    }
    inputs = {
        "topics": topics.table("topics"),
        "candidates": audited.table("candidates"),
        "findings": audited.table("findings"),
        "verdicts": screened.table("verdicts"),
        "carried": carried,
        "rejected_drafts": rejected_drafts,
        "suites": str(suites),
        "title": study.title,
    }
    if over is not None:
        inputs |= {"carried_over": over.table("candidates"), "refused": over.facts["refused"]}
    with Step("lock") as step:
        done = lock_bank(bench.shard("lock", "lock", depends, inputs))
        strata = ", ".join(f"{done.counts.get(s, 0)} {s}" for s in study.writing.per_subtopic)
        step.outcome = f"{done.counts['locked']} items locked ({strata})"
    if done.facts["itemless"]:
        say(f"    note: covered, but no item in that subtopic: {', '.join(done.facts['itemless'])}")
    return done
