"""A Prefect server, its deployments and a worker that stay until they are stopped: `examgen serve`, `examgen stop`."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict

from examgen.errors import InputError, RunError
from tasks import server, store
from tasks.processes import MARK, Process, end, marked, started
from tasks.progress import say

POOL = "examgen"
"""The work pool that our worker serves, of type process."""

WORKER_SECONDS = 90.0


class Serving(BaseModel):
    """What `serve` started: kept in a file, so that `stop` ends that and nothing else."""

    model_config = ConfigDict(frozen=True)

    url: str
    mark: str
    processes: tuple[Process, ...]

    @property
    def complete(self) -> bool:
        """Whether all of it still runs."""
        return bool(self.processes) and all(process.alive for process in self.processes)

    def of(self, name: str) -> list[Process]:
        """The server or the worker, if it still runs."""
        return [process for process in self.processes if process.name == name and process.alive]

    def below(self, name: str) -> list[Process]:
        """What the server or the worker has started: of the worker, the flow runs under way and their children."""
        known = {process.pid for process in self.processes}
        return [process for process in marked(f"{self.mark}.{name}") if process.pid not in known]


def _note(home: Path) -> Path:
    return home / "serving.json"


def _alone(home: Path) -> FileLock:
    return FileLock(home / ".serving.lock", timeout=0)


def read(home: Path) -> Serving | None:
    """What an earlier `serve` noted; None when nothing is noted."""
    place = _note(home)
    return Serving.model_validate(store.read_json(place)) if place.is_file() else None


def address(home: Path) -> str:
    """API address of the server that `serve` holds for these records; empty when it does not run."""
    found = read(home)
    if found and any(p.name == "server" and p.alive for p in found.processes) and server.healthy(found.url):
        return found.url
    return ""


def serve(home: Path, deployments: Path, port: int, database_url: str = "") -> Serving:
    """Start what is missing: server (unless one is configured), work pool, deployments, worker. Idempotent."""
    server.make_home(home)
    try:
        with _alone(home):
            earlier = read(home)
            if earlier and earlier.complete and server.healthy(earlier.url):
                say(f"Already running at {earlier.url.removesuffix('/api')}; `examgen stop` ends it.")
                return earlier
            if earlier:
                say("What an earlier `serve` left is cleared away first.")
                _clear(home, earlier)
            return _start(home, deployments, port, database_url)
    except Timeout as error:
        raise RunError(f"{home}: another `examgen serve` or `stop` is under way: wait for it") from error


def stop(home: Path) -> int:
    """End what `serve` started; returns how many processes that were."""
    if not _note(home).is_file():
        return 0
    try:
        with _alone(home):
            found = read(home)
            return _clear(home, found) if found else 0
    except Timeout as error:
        raise RunError(f"{home}: another `examgen serve` or `stop` is under way: wait for it") from error


def _clear(home: Path, serving: Serving) -> int:
    """Flow runs under way first, while the worker lives to report them crashed; then the worker, at last the server."""
    ended = 0
    for part in (
        lambda: serving.below("worker"),
        lambda: serving.of("worker"),
        lambda: serving.below("worker"),
        lambda: serving.of("server"),
        lambda: serving.below("server"),
    ):
        found = part()
        end(found)
        ended += len(found)
    _note(home).unlink(missing_ok=True)
    return ended


def _start(home: Path, deployments: Path, port: int, database_url: str) -> Serving:
    pools = _pools(deployments)
    mark = uuid.uuid4().hex
    url = server.configured()
    running: list[Process] = []
    try:
        if url:
            if not server.healthy(url):
                raise RunError(f"PREFECT_API_URL is {url}, where no Prefect server answers: start it, or unset it")
            say(f"Using the Prefect server of PREFECT_API_URL, {url}.")
        else:
            url = f"http://127.0.0.1:{port}/api"
            _start_server(home, port, mark, database_url, running)
        _remember(home, url, mark, running)
        environment = {**os.environ, "PREFECT_HOME": str(home), "PREFECT_API_URL": url, MARK: f"{mark}.worker"}
        _make_pools(url, pools)
        _deploy(deployments, environment)
        _start_worker(home, url, environment, running)
        return _remember(home, url, mark, running)
    except BaseException:
        _clear(home, Serving(url=url, mark=mark, processes=tuple(running)))
        raise


def _remember(home: Path, url: str, mark: str, running: Sequence[Process]) -> Serving:
    found = Serving(url=url, mark=mark, processes=tuple(running))
    store.write_json(_note(home), found.model_dump(mode="json"))
    return found


def _pools(deployments: Path) -> list[str]:
    """Names of the work pools of a deployments file; `InputError` when it is none."""
    try:
        told = yaml.safe_load(deployments.read_text(encoding="utf-8"))
        return sorted({entry["work_pool"]["name"] for entry in told["deployments"]})
    except OSError as error:
        raise InputError(f"{deployments}: cannot be read ({error.strerror}): name a deployments file") from error
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise InputError(f"{deployments}: no list `deployments`, each with a `work_pool` that has a `name`") from error


def _spawn(words: Sequence[str], log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with log.open("ab") as sink:
        return subprocess.Popen(
            [sys.executable, "-m", "prefect", *words],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            env=dict(environment),
            start_new_session=True,
        )


def _start_server(home: Path, port: int, mark: str, database_url: str, running: list[Process]) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise InputError(f"--port {port}: something listens there already: choose another port") from error
    environment = {**server.environment(home, port), MARK: f"{mark}.server"}
    if database_url:
        environment["PREFECT_SERVER_DATABASE_CONNECTION_URL"] = database_url
    say("  server       starting")
    log = home / "server.log"
    child = _spawn(["server", "start"], log, environment)
    running.append(Process(name="server", pid=child.pid, started=started(child.pid)))
    server.wait_healthy(f"http://127.0.0.1:{port}/api", child, log, 180.0)


def _make_pools(url: str, names: Sequence[str]) -> None:
    """Our own pool is made when it is missing; pools of other types are the operator's (`deploy/`)."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectNotFound
    from prefect.settings import PREFECT_API_URL, temporary_settings
    from prefect.workers.process import ProcessWorker

    with temporary_settings({PREFECT_API_URL: url}), get_client(sync_client=True) as client:
        for name in names:
            try:
                client.read_work_pool(name)
                continue
            except ObjectNotFound:
                pass
            if name != POOL:
                raise InputError(f"work pool {name!r} does not exist: create it first (`prefect work-pool create`)")
            template = ProcessWorker.get_default_base_job_template()
            client.create_work_pool(WorkPoolCreate(name=name, type="process", base_job_template=template))
    say(f"  work pool    {', '.join(names)}")


