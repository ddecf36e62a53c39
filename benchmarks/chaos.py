"""Kill the worker, the server and the flow process at random moments, recover, and show that nothing is torn.

    python -m benchmarks.chaos [KILLS]

A Prefect server, a process worker and a stub endpoint on loopback, a deployment of a small study. The study is run once
undisturbed; then runs are started through the server while one of the three is killed with -9 at a random moment, KILLS
times (default 20), each brought back as an operator would. At the end a last run must complete; then the bank must be
that of the undisturbed run, byte for byte, every Parquet file readable, every manifest verified, and no reply paid for
more often than the kills explain. 20 kills take some 20 minutes on a quiet machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq

from tasks import server
from tasks.verification import verify_bank
from tests.flows.test_kill import IN_FLIGHT, contents, prepare
from tests.stub_server import StubServer

ROOT = Path(__file__).resolve().parents[1]
VICTIMS = ("flow", "server", "worker")
PATIENCE = 900.0
"""Seconds that a run or a service gets; far more than it needs."""

DEPLOYMENT = """\
name: chaos
pull: [{{prefect.deployments.steps.set_working_directory: {{directory: "{root}"}}}}]
deployments:
  - name: chaos
    entrypoint: flows.run_study.run_study
    parameters: {{request: {{study: "{study}", results: "{results}"}}}}
    work_pool: {{name: chaos}}
"""


class Site:
    """A server, a worker and a deployment, each of which can be killed and brought back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        port = server.free_port()
        self.url = f"http://127.0.0.1:{port}/api"
        self._environment = {
            **os.environ, **server.QUIET, **server.BATCHES,
            "PYTHONPATH": str(ROOT), "PREFECT_HOME": str(folder / "home"),
            "PREFECT_SERVER_API_HOST": "127.0.0.1", "PREFECT_SERVER_API_PORT": str(port), "PREFECT_API_URL": self.url,
            "PREFECT_WORKER_QUERY_SECONDS": "2",
        }  # fmt: skip
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def prefect(self, *words: str) -> None:
        """A command of Prefect, to its end."""
        log = (self._folder / "prefect.log").open("ab")
        subprocess.run(
            [sys.executable, "-m", "prefect", *words], env=self._environment, check=True, cwd=ROOT,
            stdout=log, stderr=log,
        )

    def start(self, name: str) -> None:
        """Start server or worker unless it runs; the server until it answers."""
        running = self._running.get(name)
        if running is not None and running.poll() is None:
            return
        words = {"server": ("server", "start"), "worker": ("worker", "start", "--pool", "chaos", "--type", "process")}
        with (self._folder / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                [sys.executable, "-m", "prefect", *words[name]], env=self._environment, cwd=ROOT,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        end = time.monotonic() + PATIENCE
        while name == "server" and time.monotonic() < end:
            with contextlib.suppress(urllib.error.URLError, OSError):
                self._ask("health")
                return
            time.sleep(0.5)

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """A request to the server, repeated while it has not found itself again after a kill."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return self._ask(path, body)
            except (urllib.error.URLError, OSError) as error:
                if getattr(error, "code", 503) < 500 or time.monotonic() > end:
                    raise
                time.sleep(1)

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/{path}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.loads(reply.read())

    def run(self) -> str:
        """Start a run of the deployment; its id."""
        deployment = self.ask("deployments/name/run-study/chaos")["id"]
        return str(self.ask(f"deployments/{deployment}/create_flow_run", {})["id"])

    def flows(self) -> list[psutil.Process]:
        """Flow processes of this site, also those whose worker is gone."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                words = process.cmdline()
                mine = process.environ().get("PREFECT_API_URL") == self.url
                if mine and any("engine" in word or "execute" in word for word in words[1:4]):
                    found.append(process)
        return found

    def kill(self, name: str) -> bool:
        """Kill one of the three with -9; False when there is no such process at this moment."""
        if name != "flow":
            os.kill(self._running[name].pid, signal.SIGKILL)
            self._running[name].wait()
            return True
        for process in self.flows():
            with contextlib.suppress(psutil.Error):
                process.kill()
                return True
        return False

    def close(self) -> None:
        """Stop everything of this site."""
        for process in self.flows():
            with contextlib.suppress(psutil.Error):
                process.kill()
        for name in ("worker", "server"):
            if name in self._running:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._running[name].pid, signal.SIGKILL)
                self._running[name].wait()


