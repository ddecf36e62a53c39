"""What Prefect adds to an evaluation: the same panel with the flow under Prefect and without, in one run.

    python -m benchmarks.prefect_share --items 3058 --endpoints 12 --latency 50

A Prefect server runs already and the stub server is warm; both ways ask every item of every endpoint, each into results
of its own, in turns. Printed: seconds and processor seconds of each way, Prefect's share, and by how much the server's
database grew. The stub server is a process of its own, so is the Prefect server; both are counted in wall time only.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.panel import ROOT, make_bank

SETTLES = 3.0
"""Seconds after which the server has written what it was told."""

STUDY = """\
study: share
corpus: {{folder: docs}}
seeds: [none]
endpoints:
{endpoints}
"""


def prepare(folder: Path, bank: Path, url: str, endpoints: int, concurrency: int) -> Path:
    """A study with a bank that is locked already; returns the study file. The results lie beside it."""
    lines = [
        f'  - {{id: e{number}, base_url: "{url}", model: m{number}, concurrency: {concurrency}}}'
        for number in range(endpoints)
    ]
    (folder / "docs").mkdir(parents=True)
    study = folder / "study.yaml"
    study.write_text(STUDY.format(endpoints="\n".join(lines)))
    place = folder / "results" / "share" / "bank" / "bench"
    place.mkdir(parents=True)
    (place / "bank.parquet").write_bytes(bank.read_bytes())
    (place / "bank.lock.json").write_text(json.dumps({"bank_id": "bench", "writers": ["benchmark"]}))
    (place.parent.parent / "latest_bank.json").write_text(json.dumps({"bank_id": "bench", "folder": str(place)}))
    return study


def _evaluate(way: str, study: Path) -> dict[str, Any]:
    """One way in this process; the flow's result."""
    from flows.request import StudyRequest
    from tasks import server

    server.quiet()
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "ERROR")
    from flows.evaluate_panel import evaluate_panel
    from tests.without_prefect import direct, evaluate

    request = StudyRequest(study=str(study), results=str(study.parent / "results"))
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    if way == "without":
        with direct(side_by_side=True):
            done = evaluate(request)
    else:
        done = evaluate_panel(request)
        from prefect.events.worker import EventsWorker
        from prefect.logging.handlers import APILogHandler

        APILogHandler().flush()
        EventsWorker.drain_all()
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"rows": done["rows"], "seconds": time.perf_counter() - start, "cpu": cpu, "incomplete": done["incomplete"]}


def _one(way: str, study: Path, environment: dict[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.prefect_share", "--way", way, "--study", str(study)]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{way} failed:\n{done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _database(home: Path) -> float:
    """Megabytes of pages in the server's database, those in its log of writes included."""
    time.sleep(SETTLES)
    with contextlib.closing(sqlite3.connect(f"file:{home / 'prefect.db'}?mode=ro", uri=True)) as database:
        pages, size = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return float(pages * size / 1e6)


def main() -> None:
    """Both ways in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("items", 3058), ("endpoints", 12), ("concurrency", 8), ("rounds", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--latency", type=float, default=50.0, help="milliseconds")
    parser.add_argument("--way", default="", help=argparse.SUPPRESS)
    parser.add_argument("--study", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.way:
        print(json.dumps(_evaluate(asked.way, asked.study)))
        return
    from tasks import server

    server.quiet()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_bank(folder, asked.items)
        address = folder / "address"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        settings = json.dumps({"latency": asked.latency / 1000})
        command = [sys.executable, "-m", "tests.stub_server", str(address), settings]
        stub = subprocess.Popen(command, cwd=ROOT, env=environment)
        try:
            while not address.exists():
                time.sleep(0.05)
            with server.available(folder / "home") as api:
                environment |= {"PREFECT_API_URL": api, "PREFECT_HOME": str(folder / "home")}
                _rounds(asked, folder, address.read_text(), environment)
        finally:
            stub.terminate()
            stub.wait()


def _rounds(asked: argparse.Namespace, folder: Path, url: str, environment: dict[str, str]) -> None:
    best: dict[str, dict[str, Any]] = {}
    grown = 0.0
    for number in range(asked.rounds):
        for way in ("without", "with"):
            study = prepare(
                folder / f"{way}-{number}", folder / "bank.parquet", url, asked.endpoints, asked.concurrency
            )
            before = _database(folder / "home")
            found = _one(way, study, environment)
            assert found["rows"] == asked.items * asked.endpoints, found
            assert not found["incomplete"], found
            grown = _database(folder / "home") - before if way == "with" else grown
            said = f"{found['rows']} rows in {found['seconds']:.1f} s, {found['cpu']:.1f} CPU s"
            print(f"{way:<8} Prefect: {said}", flush=True)
            if way not in best or found["seconds"] < best[way]["seconds"]:
                best[way] = found
    share = best["with"]["seconds"] / best["without"]["seconds"] - 1
    cpu = best["with"]["cpu"] / best["without"]["cpu"] - 1
    print(f"Prefect adds {share:.1%} of the time and {cpu:.1%} of this process's CPU; its database grew {grown:.1f} MB")


if __name__ == "__main__":
    main()
