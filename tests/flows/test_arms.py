"""Nested configurations through the flows: asked in turn, run again for nothing, told apart in tables and costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from examgen.tables import read_rows
from flows import calibrate_results, evaluate_panel
from flows.request import StudyRequest
from tests.flows.test_kill import prepare
from tests.stub_server import StubServer, share
from tests.without_prefect import build, direct

ARMS = """\
  - {id: vote, kind: arm, after: stub, step: vote, samples: 2, temperature: 0.7}
  - {id: verifier, kind: arm, after: vote}
panel: {shard_items: 5, no_stem: true}
"""


def reply(body: dict[str, Any]) -> str:
    """A letter by the prompt, another for each temperature."""
    return "ABCD"[int(share("arm", json.dumps(body["messages"]), body["temperature"]) * 4)]


def test_nested_configurations_from_the_study_to_the_increments(tmp_path: Path) -> None:
    with StubServer(reply=reply) as stub, direct():
        study, results = prepare(tmp_path, stub.base_url)
        text = Path(study).read_text().replace("panel: {shard_items: 5}\n", ARMS)
        Path(study).write_text(text.replace("model: stub,", "model: stub, price_in: 1.0, price_out: 1.0,"))
        items = build(study, results)["items"]
        request = StudyRequest(study=study, results=results)
        found = evaluate_panel.evaluate_panel.fn(request)
        assert stub.calls == items * (2 + 2 + 1), "backbone with and without the stem, two samples, one check"
        again = evaluate_panel.evaluate_panel.fn(request)
        assert (again, stub.calls) == (found, items * 5)
        tables = Path(calibrate_results.calibrate_results.fn(request)["folder"])
    endpoints = {row["endpoint_id"]: row for row in read_rows(f"{found['folder']}/endpoints.parquet")}
    assert [(row["role"], row["after"], row["step"]) for row in endpoints.values()] == [
        ("primary", "", ""), ("baseline", "", ""), ("arm", "stub", "vote"), ("arm", "vote", "verifier"),
    ]  # fmt: skip
    assert json.loads(endpoints["vote"]["decoding"])["samples"] == 2
    steps = read_rows(str(tables / "increments.parquet"))
    told = [(row["before"], row["after"]) for row in steps]
    assert told == [("stub", "vote"), ("vote", "verifier"), ("stub", "verifier")]
    assert {row["system"] for row in steps} == {"stub → vote → verifier"}
    for row in steps:
        assert row["after_right"] - row["before_right"] == row["fixed"] - row["broken"]
        assert len(row["fixed_items"]) == row["fixed"]
        assert row["cost_after"] > row["cost_before"] > 0
    assert [(row["calls_before"], row["calls_after"]) for row in steps] == [
        (items, 3 * items), (3 * items, 4 * items), (items, 4 * items),
    ]  # fmt: skip
    pairs = [r for r in read_rows(str(tables / "pair_comparisons.parquet")) if r["family"] == "nested configurations"]
    whole = {(row["first"], row["second"]) for row in pairs if row["axis"] == "overall"}
    assert whole == {("vote", "stub"), ("verifier", "vote"), ("verifier", "stub")}
    calls = read_rows(f"{found['folder']}/calls.parquet")
    assert sum(row["endpoint_id"] == "verifier" for row in calls) == items
