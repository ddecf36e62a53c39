"""The one file that uses Prefect's harness: the whole study as flows and tasks, twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tasks import server, tally
from tests.flows.test_kill import prepare
from tests.stub_server import StubServer

server.quiet()


KEY = "planted-c41d77-06ab3e"


@pytest.fixture(scope="module")
def harness() -> Iterator[None]:
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=180):
        yield


def database() -> Path:
    """The file of the harness's own database."""
    from prefect.settings import PREFECT_SERVER_DATABASE_CONNECTION_URL

    return Path(str(PREFECT_SERVER_DATABASE_CONNECTION_URL.value()).split("///", 1)[1])


async def recorded() -> tuple[Counter[str], set[str]]:
    """States of the task runs the server knows of, and the keys of its artifacts."""
    from prefect.client.orchestration import get_client

    async with get_client() as client:
        runs = await client.read_task_runs(limit=200)
        artifacts = await client.read_artifacts()
    return Counter(str(run.state_name) for run in runs), {str(artifact.key) for artifact in artifacts}


@pytest.mark.usefixtures("harness")
def test_a_study_as_flows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flows.refresh_panel import refresh_panel
    from flows.request import StudyRequest
    from flows.run_study import run_study

    monkeypatch.setenv("PLANTED_KEY", KEY)
    with StubServer(key=KEY) as stub:
        study, results = prepare(tmp_path, stub.base_url)
        text = Path(study).read_text().replace("model: stub,", "model: stub, key_env: PLANTED_KEY,")
        Path(study).write_text(text)
        first: dict[str, Any] = run_study(StudyRequest(study=study, results=results))
        asked, embedded = stub.calls, tally.count("embeddings")
        assert asked == first["items"]
        assert Path(first["report"]).is_file()
        assert {row["endpoint"] for row in first["accuracy"]} == {"stub", "longest"}
        again: dict[str, Any] = run_study(StudyRequest(study=study, results=results))
        weekly: dict[str, Any] = refresh_panel(StudyRequest(study=study, results=results, retry_unresolved=True))
    assert again == first
    assert {name: first.get(name, weekly[name]) for name in weekly} == weekly
    assert (stub.calls, tally.count("embeddings")) == (asked, embedded), "an unchanged rerun pays nothing"
    states, artifacts = asyncio.run(recorded())
    assert states["Completed"] > 8
    assert set(states) <= {"Completed", "Cached"}
    assert {"tiny-funnel", "tiny-bank", "tiny-accuracy", "tiny-report", "study-asking-stub", "study-study"} <= artifacts
    files = [*database().parent.glob(f"{database().name}*"), *(p for p in tmp_path.rglob("*") if p.is_file())]
    assert database() in files
    assert [str(place) for place in files if KEY.encode() in place.read_bytes()] == [], "a key was written down"


@pytest.mark.usefixtures("harness")
def test_an_audit_as_a_flow_says_what_the_command_says(tmp_path: Path) -> None:
    from flows.audit_bank import audit_bank
    from flows.request import AuditRequest
    from tasks.audit_bank import audit_banks
    from tests.flows.test_audit_command import bank

    request = AuditRequest(file=bank(tmp_path, "Outside Bank.csv"), out=str(tmp_path / "flow"))
    done = audit_bank(request)
    direct = audit_banks(**request.model_copy(update={"out": str(tmp_path / "direct")}).model_dump())
    assert done["banks"][0]["headline"] == direct["banks"][0]["headline"]
    for table in ("findings", "measures", "funnel"):
        same = [(tmp_path / way / f"{table}.parquet").read_bytes() for way in ("flow", "direct")]
        assert same[0] == same[1], table
    _, artifacts = asyncio.run(recorded())
    parts = ("", "-funnel", "-findings-by-rule", "-cues", "-data-docs")
    assert {f"audit-outside-bank{part}" for part in parts} <= artifacts


@pytest.mark.usefixtures("harness")
def test_the_state_of_a_run_names_an_endpoint_that_is_incomplete() -> None:
    from prefect import flow

    from tasks.stages import ended

    @flow
    def inner(incomplete: dict[str, str]) -> Any:
        return ended({"rows": 3, "incomplete": incomplete}, incomplete)

    @flow
    def outer() -> Any:
        found = inner({"far": "incomplete, 3 rows unresolved: account closed"})
        return found["rows"]

    state = inner({"far": "incomplete, 3 rows unresolved: account closed"}, return_state=True)
    assert (state.name, state.is_completed()) == ("Incomplete", True)
    assert "far is incomplete, 3 rows unresolved: account closed" in str(state.message)
    assert inner({}, return_state=True).name == "Completed"
    assert outer() == 3, "who calls a flow gets its value"


@pytest.mark.usefixtures("harness")
def test_live_progress_is_one_artifact_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    from prefect import flow

    from tasks import artifacts
    from tasks.progress import bars

    monkeypatch.setattr(artifacts, "PROGRESS_EVERY", 0.2)

    @flow
    def asking() -> None:
        with artifacts.followed("tiny"):
            bars.start("asking far", 40)
            for _ in range(4):
                time.sleep(0.3)
                bars.advance("asking far", 10)

    asking()
    found = asyncio.run(progress_artifacts())
    assert [(key, data) for key, data, _ in found if key == "tiny-asking-far"] == [("tiny-asking-far", 100.0)]
    assert "asking far: 40 of 40" in {key: said for key, _, said in found}["tiny-asking-far"]


async def progress_artifacts() -> list[tuple[str, Any, str]]:
    from prefect.client.orchestration import get_client

    async with get_client() as client:
        found = await client.read_artifacts()
    return [(str(one.key), one.data, str(one.description)) for one in found if one.type == "progress"]


@pytest.mark.usefixtures("harness")
def test_spans_pass_when_the_user_has_set_up_opentelemetry() -> None:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from prefect import flow
    from prefect.settings import PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY, temporary_settings

    @flow(flow_run_name="a study · a stage")
    def traced() -> int:
        return 1

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    with temporary_settings({PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY: True}):
        assert traced() == 1
    found = exporter.get_finished_spans()
    assert [span.name for span in found] == ["a study · a stage"]


@pytest.mark.usefixtures("harness")
def test_sizing_as_a_flow(tmp_path: Path) -> None:
    from flows.request import StudyRequest
    from flows.size_benchmark import size_benchmark

    study, results = prepare(tmp_path, "http://127.0.0.1:1/v1")
    sizing = "sizing: {contrasts: [{name: plan, better: 0.1, worse: 0.025}], cap: 180}\n"
    Path(study).write_text(Path(study).read_text() + sizing)
    done: dict[str, Any] = size_benchmark(StudyRequest(study=study, results=results), 168)
    assert (done["items"], done["feasible"], done["binding"]) == (185, False, "plan: power")
    assert "power(184) = 0.7992" in (Path(done["folder"]) / "sizing.txt").read_text()
    _, artifacts = asyncio.run(recorded())
    assert {"tiny-sizing", "tiny-sizing-plan", "tiny-power-curves"} <= artifacts
