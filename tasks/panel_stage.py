"""The panel: one endpoint, one order, one repeat, a slice of the items a shard; replies are journalled outside it."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from examgen import study
from examgen.endpoints import manifest_row, role_of
from examgen.records import EndpointRow
from examgen.study import Endpoint, Study
from tasks import compaction, store, tally
from tasks.evaluation_folder import NOTE, response_path
from tasks.keys import public_address
from tasks.ledger import journals
from tasks.local_server import LocalServer
from tasks.panel import PanelContext, evaluate_shard
from tasks.progress import Steps
from tasks.stages import Done, Shard, stage


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
    out = str(folder / "responses.parquet")
    with Steps(f"asking {endpoint.id}") as steps:
        report = evaluate_shard(
            asked["bank"], asked["item_ids"], endpoint, asked["order"], asked["repeat"], out,
            context=context, progress=steps,
        )  # fmt: skip
    tally.add("model calls", report.asked)
    counts = {"rows": report.rows, "asked": report.asked, "unresolved": report.account.statuses.get("unresolved", 0)}
    why = report.stopped or report.unresolved_because
    facts = {"complete": report.complete, "stopped": why, "capabilities": report.capabilities}
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


def why_incomplete(done: Sequence[Done]) -> str:
    """Why an endpoint's rows are not all settled, and how many are not; "" when they are."""
    open_rows = sum(d.counts["unresolved"] for d in done)
    if all(d.facts["complete"] for d in done):
        return ""
    reasons = dict.fromkeys(d.facts["stopped"] for d in done if d.facts["stopped"])
    return f"incomplete, {open_rows} rows unresolved: {'; '.join(reasons) or 'attempts were used up'}"


def endpoint_row(
    whole: Study, endpoint: Endpoint, writers: Sequence[str], runtime: str, done: Sequence[Done]
) -> EndpointRow:
    """The manifest row of an endpoint as it was used, over all its shards."""
    found = [d.facts["capabilities"] for d in done if d.facts["capabilities"]]
    address = {"baseline": "in process", "local": "loopback"}.get(endpoint.kind, public_address(endpoint.base_url))
    return manifest_row(
        endpoint,
        role_of(endpoint, whole, writers),
        runtime=runtime,
        capabilities=found[-1] if found else "",
        base_url=address,
        complete=all(d.facts["complete"] for d in done),
        note=why_incomplete(done),
    )


@stage("compact", "tasks.compaction")
def compact(shard: Shard, folder: Path) -> dict[str, Any]:
    """The evaluation folder: responses by endpoint, the endpoints, every call; each row there once."""
    counts: Counter[str] = Counter()
    for endpoint_id, paths in shard.inputs["responses"].items():
        place = response_path(folder, endpoint_id)
        statuses = compaction.compact_responses(paths, place, endpoint_id, shard.inputs["expected"][endpoint_id])
        counts["rows"] += statuses.total()
        counts.update(statuses)
    calls, reported = compaction.write_calls(journals(Path(shard.inputs["journals"])), folder / "calls.parquet")
    rows = []
    for row in map(EndpointRow.model_validate, shard.inputs["endpoints"]):
        named = "; ".join(sorted(reported.get((row.endpoint_id, row.model), ())))
        rows.append(row.model_copy(update={"reported": named}) if named else row)
    store.write(folder / "endpoints.parquet", "endpoints", rows)
    store.write_json(folder / NOTE, shard.inputs["note"])
    return {"counts": {**counts, "calls": calls}}
