"""Kill a whole run, server and all, at random points, and show what the rerun costs and whether the bank is the same.

    python benchmarks/kills.py [STUDY] [KILLS]

Runs the study once undisturbed, then again with kill -9 of the program at random times, then to its end; prints whether
the two banks have the same bytes and how many calls the interrupted runs made in all. The default study takes minutes a
run: use data/studies/small.yaml for a quick look.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def start(study: str, results: str, log: Path) -> subprocess.Popen[bytes]:
    """A run of its own process group."""
    command = [sys.executable, "-m", "flows.command_line", "run", study, "--results", results]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with log.open("wb") as sink:
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=sink, stderr=sink, start_new_session=True)


def bank(results: str) -> dict[str, str]:
    """Hashes of the bank's files."""
    (folder,) = (place for place in Path(results).glob("*/bank/*") if place.is_dir())
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


def replies(results: str) -> int:
    """Model calls that any run paid for, from the journals."""
    return sum(1 for p in Path(results).glob("*/replies/**/*.jsonl") for _ in p.open())


def main() -> int:
    """Run, kill, run again, compare."""
    study = sys.argv[1] if len(sys.argv) > 1 else "data/studies/small.yaml"
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    dice = random.Random(20261130)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        began = time.monotonic()
        if start(study, f"{folder}/whole", log).wait() != 0:
            print(log.read_text()[-2000:])
            return 1
        whole = time.monotonic() - began
        for number in range(kills):
            run = start(study, f"{folder}/killed", log)
            after = whole * dice.uniform(number / kills, (number + 1) / kills)
            time.sleep(after)
            os.kill(run.pid, signal.SIGKILL)
            run.wait()
            print(f"killed after {after:.0f} s of {whole:.0f}", flush=True)
            time.sleep(5)  # the server notices that we are gone, and goes
        status = start(study, f"{folder}/killed", log).wait()
        cost = re.findall(r"Done in .*", log.read_text())
        same = bank(f"{folder}/whole") == bank(f"{folder}/killed")
        print(f"last run: exit {status}; {' '.join(cost)}")
        print(f"same bank, byte for byte: {same}")
        print(f"calls paid: undisturbed {replies(f'{folder}/whole')}, with {kills} kills {replies(f'{folder}/killed')}")
        return 0 if same and status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
