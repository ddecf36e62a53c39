"""Run the steps of the Dockerfile without a container engine: in a clean virtual environment and a folder of their own.

    python -m benchmarks.container_steps [--keep FOLDER] [-- ARGUMENTS OF THE IMAGE]

Copies what the Dockerfile copies (and .dockerignore lets through), runs its RUN lines with the image's folders moved
below a temporary one, then the entry point: with `--help`, or with the arguments given. What needs root (useradd,
chown) is left out and said. Takes minutes and 2 GB of disk: it installs everything.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
AS_ROOT = ("useradd", "chown")
IMAGE = "/work"


@dataclass(frozen=True)
class Step:
    """An instruction of a Dockerfile and what follows it, continued lines joined."""

    instruction: str
    rest: str

    def words(self) -> list[str]:
        """The arguments: of a JSON list, or as a shell splits them."""
        return list(json.loads(self.rest)) if self.rest.startswith("[") else shlex.split(self.rest)


def steps(text: str) -> list[Step]:
    """The instructions of a Dockerfile, comments left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    found = [line.strip().split(None, 1) for line in whole.splitlines() if line.strip()]
    return [Step(name.upper(), rest) for name, rest in found]


def ignored(path: str, rules: list[str]) -> bool:
    """Whether .dockerignore keeps a path from the engine: the last rule that matches it or a folder above decides."""
    decided = False
    parts = path.split("/")
    above = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
    for rule in rules:
        pattern = rule.lstrip("!").removeprefix("**/")
        anywhere = "**/" in rule
        if any(fnmatch(name, pattern) or (anywhere and fnmatch(name.rsplit("/", 1)[-1], pattern)) for name in above):
            decided = not rule.startswith("!")
    return decided


def ignore_rules(folder: Path) -> list[str]:
    """The lines of .dockerignore."""
    lines = (folder / ".dockerignore").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def copy(source: str, target: Path) -> int:
    """Copy what a COPY line names and the engine would get; the number of files."""
    rules, count = ignore_rules(ROOT), 0
    place = ROOT / source
    files = [place] if place.is_file() else [p for p in sorted(place.rglob("*")) if p.is_file()]
    for file in files:
        name = file.relative_to(ROOT).as_posix()
        if not ignored(name, rules):
            final = target / (file.name if place.is_file() else file.relative_to(place).as_posix())
            final.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, final)
            count += 1
    return count


def run(folder: Path, arguments: list[str]) -> int:
    """All steps below a folder; the exit code of the entry point."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    venv.create(folder / "venv", with_pip=True)
    environment |= {"PATH": f"{folder / 'venv' / 'bin'}:{environment['PATH']}", "HOME": str(folder / "home")}
    (folder / "home").mkdir()
    here, entry, command = folder, [], []
    for step in steps((ROOT / "Dockerfile").read_text(encoding="utf-8")):
        rest = step.rest.replace(IMAGE, f"{folder}{IMAGE}")
        if step.instruction == "ENV":
            environment |= dict(pair.split("=", 1) for pair in shlex.split(rest))
        elif step.instruction == "WORKDIR":
            here = Path(rest)
            here.mkdir(parents=True, exist_ok=True)
        elif step.instruction == "COPY":
            *sources, target = shlex.split(rest)
            count = sum(copy(source, here / target) for source in sources)
            print(f"COPY {step.rest}: {count} files", flush=True)
        elif step.instruction == "RUN":
            parts = [part.strip() for part in rest.split("&&")]
            for part in parts:
                print(f"{'left out, needs root' if part.startswith(AS_ROOT) else 'RUN'}: {part[:100]}", flush=True)
            kept = " && ".join(part for part in parts if not part.startswith(AS_ROOT))
            if kept:
                subprocess.run(["sh", "-c", kept], cwd=here, env=environment, check=True)
        elif step.instruction == "ENTRYPOINT":
            entry = Step("ENTRYPOINT", rest).words()
        elif step.instruction == "CMD":
            command = Step("CMD", rest).words()
    size = sum(p.stat().st_size for p in (folder / "venv").rglob("*") if p.is_file() and not p.is_symlink())
    print(f"installed: {size / 1e9:.2f} GB; default command: {' '.join(entry + command)}", flush=True)
    given = [argument.replace(IMAGE, f"{folder}{IMAGE}") for argument in arguments or ["--help"]]
    return subprocess.run([str(folder / "venv" / "bin" / entry[0]), *given], cwd=here, env=environment).returncode


def main() -> int:
    """The steps, in a folder that goes afterwards unless it is named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", type=Path, help="folder to work in and leave")
    parser.add_argument("arguments", nargs="*", help="what the image is run with")
    asked = parser.parse_args()
    if asked.keep:
        asked.keep.mkdir(parents=True)
        return run(asked.keep.resolve(), asked.arguments)
    with tempfile.TemporaryDirectory() as folder:
        return run(Path(folder), asked.arguments)


if __name__ == "__main__":
    sys.exit(main())