def waited(site: Site, run: str) -> str:
    """The state a run ends in."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        state = str(site.ask(f"flow_runs/{run}")["state"]["type"])
        if state in ("COMPLETED", "FAILED", "CRASHED", "CANCELLED"):
            return state
        time.sleep(1)
    return "UNFINISHED"


def undisturbed(site: Site) -> float:
    """Run to the end, with a try for each thing that a kill may have left in the way; seconds it took."""
    began = time.monotonic()
    for _ in range(4):
        while site.flows():  # one that outlived its worker holds the study
            time.sleep(1)
        site.start("server")
        site.start("worker")
        if waited(site, site.run()) == "COMPLETED":
            return time.monotonic() - began
    raise SystemExit("no run completed in four tries")


def disturb(site: Site, kills: int, whole: float, dice: random.Random, results: Path) -> tuple[Counter[str], int]:
    """Kill `kills` times at random moments of runs; what was killed how often, and how many runs had ended in between.

    After a run that ended, the next one starts from nothing, so that every kill meets work that is not done.
    """
    done: Counter[str] = Counter()
    run, whole_runs = "", 0
    order = [VICTIMS[number % len(VICTIMS)] for number in range(kills)]
    dice.shuffle(order)
    for number, victim in enumerate(order):
        if not site.flows():
            if run and site.ask(f"flow_runs/{run}")["state"]["type"] == "COMPLETED":
                shutil.rmtree(results)
                whole_runs += 1
            run = site.run()
        time.sleep(whole * dice.uniform(0.1, 0.9))
        end, again = time.monotonic() + PATIENCE, time.monotonic() + 5
        while victim == "flow" and not site.flows() and time.monotonic() < end:
            if time.monotonic() > again:  # the last one has ended, or went with its worker
                run = site.run()
                again = time.monotonic() + 60
            time.sleep(0.2)
        done[victim] += site.kill(victim)
        print(f"{number + 1:3d} of {kills}: {victim} killed", flush=True)
        time.sleep(dice.uniform(0, 3))
        site.start("server")
        site.start("worker")
    return done, whole_runs


def torn(results: Path) -> list[str]:
    """Parquet files that cannot be read and manifests that do not hold, outside temporary folders."""
    found = []
    for place in sorted(results.rglob("*.parquet")):
        if not any(part.startswith(".") for part in place.relative_to(results).parts):
            try:
                pq.read_table(place, partitioning=None)
            except (OSError, ValueError) as error:
                found.append(f"{place}: {error}")
    for place in sorted(results.glob("*/bank/*/bank.lock.json")):
        verify_bank(place.parent)
    return found


def main(kills: int) -> int:
    """Undisturbed, disturbed, compared."""
    dice = random.Random(20261130)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, StubServer(latency=0.2) as stub:
        folder = Path(name)
        site = Site(folder)
        try:
            site.start("server")
            site.prefect("work-pool", "create", "--type", "process", "chaos")
            site.start("worker")
            found, whole, whole_runs = {}, 0.0, 0
            for kind in ("whole", "killed"):
                study, results = prepare(folder / kind, stub.base_url)
                (folder / "deploy.yaml").write_text(DEPLOYMENT.format(root=ROOT, study=study, results=results))
                site.prefect("--no-prompt", "deploy", "--all", "--prefect-file", str(folder / "deploy.yaml"))
                before = stub.calls
                if kind == "killed":
                    killed, whole_runs = disturb(site, kills, whole, dice, Path(results))
                    print(f"killed: {dict(killed)}; runs that ended in between: {whole_runs}", flush=True)
                    undisturbed(site)
                else:
                    whole = undisturbed(site)
                    print(f"undisturbed: {whole:.0f} s", flush=True)
                found[kind] = (contents(results), stub.calls - before, torn(Path(results)))
        finally:
            site.close()
    (bank, needed, _), (other, paid, broken) = found["whole"], found["killed"]
    most = needed * (1 + whole_runs) + kills * IN_FLIGHT
    print(f"same bank, byte for byte: {bank == other}")
    print(f"files torn: {broken or 'none'}")
    print(f"calls: {needed} a run undisturbed, {paid} with {kills} kills (at most {most})")
    return 0 if bank == other and not broken and paid <= most else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
