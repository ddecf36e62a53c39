"""Asking the panel: endpoints side by side, each in shards; only what is missing is asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefect import flow

from examgen.answers import orders_of, pilot
from examgen.endpoints import panel_endpoints
from examgen.ids import digest
from examgen.records import BankItem
from examgen.study import Endpoint, Study
from examgen.tables import read_records
from flows.request import StudyRequest
from tasks import artifacts, store
from tasks.panel_stage import ask_panel, compact, endpoint_row, local_servers
from tasks.progress import Step, bars, say
from tasks.publishing import publish
from tasks.stages import Done, Shard, forget, make_shard, run_shards
from tasks.workplace import Workplace


@flow(name="evaluate-panel", flow_run_name="{request.name} · evaluate")
def evaluate_panel(request: StudyRequest) -> dict[str, Any]:
    """Ask every endpoint of the panel about the latest bank; returns the evaluation's id, folder and rows."""
    with artifacts.followed(request.name):
        study = request.load()
        place = Workplace(request.results, study.study)
        with place.alone(), bars:
            return _evaluate(study, place, request.retry_unresolved)


def _evaluate(study: Study, place: Workplace, retry: bool) -> dict[str, Any]:
    bank = Path(place.latest("bank")["folder"])
    items = read_records(str(bank / "bank.parquet"), BankItem)
    writers = store.read_manifest(bank)["writers"]
    endpoints = panel_endpoints(study)
    plain = {endpoint.id: _shards(study, place, bank, items, endpoint, "", retry) for endpoint in endpoints}
    for shard in (shard for shards in plain.values() for shard in shards if retry):
        earlier = shard.finished()
        if earlier and earlier.counts["unresolved"]:
            forget(shard)
    pending = [e for e in endpoints if e.kind == "local" and any(s.finished() is None for s in plain[e.id])]
    with Step("evaluate") as step, local_servers(pending) as servers:
        shards: list[Shard] = []
        for endpoint in endpoints:
            address = servers.get(endpoint.id, {}).get("base_url", "")
            mine = _shards(study, place, bank, items, endpoint, address, retry) if address else plain[endpoint.id]
            bars.start(f"asking {endpoint.id}", sum(len(s.inputs["item_ids"]) for s in mine if s.finished() is None))
            shards += mine
        done = run_shards(ask_panel, shards, lane=lambda shard: str(shard.inputs["endpoint"]["id"]))
        by_endpoint = _by_endpoint(shards, done)
        rows = sum(d.counts["rows"] for d in done)
        step.outcome = f"{rows} responses of {len(endpoints)} endpoints to {len(items)} items"
    for endpoint in endpoints:
        if not all(d.facts["complete"] for d in by_endpoint[endpoint.id]):
            reasons = {d.facts["stopped"] or "some items are unresolved" for d in by_endpoint[endpoint.id]}
            why = "; ".join(sorted(reasons))
            say(f"    note: {endpoint.id} is incomplete ({why}); go on: examgen evaluate STUDY --retry-unresolved")
    runtimes = _runtimes(place, servers)
    described = [endpoint_row(study, e, writers, runtimes.get(e.id, ""), by_endpoint[e.id]) for e in endpoints]
    return _compact(study, place, bank, described, by_endpoint)


def _runtimes(place: Workplace, servers: dict[str, dict[str, str]]) -> dict[str, str]:
    """Runtime tags of local endpoints: of this run, or of the run that got the replies."""
    note = place.root / "runtimes.json"
    known: dict[str, str] = store.read_json(note) if note.is_file() else {}
    known.update({name: about["runtime"] for name, about in servers.items()})
    if servers:
        store.write_json(note, known)
    return known


def _shards(
    study: Study, place: Workplace, bank: Path, items: Sequence[BankItem], endpoint: Endpoint, address: str, retry: bool
) -> list[Shard]:
    """Endpoint × order × repeat × slice of items, and once more without stems if the study asks for that."""
    panel = study.panel
    widest = max((len(item.options) for item in items), default=4)
    whole = [item.item_id for item in items]
    few = pilot(items, panel.pilot_items) if panel.order_scope == "pilot" else whole
    shards = []
    for no_stem in (False, True) if panel.no_stem else (False,):
        for order in orders_of(widest, 1 if no_stem else panel.orders):
            asked = whole if order == 0 else few
            for repeat in range(1 if no_stem else panel.repeats):
                for start in range(0, len(asked), panel.shard_items):
                    part = asked[start : start + panel.shard_items]
                    shards.append(_shard(study, place, bank, endpoint, address, part, order, repeat, no_stem, retry))
    return shards


def _shard(
    study: Study,
    place: Workplace,
    bank: Path,
    endpoint: Endpoint,
    address: str,
    item_ids: Sequence[str],
    order: int,
    repeat: int,
    no_stem: bool,
    retry: bool,
) -> Shard:
    depends = {
        "bank": bank.name,
        "item_ids": list(item_ids),
        "endpoint": endpoint.model_dump(mode="json"),
        "panel": study.panel.model_dump(mode="json", exclude={"endpoints", "shard_items", "pilot_items", "nested"}),
        "order": order,
        "repeat": repeat,
        "no_stem": no_stem,
        "embedding": study.embedding.model_dump(mode="json") if endpoint.kind == "baseline" else {},
    }
    inputs = {
        "bank": str(bank / "bank.parquet"),
        "chunks": str(bank / "chunks.parquet"),
        "embeddings": str(place.root / "embeddings"),
        "embedding": study.embedding.model_dump(mode="json"),
        "panel": study.panel.model_dump(mode="json"),
        "base_urls": {endpoint.id: address} if address else {},
        "journals": str(place.replies),
        "budget": study.budget,
        "retry_unresolved": retry,
    }
    label = f"{study.study} · {endpoint.id} · order {order} · items {item_ids[0][:6]}…"
    return make_shard(study.study, "panel", label, place.work, depends, inputs)


def _by_endpoint(shards: Sequence[Shard], done: Sequence[Done]) -> dict[str, list[Done]]:
    found: dict[str, list[Done]] = {}
    for shard, result in zip(shards, done, strict=True):
        found.setdefault(shard.inputs["endpoint"]["id"], []).append(result)
    return found


def _compact(
    study: Study, place: Workplace, bank: Path, described: Sequence[Any], by_endpoint: dict[str, list[Done]]
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
    }
    done = compact(make_shard(study.study, "compact", f"{study.study} · compact", place.work, depends, inputs))
    evaluation_id = digest("evaluation", done.key)
    folder = publish(done, place.evaluations / evaluation_id)
    place.point("evaluation", {"evaluation_id": evaluation_id, "folder": str(folder), "bank": str(bank)})
    return {"evaluation_id": evaluation_id, "folder": str(folder), "rows": done.counts["rows"]}
