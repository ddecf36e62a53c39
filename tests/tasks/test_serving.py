"""What `stop` may end: processes by number and start, with real ones; state files that lie."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from examgen.errors import InputError, RunError
from tasks import serving, store
from tasks.processes import MARK, Process, end, marked, started

ROOT = Path(__file__).resolve().parents[2]
SLEEP = [sys.executable, "-c", "import time; time.sleep(120)"]


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(SLEEP) as child:
        yield child
        child.kill()


def note(home: Path, *processes: Process, mark: str = "m") -> None:
    state = serving.Serving(url="http://127.0.0.1:9/api", mark=mark, processes=processes)
    store.write_json(home / "serving.json", state.model_dump(mode="json"))


def test_a_number_that_went_to_another_process_is_left_alone(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    stranger = Process(name="server", pid=sleeper.pid, started="12345")
    assert not stranger.alive
    note(tmp_path, stranger)
    assert serving.stop(tmp_path) == 0
    assert sleeper.poll() is None
    assert not (tmp_path / "serving.json").exists()
    assert serving.stop(tmp_path) == 0


def test_what_was_started_is_ended(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    ours = Process(name="worker", pid=sleeper.pid, started=started(sleeper.pid))
    assert ours.alive
    note(tmp_path, ours)
    assert serving.stop(tmp_path) == 1
    assert sleeper.wait(timeout=10) < 0
    assert started(sleeper.pid) == ""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux tells the environment of a process")
def test_children_are_found_by_their_mark_when_their_parent_is_gone(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    parent = f"import subprocess, sys; subprocess.Popen({SLEEP!r}, start_new_session=True)"
    subprocess.run([sys.executable, "-c", parent], env={**os.environ, MARK: f"{mark}.worker"}, check=True)
    orphans = marked(f"{mark}.worker")
    assert len(orphans) == 1
    note(tmp_path, mark=mark)
    assert serving.stop(tmp_path) == 1
    assert not orphans[0].alive


def test_a_process_that_ignores_the_request_is_killed() -> None:
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    words = f"import signal, time; {deaf}; print('up', flush=True); time.sleep(99)"
    with subprocess.Popen([sys.executable, "-c", words], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        end([Process(name="worker", pid=child.pid, started=started(child.pid))], patience=0.3)
        assert child.wait(timeout=10) == -9


def test_a_taken_port_and_a_file_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving.server, "configured", lambda: "")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"--port {port}: something listens there"):
            serving.serve(tmp_path, ROOT / "prefect.yaml", port)
    (tmp_path / "d.yaml").write_text("deployments: 3")
    with pytest.raises(InputError, match="work_pool"):
        serving.serve(tmp_path, tmp_path / "d.yaml", port)
    with pytest.raises(InputError, match="cannot be read"):
        serving.serve(tmp_path, tmp_path / "absent.yaml", port)
    monkeypatch.setattr(serving.server, "configured", lambda: "http://127.0.0.1:9/api")
    with pytest.raises(RunError, match="no Prefect server answers"):
        serving.serve(tmp_path, ROOT / "prefect.yaml", port)
    assert not (tmp_path / "serving.json").exists()
    assert serving.address(tmp_path) == ""


def test_the_deployments_are_whole() -> None:
    told = yaml.safe_load((ROOT / "prefect.yaml").read_text())
    names = {f"{entry['entrypoint'].rsplit('.', 1)[1]}/{entry['name']}" for entry in told["deployments"]}
    assert names >= {"run_study/ms-mri", "refresh_panel/weekly", "size_benchmark/sizing"}
    for entry in told["deployments"]:
        assert entry["tags"]
        assert entry["concurrency_limit"] == {"limit": 1, "collision_strategy": "ENQUEUE"}
        assert entry["work_pool"]["name"] == serving.POOL
        assert not any(schedule["active"] for schedule in entry.get("schedules", ()))
        assert (ROOT / entry["parameters"]["request"].get("study", "prefect.yaml")).is_file()


@pytest.mark.parametrize("kind", ["docker", "kubernetes"])
def test_pool_templates_are_what_the_server_takes(kind: str) -> None:
    from prefect.server.schemas.actions import WorkPoolCreate
    from prefect.utilities.schema_tools.validation import is_valid_schema

    template = store.read_json(ROOT / "deploy" / f"{kind}-pool.json")
    is_valid_schema(template["variables"], preprocess=False)
    pool = WorkPoolCreate(name=f"examgen-{kind}", type=kind, base_job_template=template)
    assert pool.base_job_template["variables"]["properties"]["image"]["default"] == "examgen-flow:latest"
