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


@pytest.fixture(scope="module")
def harness() -> Iterator[None]:
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=180):
        yield


async def recorded() -> tuple[Counter[str], set[str]]:
    """States of the task runs the server knows of, and the keys of its artifacts."""
    from prefect.client.orchestration import get_client

    async with get_client() as client:
        runs = await client.read_task_runs(limit=200)
        artifacts = await client.read_artifacts()
    return Counter(str(run.state_name) for run in runs), {str(artifact.key) for artifact in artifacts}


@pytest.mark.usefixtures("harness")
def test_a_study_as_flows(tmp_path: Path) -> None:
    from flows.request import StudyRequest
    from flows.run_study import run_study

    with StubServer() as stub:
        study, results = prepare(tmp_path, stub.base_url)
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
    assert {"tiny-funnel", "tiny-bank", "tiny-accuracy", "tiny-report"} <= artifacts


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
