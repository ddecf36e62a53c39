"""Many endpoints, all faults, killed on the way: is every row there once, and what was paid twice?

python -m benchmarks.panel_kills --items 3000 --endpoints 12 --kills 5
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.panel import ROOT, make_bank
from tests.stub_server import FAULTS as INJECTED

FAULTS = INJECTED[: INJECTED.index("wrong_type")]
"""The faults that pass with another try."""


def run_panel(bank: str, ids_file: str, url: str, endpoints: int, concurrency: int, out: str) -> None:
    """All endpoints side by side in this process, in shards of 200 items."""
    from examgen.study import Endpoint
    from tasks.panel import evaluate_shard

    names = json.loads(Path(ids_file).read_text())

    def one(number: int) -> None:
        endpoint = Endpoint(
            id=f"e{number}", base_url=url, model=f"m{number}", concurrency=concurrency, timeout=2.0, attempts=8
        )
        for start in range(0, len(names), 200):
            place = f"{out}/{endpoint.id}-{start}.parquet"
            report = evaluate_shard(bank, names[start : start + 200], endpoint, 0, 0, place)
            assert report.complete, report

    with ThreadPoolExecutor(endpoints) as pool:
        list(pool.map(one, range(endpoints)))


def _stats(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as handle:
        found: dict[str, Any] = json.load(handle)
    return found


def _rows(out: Path) -> list[tuple[Any, ...]]:
    from examgen import tables

    names = ("item_id", "endpoint_id", "raw", "choice", "status", "rule", "correct")
    return sorted(
        tuple(str(row[name]) for name in names) for path in out.glob("*.parquet") for row in tables.read_rows(str(path))
    )


def measure(
    folder: Path, asked: argparse.Namespace, bank: str, ids_file: Path, kills: int, rate: float
) -> dict[str, Any]:
    """One whole run against a server of its own; with `kills`, the client is killed that often at even distances."""
    place, out = folder / f"address-{kills}", folder / f"out-{kills}"
    out.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    settings = {"latency": 0.05, "hang_seconds": 4.0, "faults": {name: rate / len(FAULTS) for name in FAULTS}}
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.stub_server", str(place), json.dumps(settings)], cwd=ROOT, env=environment
    )
    try:
        while not place.exists():
            time.sleep(0.05)
        url, wanted = place.read_text(), asked.items * asked.endpoints
        command = [
            sys.executable,
            "-m",
            "benchmarks.panel_kills",
            "--bank",
            bank,
            "--ids",
            str(ids_file),
            "--url",
            url,
            "--out",
            str(out),
            "--endpoints",
            str(asked.endpoints),
            "--concurrency",
            str(asked.concurrency),
        ]
        for number in range(kills):
            child = subprocess.Popen(command, cwd=ROOT, env=environment)
            while _stats(url)["answered"] < wanted * (number + 1) / (kills + 1) and child.poll() is None:
                time.sleep(0.05)
            child.send_signal(signal.SIGKILL)
            child.wait()
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        return {"rows": _rows(out), "stats": _stats(url)}
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    """A clean run and a killed one with faults, compared."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("items", 300), ("endpoints", 12), ("kills", 5), ("concurrency", 8)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--faults", type=float, default=0.10, help="share of attempts that meet a fault")
    for name in ("bank", "ids", "url", "out"):
        parser.add_argument(f"--{name}", default="", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.url:
        run_panel(asked.bank, asked.ids, asked.url, asked.endpoints, asked.concurrency, asked.out)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bank, names = make_bank(folder, asked.items)
        ids_file = folder / "ids.json"
        ids_file.write_text(json.dumps(names))
        clean = measure(folder, asked, bank, ids_file, 0, 0.0)
        killed = measure(folder, asked, bank, ids_file, asked.kills, asked.faults)
        keys = {(row[0], row[1]) for row in killed["rows"]}
        faults = sum(count for fault, count in killed["stats"]["injected"].items() if fault)
        wanted = asked.items * asked.endpoints
        same = killed["rows"] == clean["rows"]
        print(f"rows {len(killed['rows'])} of {wanted}, distinct {len(keys)}, same table {same}")
        twice = killed["stats"]["answered"] - wanted
        most = asked.kills * asked.endpoints * asked.concurrency
        print(f"faults {faults} of {killed['stats']['calls']} calls")
        print(f"answered again after {asked.kills} kills: {twice} (in flight at most {most})")


if __name__ == "__main__":
    main()
