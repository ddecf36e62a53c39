"""Asking the panel: endpoints side by side, each in shards; only what is missing is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefect import flow

from examgen.answers import PARSER_VERSION, orders_of
from examgen.endpoints import answering, panel_endpoints
from examgen.ids import digest
from examgen.records import BankItem
from examgen.study import Endpoint, Study
from examgen.tables import read_records
from flows.request import StudyRequest
from tasks import artifacts, runner, store
from tasks.arms import replies_digest
from tasks.panel_stage import ask_panel, compact, endpoint_row, local_servers, why_incomplete
from tasks.pilot_sample import pilot_sample
from tasks.progress import Step, bars, say
from tasks.publishing import publish
from tasks.run_record import recorded
from tasks.stages import Done, Shard, ended, forget, make_shard, run_shards
from tasks.workplace import Workplace


@flow(name="evaluate-panel", flow_run_name="{request.name} · evaluate")
def evaluate_panel(request: StudyRequest) -> dict[str, Any]:
    """Ask every endpoint of the panel about the latest bank; returns the evaluation's id, folder, rows, and the
    endpoints that are incomplete with the reason, which the state of the run names too."""
    with artifacts.followed(request.name):
        study = request.load()
        place = Workplace(request.results, study.study)
        with place.alone(), recorded(place, "evaluate-panel"), runner.using(study.runner), bars:
            done = _evaluate(study, place, request.retry_unresolved)
    return ended(done, done["incomplete"])


def _evaluate(study: Study, place: Workplace, retry: bool) -> dict[str, Any]:
    bank = Path(place.latest("bank")["folder"])
    items = read_records(str(bank / "bank.parquet"), BankItem)
    writers = store.read_manifest(bank)["writers"]
    endpoints = panel_endpoints(study)
    few, about = _few(study, place, bank, items)
    asked = Asking(study, place, bank, items, few, retry)
    plain: dict[str, list[Shard]] = {}
    for endpoint in endpoints:
        plain[endpoint.id] = asked.known(endpoint, plain)
    hosts = {e.asks or e.id for e in endpoints if e.kind == "local" and not _finished(plain[e.id])}
    by_endpoint: dict[str, list[Done]] = {}
    with Step("evaluate") as step, local_servers([study.endpoint(name) for name in sorted(hosts)]) as servers:
        for wave in _waves(endpoints):
            shards: list[Shard] = []
            for endpoint in wave:
                address = servers.get(endpoint.asks or endpoint.id, {}).get("base_url", "")
                mine = asked.shards(endpoint, address, by_endpoint.get(endpoint.after, []))
                left = sum(len(s.inputs["item_ids"]) for s in mine if s.finished() is None)
                bars.start(f"asking {endpoint.id}", left)
                shards += mine
            done = run_shards(ask_panel, shards, lane=_lane)
            for shard, result in zip(shards, done, strict=True):
                by_endpoint.setdefault(shard.inputs["endpoint"]["id"], []).append(result)
        rows = sum(d.counts["rows"] for done in by_endpoint.values() for d in done)
        step.outcome = f"{rows} responses of {len(endpoints)} endpoints to {len(items)} items"
    short = {e.id: why for e in endpoints if (why := why_incomplete(by_endpoint[e.id]))}
    for name, why in short.items():
        say(f"    note: {name} is {why}; go on: examgen evaluate STUDY --retry-unresolved")
    runtimes = _runtimes(place, servers)
    described = [
        endpoint_row(study, e, writers, runtimes.get(e.asks or e.id, ""), by_endpoint[e.id]) for e in endpoints
    ]
    return {**_compact(study, place, bank, described, by_endpoint, about), "incomplete": short}


def _lane(shard: Shard) -> str:
    """Shards of one endpoint go one after the other, for each fills its concurrency.

    On a cluster with a budget all that cost money do: each counts what was paid from the journals when it starts.
    """
    endpoint = shard.inputs["endpoint"]
    paid = endpoint["kind"] == "openai" and shard.inputs["budget"] is not None
    return "paid" if paid and runner.cluster() else str(endpoint["id"])


def _runtimes(place: Workplace, servers: dict[str, dict[str, str]]) -> dict[str, str]:
    """Runtime tags of local endpoints: of this run, or of the run that got the replies."""
    note = place.root / "runtimes.json"
    known: dict[str, str] = store.read_json(note) if note.is_file() else {}
    known.update({name: about["runtime"] for name, about in servers.items()})
    if servers:
        store.write_json(note, known)
    return known


def _finished(shards: Sequence[Shard]) -> bool:
    """Whether nothing is left to ask; an arm whose shards are not known yet waits for what it starts from."""
    return bool(shards) and all(shard.finished() is not None for shard in shards)


_UNASKED = ("allowed_models", "endpoints", "nested", "pilot_items", "shard_items")
"""Settings of the panel that no single question depends on."""


def _few(study: Study, place: Workplace, bank: Path, items: Sequence[BankItem]) -> tuple[Sequence[str], str]:
    """Items asked in more orders than the bank's own, and how they were chosen."""
    panel = study.panel
    if panel.orders == 1:
        return [], "asked in the bank's own order only"
    if panel.order_scope == "bank":
        return [item.item_id for item in items], "all items"
    few, about = pilot_sample(place, bank, items, panel.pilot_items)
    say(f"    option-order pilot: {about}")
    return few, about


