"""From serve to stop: a scheduled run fires, a worker does it, the tables are there, the UI shows it, nothing stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from examgen.tables import read_rows
from tasks.server import free_port
from tasks.workplace import Workplace
from tests.browser import Browser, binary
from tests.flows.test_kill import ROOT, prepare
from tests.stub_server import StubServer

KEY = "planted-5d20c7-e91a44"
RUN_NAME = "study · whole study"
EVERY = 20
"""Seconds of the schedule: short, so that the next run is under way when everything is stopped."""


def examgen(*words: str, key: str = KEY) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "PREFECT_API_URL"}
    environment |= {"PYTHONPATH": str(ROOT), "STUB_KEY": key}
    return subprocess.run(
        [sys.executable, "-m", "flows.command_line", *words],
        capture_output=True, text=True, cwd=ROOT, env=environment, timeout=280, check=False,
    )


def asked(url: str, path: str, body: dict[str, Any]) -> Any:
    """The reply of the server's API to a POST."""
    request = urllib.request.Request(
        f"{url}/api/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.load(reply)


def deployments(place: Path, study: str, results: str) -> Path:
    """The project's own deployment of a whole study, for another study and with a schedule."""
    told = yaml.safe_load((ROOT / "prefect.yaml").read_text())
    chosen = next(d for d in told["deployments"] if d["entrypoint"] == "flows.run_study.run_study")
    chosen["parameters"]["request"] |= {"study": study, "results": results}
    chosen["schedules"] = [{"interval": EVERY, "slug": "often"}]
    place.write_text(yaml.safe_dump({**told, "deployments": [chosen]}))
    return place


def holders(home: Path) -> list[str]:
    """Processes that run with the Prefect records of this folder: by their environment, not by our notes."""
    wanted = f"PREFECT_HOME={home}".encode()
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (place / "environ").read_bytes().split(b"\0"):
                found.append(f"{place.name} {(place / 'cmdline').read_bytes().replace(bytes(1), b' ').decode()}")
        except OSError:
            continue
    return found


@dataclass
class Served:
    """A server under way."""

    url: str
    results: Path
    deployments: Path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("serving")
    with StubServer(key=KEY) as stub:
        study, results = prepare(folder / "study", stub.base_url)
        text = Path(study).read_text().replace("model: stub,", "model: stub, key_env: STUB_KEY,")
        Path(study).write_text(text)
        file = deployments(folder / "deployments.yaml", study, results)
        port = free_port()
        try:
            done = examgen("serve", "--results", results, "--port", str(port), "--deployments", str(file))
            assert done.returncode == 0, done.stderr
            assert f"http://127.0.0.1:{port}" in done.stdout
            yield Served(f"http://127.0.0.1:{port}", Path(results), file)
        finally:
            examgen("stop", "--results", results)


def completed(url: str, seconds: float) -> dict[str, Any]:
    """The first scheduled flow run of the whole study that ended well; its failure is shown when it did not."""
    end = time.monotonic() + seconds
    runs: list[dict[str, Any]] = []
    while time.monotonic() < end:
        runs = [run for run in asked(url, "flow_runs/filter", {}) if run["name"] == RUN_NAME]
        for run in runs:
            assert run["state_type"] not in ("FAILED", "CRASHED"), run["state"]["message"]
            if run["state_type"] == "COMPLETED":
                return run
        time.sleep(1)
    raise AssertionError(f"no completed run: {[(run['name'], run['state_name']) for run in runs]}")


def second_run_stops(served: Served) -> None:
    """While the worker's run is under way, the same study from the command line ends with one line."""
    end = time.monotonic() + 200
    while not (served.results / "tiny" / ".holder").exists() and time.monotonic() < end:
        time.sleep(0.2)
    study = served.results.parent / "study.yaml"
    done = examgen("build", str(study), "--results", str(served.results))
    assert done.returncode == 1
    assert "is running this study: wait for it, or stop it" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.timeout(600)
def test_a_scheduled_run_fires_and_is_shown(served: Served) -> None:
    second_run_stops(served)
    run = completed(served.url, 240)
    assert run["auto_scheduled"]
    assert run["deployment_id"]
    assert set(run["tags"]) >= {"examgen", "study"}
    bank = Workplace(served.results, "tiny").latest("bank")
    assert len(read_rows(f"{bank['folder']}/bank.parquet")) == bank["items"] > 0
    report = Workplace(served.results, "tiny").pointer("report") or {}
    assert Path(report["report"]).is_file()

    again = examgen(
        "serve", "--results", str(served.results), "--port", str(free_port()), "--deployments", str(served.deployments)
    )
    assert again.returncode == 0
    assert served.url in again.stderr + again.stdout
    assert "Already running" in again.stderr


@pytest.mark.timeout(200)
@pytest.mark.skipif(not binary(), reason="no chromium on this machine: the UI is not looked at")
def test_the_ui_shows_the_run_and_calls_nobody(served: Served) -> None:
    with Browser() as page:
        page.open(f"{served.url}/", until="Dashboard")
        assert "/v2/" not in str(page.run("location.href"))
        text = page.open(f"{served.url}/runs", until=RUN_NAME)
        assert RUN_NAME in text
        assert "tiny · build" in text or "study · build" in text
        assert page.outside == set(), "the UI called somebody outside"


@pytest.mark.timeout(300)
def test_stopped_without_a_trace_of_processes_or_keys(served: Served) -> None:
    home = served.results / ".prefect"
    assert holders(home)
    done = examgen("stop", "--results", str(served.results))
    assert done.returncode == 0, done.stderr
    assert "Stopped" in done.stdout
    assert holders(home) == []
    assert not (home / "serving.json").exists()
    assert "Nothing was running" in examgen("stop", "--results", str(served.results)).stdout
    files = [place for place in served.results.rglob("*") if place.is_file()]
    assert any(place.name == "prefect.db" for place in files)
    assert [str(place) for place in files if KEY.encode() in place.read_bytes()] == []
