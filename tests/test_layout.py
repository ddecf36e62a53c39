"""The import rule and the words: which folder may import which, where heavy packages live, what files are called."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OWN = {"examgen", "expectations", "tasks", "flows"}
ALLOWED = {
    "examgen": {"examgen"},
    "expectations": {"examgen", "expectations"},
    "tasks": {"examgen", "expectations", "tasks"},
    "flows": {"examgen", "expectations", "tasks", "flows"},
}
HOMES = {
    "prefect": ("flows/", "tasks/"),
    "langchain_openai": ("tasks/llm.py",),
    "chromadb": ("tasks/index.py",),
    "unstructured": ("tasks/read_sources.py",),
    "great_expectations": ("expectations/",),
    "pyarrow": ("examgen/tables.py", "tasks/"),
    "distributed": ("tasks/runner.py",),
    "ray": ("tasks/runner.py",),
    "fsspec": ("tasks/mirror.py",),
}
IMPURE = {"requests", "httpx", "aiohttp", "socket", "subprocess", "urllib", "time", "os"}
SOURCES = sorted(p for folder in OWN for p in (ROOT / folder).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Top-level names a file imports, and for our own packages the first two parts."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return names


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_imports_follow_the_rule(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    top = place.split("/")[0]
    for name in imported(path):
        first = name.split(".")[0]
        if first in OWN:
            assert first in ALLOWED[top], f"{place} imports {name}"
        for package, homes in HOMES.items():
            if first == package:
                assert place.startswith(homes), f"{place} imports {name}, whose home is {homes}"
        if top == "examgen":
            assert ".now(" not in path.read_text(encoding="utf-8"), f"{place} reads the clock"
            assert first not in IMPURE, f"{place} imports {name}: the core has no network, clock or environment"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_no_blanket_handlers_and_no_vague_names(path: Path) -> None:
    assert not {"utils", "helpers", "manager"} & set(path.stem.split("_"))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ExceptHandler):
            names = ast.unparse(node.type) if node.type else ""
            passes_on = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
            if names == "BaseException" and passes_on:
                continue  # clean up, then let it go on
            assert names not in ("", "Exception", "BaseException"), f"{path.name}:{node.lineno}"


def test_flow_files_have_two_word_names() -> None:
    for path in (ROOT / "flows").glob("*.py"):
        assert path.name == "__init__.py" or "_" in path.stem or path.stem in {"request", "session"}


def test_the_command_line_starts_without_heavy_libraries() -> None:
    heavy = ("chromadb", "great_expectations", "langchain_core", "numpy", "pandas", "prefect", "scipy")
    code = f"import sys, flows.command_line; sys.exit(str([name for name in {heavy} if name in sys.modules] or 0))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.strip() in ("", "0"), done.stderr
