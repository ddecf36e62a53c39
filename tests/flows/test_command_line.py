"""The command line as a person meets it: help, exit codes, one clear line for what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = (
    "run", "build", "evaluate", "calibrate", "report", "verify", "init", "check", "ui", "estimate", "rescore", "export",
    "import",
)  # fmt: skip


def examgen(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120"}
    return subprocess.run(
        [sys.executable, "-m", "flows.command_line", *words], capture_output=True, text=True, cwd=cwd, env=environment,
        timeout=120, check=False,
    )


def test_help_names_every_command_with_an_example() -> None:
    whole = examgen("--help").stdout
    for command in COMMANDS:
        assert command in whole
    assert "Example: examgen verify" in examgen("verify", "--help").stdout


def study(folder: Path, text: str) -> str:
    (folder / "study.yaml").write_text(text)
    return str(folder / "study.yaml")


GOOD = "study: s\ncorpus: {folder: docs}\nseeds: [a query]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("corpus", "corpsu"), "did you mean 'corpus'?"),
        (GOOD, "no such folder: give the folder of documents (in a study: corpus.folder)"),
        ("study: [", "not valid YAML"),
    ],
)
def test_wrong_input_is_exit_code_2_and_says_what_to_do(tmp_path: Path, text: str, message: str) -> None:
    for command in ("check", "run"):
        done = examgen(command, study(tmp_path, text), cwd=tmp_path)
        assert done.returncode == 2, done.stderr
        assert message in done.stderr
        assert "study.yaml" in done.stderr or "docs" in done.stderr
        assert "Traceback" not in done.stderr


def test_an_empty_folder_and_a_bank_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    done = examgen("check", study(tmp_path, GOOD), cwd=tmp_path)
    assert (done.returncode, "is empty" in done.stderr) == (2, True)
    done = examgen("verify", str(tmp_path), cwd=tmp_path)
    assert (done.returncode, "no bank.lock.json" in done.stderr) == (2, True)
    assert examgen("no-such-command").returncode == 2
    assert examgen("run").returncode == 2


def test_check_tells_what_a_run_would_do() -> None:
    done = examgen("check", "data/studies/ms_mri.yaml")
    assert done.returncode == 0, done.stderr
    assert "32 of 32 files" in done.stdout
    assert "18" in done.stdout
