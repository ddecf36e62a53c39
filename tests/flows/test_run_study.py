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
    assert again == first
    assert (stub.calls, tally.count("embeddings")) == (asked, embedded), "an unchanged rerun pays nothing"
    states, artifacts = asyncio.run(recorded())
    assert states["Completed"] > 8
    assert set(states) <= {"Completed", "Cached"}
    assert {"tiny-funnel", "tiny-bank", "tiny-accuracy", "tiny-report", "study-study"} <= artifacts
    files = [*database().parent.glob(f"{database().name}*"), *(p for p in tmp_path.rglob("*") if p.is_file())]
    assert database() in files
    assert [str(place) for place in files if KEY.encode() in place.read_bytes()] == [], "a key was written down"


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