def _waves(endpoints: Sequence[Endpoint]) -> list[list[Endpoint]]:
    """Endpoints that can be asked side by side: an arm after the wave of what it starts from."""
    waves: list[list[Endpoint]] = []
    place: dict[str, int] = {}
    for endpoint in endpoints:
        place[endpoint.id] = place[endpoint.after] + 1 if endpoint.after else 0
        waves += [[]] if place[endpoint.id] == len(waves) else []
        waves[place[endpoint.id]].append(endpoint)
    return waves


@dataclass(frozen=True)
class Asking:
    """What is asked of every endpoint: order × repeat × slice of items, and once more without stems if the study asks
    for that. An arm starts from finished shards of another endpoint, slice by slice, and always sees the question.
    `few` are the items asked in the other orders."""

    study: Study
    place: Workplace
    bank: Path
    items: Sequence[BankItem]
    few: Sequence[str]
    retry: bool

    def known(self, endpoint: Endpoint, others: dict[str, list[Shard]]) -> list[Shard]:
        """The shards as they can be told before anything is asked; none for an arm whose start is not there yet.

        With `retry`, what left items unresolved is dropped, to be asked again.
        """
        starts: list[Done] = []
        if endpoint.after:
            starts = [done for shard in others[endpoint.after] if (done := shard.finished())]
            if not others[endpoint.after] or len(starts) < len(others[endpoint.after]):
                return []
        found = self.shards(endpoint, "", starts)
        for shard in found if self.retry else ():
            earlier = shard.finished()
            if earlier and earlier.counts["unresolved"]:
                forget(shard)
        return found

    def shards(self, endpoint: Endpoint, address: str, starts: Sequence[Done]) -> list[Shard]:
        """All shards of an endpoint; `starts` are the finished shards of what an arm starts from, in their order."""
        panel = self.study.panel
        widest = max((len(item.options) for item in self.items), default=4)
        whole = [item.item_id for item in self.items]
        found: list[Shard] = []
        for no_stem in (False, True) if panel.no_stem and not endpoint.after else (False,):
            for order in orders_of(widest, 1 if no_stem else panel.orders):
                asked = whole if order == 0 else self.few
                for repeat in range(1 if no_stem else panel.repeats):
                    for first in range(0, len(asked), panel.shard_items):
                        part = asked[first : first + panel.shard_items]
                        start = starts[len(found)].table("responses") if endpoint.after else ""
                        found.append(self._shard(endpoint, address, part, order, repeat, no_stem, start))
        return found

    def _shard(
        self, endpoint: Endpoint, address: str, item_ids: Sequence[str], order: int, repeat: int, no_stem: bool,
        start: str,
    ) -> Shard:  # fmt: skip
        study, place = self.study, self.place
        whole = study.panel.model_dump(mode="json", exclude=set(_UNASKED))
        depends = {
            "bank": self.bank.name,
            "item_ids": list(item_ids),
            "endpoint": answering(endpoint),
            "panel": whole,
            "order": order,
            "repeat": repeat,
            "no_stem": no_stem,
            "embedding": study.embedding.model_dump(mode="json") if endpoint.kind == "baseline" else {},
            "start": replies_digest(start) if start else "",
        }
        inputs = {
            "endpoint": endpoint.model_dump(mode="json"),
            "bank": str(self.bank / "bank.parquet"),
            "chunks": str(self.bank / "chunks.parquet"),
            "embeddings": str(place.root / "embeddings"),
            "embedding": study.embedding.model_dump(mode="json"),
            "panel": study.panel.model_dump(mode="json"),
            "base_urls": {endpoint.id: address} if address else {},
            "journals": str(place.replies),
            "budget": study.budget,
            "retry_unresolved": self.retry,
            "starts": start,
        }
        label = f"{study.study} · {endpoint.id} · order {order} · items {item_ids[0][:6]}…"
        return make_shard(study.study, "panel", label, place.work, depends, inputs)


def _compact(
    study: Study,
    place: Workplace,
    bank: Path,
    described: Sequence[Any],
    by_endpoint: dict[str, list[Done]],
    orders_of_what: str,
) -> dict[str, Any]:
    depends = {
        "bank": bank.name,
        "shards": {name: [d.key for d in done] for name, done in by_endpoint.items()},
        "rows": {name: [d.counts for d in done] for name, done in by_endpoint.items()},
        "endpoints": [row.model_dump(mode="json") for row in described],
    }
    inputs = {
        "responses": {name: [d.table("responses") for d in done] for name, done in by_endpoint.items()},
        "expected": {name: sum(d.counts["rows"] for d in done) for name, done in by_endpoint.items()},
        "journals": str(place.replies),
        "note": {
            "bank": bank.name,
            "origin": "panel",
            "abstention": study.panel.abstention,
            "models": {
                "allowed": sorted(study.panel.allowed_models or {row.model for row in described}),
                "restricted": bool(study.panel.allowed_models),
            },
            "parser_version": PARSER_VERSION,
            "option_orders": orders_of_what,
        },
    }
    done = compact(make_shard(study.study, "compact", f"{study.study} · compact", place.work, depends, inputs))
    evaluation_id = digest("evaluation", done.key)
    folder = publish(done, place.evaluations / evaluation_id)
    place.point("evaluation", {"evaluation_id": evaluation_id, "folder": str(folder), "bank": str(bank)})
    return {"evaluation_id": evaluation_id, "folder": str(folder), "rows": done.counts["rows"]}