def _deploy(deployments: Path, environment: Mapping[str, str]) -> None:
    words = ["--no-prompt", "deploy", "--all", "--prefect-file", str(deployments.resolve())]
    done = subprocess.run(
        [sys.executable, "-m", "prefect", *words],
        capture_output=True,
        text=True,
        cwd=deployments.resolve().parent,
        env=dict(environment),
        check=False,
    )
    told: list[dict[str, Any]] = yaml.safe_load(deployments.read_text(encoding="utf-8"))["deployments"]
    if done.returncode:
        tail = " / ".join((done.stdout + done.stderr).strip().splitlines()[-4:])
        raise RunError(f"{deployments}: the deployments were not made: {tail}")
    say(f"  deployments  {', '.join(str(entry['name']) for entry in told)}")


def _start_worker(home: Path, url: str, environment: Mapping[str, str], running: list[Process]) -> None:
    """Start the worker and wait until the server has heard of it."""
    name = f"worker-{uuid.uuid4().hex[:8]}"
    words = ["worker", "start", "--pool", POOL, "--type", "process", "--name", name]
    child = _spawn(words, home / "worker.log", environment)
    running.append(Process(name="worker", pid=child.pid, started=started(child.pid)))
    end_of_patience = time.monotonic() + WORKER_SECONDS
    while time.monotonic() < end_of_patience and child.poll() is None:
        if name in _workers(url):
            say(f"  worker       serving the pool {POOL}")
            return
        time.sleep(0.5)
    raise RunError(f"the worker did not start: see {home / 'worker.log'}")


def _workers(url: str) -> set[str]:
    from prefect.client.orchestration import get_client
    from prefect.settings import PREFECT_API_URL, temporary_settings

    with temporary_settings({PREFECT_API_URL: url}), get_client(sync_client=True) as client:
        return {worker.name for worker in client.read_workers_for_work_pool(POOL)}
