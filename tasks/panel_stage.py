"""The panel: one endpoint, one order, one repeat, a slice of the items a shard; replies are journalled outside it."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from examgen import study, tables
from examgen.endpoints import manifest_row, role_of
from examgen.records import Call, EndpointRow, Response
from examgen.study import Endpoint, Study
from tasks import store, tally
from tasks.evaluation_folder import NOTE, response_path
from tasks.keys import public_address
from tasks.ledger import calls_of, journals
from tasks.local_server import LocalServer
from tasks.panel import PanelContext, evaluate_shard
from tasks.progress import bars
from tasks.stages import Done, Shard, stage

RESPONSE_KEY = ("item_id", "endpoint_id", "order", "repeat", "mode")


@stage("panel", "examgen.answers", "examgen.baselines", elsewhere=True)
def ask_panel(shard: Shard, folder: Path) -> dict[str, Any]:
    """Responses of one shard. What was answered before stands in the journals and is not asked again."""
    asked = shard.inputs
    endpoint = Endpoint.model_validate(asked["endpoint"])
    context = PanelContext(
        panel=study.Panel.model_validate(asked["panel"]),
        base_urls=asked["base_urls"],
        journals=asked["journals"],
        chunks=asked["chunks"],
        vectors=asked["embeddings"],
        embedding=study.Embedding.model_validate(asked["embedding"]),
        budget=asked["budget"],
        no_stem=asked["no_stem"],
        retry_unresolved=asked["retry_unresolved"],
        starts=asked["starts"],
    )
    report = evaluate_shard(
        asked["bank"],
        asked["item_ids"],
        endpoint,
        asked["order"],
        asked["repeat"],
        str(folder / "responses.parquet"),
        context=context,
        progress=lambda n: bars.advance(f"asking {endpoint.id}", n),
    )
    tally.add("model calls", report.asked)
    counts = {"rows": report.rows, "asked": report.asked, "unresolved": report.account.statuses.get("unresolved", 0)}
    facts = {"complete": report.complete, "stopped": report.stopped, "capabilities": report.capabilities}
    return {"counts": counts, "facts": facts}


@contextlib.contextmanager
def local_servers(endpoints: Sequence[Endpoint], context: int = 2048) -> Iterator[dict[str, dict[str, str]]]:
    """Servers of the local endpoints while the block runs: address and runtime tag by endpoint id. `context` is in
    tokens a slot."""
    with contextlib.ExitStack() as stack:
        found = {}
        for endpoint in endpoints:
            server = stack.enter_context(LocalServer(endpoint.model, endpoint.slots, context))
            found[endpoint.id] = {"base_url": server.base_url, "runtime": server.runtime}
        yield found


def endpoint_row(
    whole: Study, endpoint: Endpoint, writers: Sequence[str], runtime: str, done: Sequence[Done]
) -> EndpointRow:
    """The manifest row of an endpoint as it was used, over all its shards."""
    stopped = [d.facts["stopped"] for d in done if d.facts["stopped"]]
    found = [d.facts["capabilities"] for d in done if d.facts["capabilities"]]
    address = {"baseline": "in process", "local": "loopback"}.get(endpoint.kind, public_address(endpoint.base_url))
    return manifest_row(
        endpoint,
        role_of(endpoint, whole, writers),
        runtime=runtime,
        capabilities=found[-1] if found else "",
        base_url=address,
        complete=all(d.facts["complete"] for d in done),
        note="; ".join(dict.fromkeys(stopped)),
    )


@stage("compact")
def compact(shard: Shard, folder: Path) -> dict[str, Any]:
    """The evaluation folder: responses by endpoint, the endpoints, every call; each row there once."""
    counts: Counter[str] = Counter()
    for endpoint_id, paths in shard.inputs["responses"].items():
        rows = [row for path in paths for row in tables.read_records(path, Response)]
        rows.sort(key=lambda row: (row.item_id, row.order, row.repeat, row.mode))
        keys = Counter(tuple(getattr(row, name) for name in RESPONSE_KEY) for row in rows)
        twice = [key for key, number in keys.items() if number > 1]
        wanted = shard.inputs["expected"][endpoint_id]
        if twice or len(rows) != wanted:
            raise tables.TableError(
                f"endpoint {endpoint_id}: {len(rows)} responses of {wanted}, {len(twice)} of them twice"
            )
        store.write(response_path(folder, endpoint_id), "responses", rows)
        counts["rows"] += len(rows)
        counts.update(str(row.status) for row in rows)
    store.write(
        folder / "endpoints.parquet", "endpoints", [EndpointRow.model_validate(r) for r in shard.inputs["endpoints"]]
    )
    store.write_json(folder / NOTE, shard.inputs["note"])
    calls: list[Call] = [call for place in journals(Path(shard.inputs["journals"])) for call in calls_of(place)]
    store.write(folder / "calls.parquet", "calls", calls)
    return {"counts": {**counts, "calls": len(calls)}}
