"""Writing, auditing and screening in rounds: where a subtopic is short of items, more are written, up to a bound."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

from examgen.endpoints import answering
from examgen.errors import RunError
from examgen.ids import digest
from examgen.records import Candidate, Retrieval, Stratum, Topic, Verdict
from examgen.screening_model import agreement
from examgen.study import Study
from examgen.tables import read_records
from flows.request import StudyRequest
from tasks import runner
from tasks.acceptance_stage import audit, screen, shortfall
from tasks.code_version import folder_version
from tasks.model_stage import keep_drafts, screen_by_model, write_items_by_model
from tasks.progress import Step, bars, say
from tasks.semantic_calibration import limits
from tasks.stages import Done, Shard, make_shard, run_shards
from tasks.workplace import PROJECT, Workplace, lexicons_folder, suites_folder
from tasks.writing_stage import write_items

Wanted = dict[str, dict[Stratum, int]]


@dataclass(frozen=True)
class Bench:
    """What every round works with: the study, its place, the shared inputs, the topics, local servers' addresses."""

    request: StudyRequest
    study: Study
    place: Workplace
    base: dict[str, Any]
    topics: Done
    addresses: dict[str, str]
    carried: Done | None = None

    def shard(self, stage: str, label: str, depends: dict[str, Any], inputs: dict[str, Any]) -> Shard:
        """A shard of a stage, with the inputs that all stages share."""
        name = f"{self.study.study} · {label}"
        return make_shard(self.study.study, stage, name, self.place.work, depends, {**self.base, **inputs})

    def asking(self, endpoint_id: str, prompt: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a model stage depends on of its endpoint and of the prompt files so named, and what it needs beside."""
        endpoint = self.study.endpoint(endpoint_id)
        prompts = PROJECT / "examgen" / "prompts"
        texts = [folder_version(prompts, pattern=pattern) for pattern in (f"{prompt}*.txt", "repair.txt")]
        depends = {"endpoint": answering(endpoint), "prompts": texts}
        inputs = {
            "endpoint": endpoint.model_dump(mode="json"),
            "base_urls": self.addresses,
            "journals": str(self.place.replies),
            "budget": self.study.budget,
            "language": self.study.language,
        }
        return depends, inputs


def accepted_items(bench: Bench) -> dict[str, Any]:
    """The last audit and screen, and all writing shards they rest on."""
    study = bench.study
    subtopics = read_records(bench.topics.table("topics"), Topic)
    target = study.writing.per_subtopic
    wanted: Wanted = {t.topic_id: _scaled(target, study.writing.surplus) for t in subtopics}
    if study.writing.method == "llm" and bench.carried is not None:
        wanted = _beside_carried(bench.carried, wanted, target, study.writing.surplus)
    carried = bench.carried.counts["carried"] if bench.carried is not None else 0
    written: list[Done] = []
    before = -1
    for number in range(1, study.writing.rounds + 1):
        if study.writing.method == "llm":
            written = written + _write_by_model(bench, wanted, number)
            nothing = not (carried or sum(done.counts["candidates"] for done in written))
            if nothing and number < study.writing.rounds:
                continue
            if nothing:
                _refuse_nothing(bench, written)
        else:
            written = _write_by_rules(bench, wanted)
        audited = _audit(bench, written)
        screened = _screen(bench, audited)
        missing = shortfall(audited, screened, subtopics, target)
        total = audited.counts["candidates"]
        exhausted = total == before and study.writing.method == "rules"
        if not missing or exhausted or number == study.writing.rounds:
            break
        before = total
        wanted = _next_wanted(wanted, missing, study.writing.surplus, study.writing.method == "llm")
    if missing:
        say(f"    note: the documents carry {sum(missing.values())} fewer items: see bank.lock.json, shortfalls")
    if study.screen.method == "llm" and study.screen.second_endpoint:
        return {"audit": audited, "screen": screened, "written": written, **_second_screen(bench, audited, screened)}
    return {"audit": audited, "screen": screened, "written": written}


def _refuse_nothing(bench: Bench, written: list[Done]) -> None:
    """A model that wrote no item at all ends the run, with every draft and its reason in a table."""
    place = bench.place.root / "rejected_drafts.parquet"
    reasons = keep_drafts([done.table("rejected_drafts") for done in written], place)
    said = "\n".join(f"  {line}" for line in reasons[:8])
    raise RunError(
        f"endpoint {bench.study.writing.endpoint}: no draft became an item; each with its reason is in {place}\n{said}"
    )


def _scaled(per_subtopic: dict[Stratum, int], surplus: float) -> dict[Stratum, int]:
    return {stratum: math.ceil(count * surplus) for stratum, count in per_subtopic.items()}


def _beside_carried(carried: Done, wanted: Wanted, target: dict[Stratum, int], surplus: float) -> Wanted:
    """A model is asked for what the items carried over leave open; if the audits refuse some, the next round asks."""
    have = Counter((c.topic_id, c.stratum) for c in read_records(carried.table("candidates"), Candidate))
    return {
        topic_id: {
            stratum: min(counts[stratum], math.ceil(max(0, count - have[topic_id, stratum]) * surplus))
            for stratum, count in target.items()
        }
        for topic_id, counts in wanted.items()
    }


def _next_wanted(wanted: Wanted, missing: dict[tuple[str, Stratum], int], surplus: float, anew: bool) -> Wanted:
    """A model is asked for what is missing; the rule-based writer, whose list only grows longer, for that many more."""
    found: Wanted = {topic_id: ({} if anew else dict(counts)) for topic_id, counts in wanted.items()}
    for (topic_id, stratum), short in missing.items():
        found[topic_id][stratum] = found[topic_id].get(stratum, 0) + math.ceil(short * surplus)
    return found


def _groups(bench: Bench, wanted: Wanted) -> dict[str, list[Topic]]:
    """The subtopics that want items, by topic: one shard each."""
    groups: dict[str, list[Topic]] = defaultdict(list)
    for subtopic in read_records(bench.topics.table("topics"), Topic):
        if any(wanted[subtopic.topic_id].values()):
            groups[subtopic.topic].append(subtopic)
    return groups


def _writing_depends(bench: Bench, topic: str, members: list[Topic], wanted: Wanted) -> dict[str, Any]:
    return {
        "retrieval": bench.study.retrieval.model_dump(mode="json"),
        "topics": [member.model_dump(mode="json") for member in members],
        "wanted": {member.topic_id: wanted[member.topic_id] for member in members},
        "batch": digest("batch", bench.study.study, topic),
    }


def _write_by_rules(bench: Bench, wanted: Wanted) -> list[Done]:
    lexicons = lexicons_folder(bench.study, bench.request.study)
    groups = _groups(bench, wanted)
    shards = []
    for topic, members in groups.items():
        depends = {**_writing_depends(bench, topic, members, wanted), "lexicons_version": folder_version(lexicons)}
        depends |= {"fingerprint": bench.base["fingerprint"]}  # near misses come from the whole corpus
        inputs = {"lexicons": str(lexicons), "retrievals": bench.topics.table("retrievals")}
        shards.append(bench.shard("write", f"write · {topic}", depends, inputs))
    bars.start("writing items", sum(map(len, groups.values())))
    with Step("write") as step:
        # One after the other: threads that only compute would wait for each other, and each would count the corpus.
        done = run_shards(write_items, shards, lane=None if runner.cluster() else lambda _: "rules")
        step.outcome = f"{sum(d.counts['candidates'] for d in done)} candidates over {len(groups)} topics"
    return done


def _write_by_model(bench: Bench, wanted: Wanted, attempt: int) -> list[Done]:
    """Shards one after the other: each fills the endpoint's concurrency by itself."""
    groups = _groups(bench, wanted)
    settings = bench.study.writing.model_dump(mode="json", include={"temperature", "repair_temperature", "repairs"})
    bars.start("writing items", sum(1 for counts in wanted.values() for count in counts.values() if count))
    found: dict[str, list[str]] = defaultdict(list)
    for row in read_records(bench.topics.table("retrievals"), Retrieval):
        found[row.query_id].append(row.chunk_id)
    with Step("write") as step:
        done = []
        for topic, members in groups.items():
            of_endpoint, inputs = bench.asking(bench.study.writing.endpoint, "item")
            depends = {**_writing_depends(bench, topic, members, wanted), **of_endpoint, "attempt": attempt}
            # A passage is named by its text: a change elsewhere in the corpus is none of this shard's business.
            near = {member.topic_id: found[member.topic_id] for member in members}
            depends |= {"writing": settings, "language": bench.study.language, "near": near}
            inputs |= {"retrievals": bench.topics.table("retrievals")}
            done.append(write_items_by_model(bench.shard("write-model", f"write {attempt} · {topic}", depends, inputs)))
        counts = sum((Counter(d.counts) for d in done), Counter())
        step.outcome = f"{counts['candidates']} candidates, {counts['rejected']} drafts without an item"
    return done


def _audit(bench: Bench, written: list[Done]) -> Done:
    suites = suites_folder(bench.study, bench.request.study)
    depends = {
        "written": [done.key for done in written],
        "audits": bench.study.audits.model_dump(mode="json"),
        "suites_version": folder_version(suites, pattern="item_*.json"),
        "fingerprint": bench.base["fingerprint"],
        "embedder": bench.base["embedder"],
        "limits": limits(bench.study.audits, bench.base["embedder"])[0],
    }
    inputs: dict[str, Any] = {"candidates": [done.table("candidates") for done in written], "suites": str(suites)}
    if bench.carried is not None:
        depends |= {"carried": bench.carried.key}
        inputs |= {"carried_over": bench.carried.table("candidates")}
    with Step("audit") as step:
        done = audit(bench.shard("audit", "audit", depends, inputs))
        step.outcome = f"{done.counts['accepted']} of {done.counts['candidates']} accepted by the suites"
    return done


def _screen(bench: Bench, audited: Done) -> Done:
    settings = bench.study.screen
    depends, inputs = _screening(bench, audited)
    with Step("screen") as step:
        if settings.method == "llm":
            done = _screen_by_model(bench, settings.endpoint, depends, inputs)
        else:
            done = screen(bench.shard("screen", "screen", depends, inputs))
        step.outcome = f"{done.counts['accepted']} of {done.counts['screened']} accepted by the screen"
    return done


def _screening(bench: Bench, audited: Done) -> tuple[dict[str, Any], dict[str, Any]]:
    """What any screen depends on, and the tables it reads."""
    depends: dict[str, Any] = {
        "audit": audited.key,
        "fingerprint": bench.base["fingerprint"],
        "context": bench.study.screen.context,
        "focused": bench.study.retrieval.focused,
    }
    return depends, {"candidates": audited.table("candidates"), "findings": audited.table("findings")}


def _screen_by_model(bench: Bench, endpoint_id: str, depends: dict[str, Any], inputs: dict[str, Any]) -> Done:
    of_endpoint, needs = bench.asking(endpoint_id, "screen")
    writing = bench.study.writing
    same = writing.method == "llm" and _family(bench.study, endpoint_id) == _family(bench.study, writing.endpoint)
    depends = {**depends, **of_endpoint, "family": "same-family" if same else "other-family"}
    return screen_by_model(bench.shard("screen-model", f"screen by {endpoint_id}", depends, {**inputs, **needs}))


def _family(study: Study, endpoint_id: str) -> str:
    endpoint = study.endpoint(endpoint_id)
    return endpoint.family or endpoint.model


def _second_screen(bench: Bench, audited: Done, first: Done) -> dict[str, Any]:
    """The second screener's verdicts on the same items and how far the two agree; the first one's verdicts decide."""
    with Step("screen 2") as step:
        second = _screen_by_model(bench, bench.study.screen.second_endpoint, *_screening(bench, audited))
        step.outcome = f"{second.counts['accepted']} of {second.counts['screened']} accepted by the second screener"
    one, two = (read_records(done.table("verdicts"), Verdict) for done in (first, second))
    found = agreement(one, two)
    kappa = "not estimable" if found["kappa"] is None else f"{found['kappa']:.2f}"
    share = "none" if found["agreement"] is None else f"{found['agreement']:.0%}"
    say(f"    note: two screeners agree on {share} of {found['n']} items (kappa {kappa})")
    return {"second": second, "agreement": found}
