"""Killing a run anywhere: the rerun ends as an undisturbed run does, and no stored reply is paid again."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from examgen.tables import read_rows
from tests.stub_server import StubServer

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "data" / "corpora" / "ms_mri"
FILES = ("02_mcdonald_2017_criteria.md", "03_mcdonald_2024_revision.md", "15_nmosd_imaging.md", "16_mogad_imaging.md")
KILLS = 5
IN_FLIGHT = 4

STUDY = """\
study: tiny
corpus: {{folder: docs}}
embedding: {{kind: lsa, dimensions: 32}}
seeds: [dissemination in space, MOGAD imaging, NMOSD spinal cord]
retrieval: {{passages_per_seed: 2, passage_cap: 6}}
writing: {{per_subtopic: {{easy: 1, medium: 1, hard: 1, synthesis: 1}}, rounds: 1}}
screen: {{context: fresh}}
endpoints:
  - {{id: stub, base_url: "{url}", model: stub, concurrency: {in_flight}}}
  - {{id: longest, kind: baseline, model: longest}}
panel: {{shard_items: 5}}
statistics: {{bootstrap_replicates: 100, permutations: 5}}
"""


def prepare(folder: Path, url: str) -> tuple[str, str]:
    (folder / "docs").mkdir(parents=True)
    for name in FILES:
        shutil.copy2(CORPUS / name, folder / "docs" / name)
    (folder / "study.yaml").write_text(STUDY.format(url=url, in_flight=IN_FLIGHT))
    return str(folder / "study.yaml"), str(folder / "results")


def start(study: str, results: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.without_prefect", study, results], cwd=ROOT, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )


def contents(results: str) -> dict[str, str]:
    """Hashes of the locked bank's files, by name."""
    (bank,) = (Path(results) / "tiny" / "bank").iterdir()
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(bank.iterdir())} | {"id": bank.name}


def answers(results: str) -> list[tuple[object, ...]]:
    (evaluation,) = (Path(results) / "tiny" / "evaluations").iterdir()
    rows = [row for p in sorted(evaluation.glob("responses/*/*.parquet")) for row in read_rows(str(p))]
    return [(r["item_id"], r["endpoint_id"], r["order"], r["raw"], r["choice"], r["status"]) for r in rows]


@pytest.mark.timeout(1500)
def test_killed_at_random_points_and_run_again(tmp_path: Path) -> None:
    with StubServer(latency=0.05) as stub:
        study, results = prepare(tmp_path / "undisturbed", stub.base_url)
        began = time.monotonic()
        assert start(study, results).wait(timeout=250) == 0
        whole = time.monotonic() - began
        wanted, replies = contents(results), answers(results)
        needed = stub.calls
        (manifest,) = Path(results).glob("tiny/evaluations/*/endpoints.parquet")
        named = {row["endpoint_id"]: row["reported"] for row in read_rows(str(manifest))}
        assert named == {"stub": "stub (fp_stub)", "longest": "not recorded"}
        assert needed == len([row for row in replies if row[1] == "stub"])

        study, results = prepare(tmp_path / "killed", stub.base_url)
        dice = random.Random(20261130)
        for number in range(KILLS):
            process = start(study, results)
            # Early and late, so that reading, writing and asking are all hit.
            time.sleep(whole * dice.uniform(number / KILLS, (number + 1) / KILLS))
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        assert start(study, results).wait(timeout=250) == 0
        assert contents(results) == wanted
        assert answers(results) == replies
        assert stub.calls - needed <= needed + KILLS * IN_FLIGHT

        before = stub.calls
        assert start(study, results).wait(timeout=250) == 0
        assert stub.calls == before, "an unchanged rerun asks nothing"
        assert contents(results) == wanted
