"""The code version of a stage: a hash of every source file of this project that the stage's modules reach by import."""

from __future__ import annotations

import ast
import functools
import importlib.util
from pathlib import Path

from examgen.ids import digest

OWN_PACKAGES = ("examgen", "expectations", "tasks")


@functools.cache
def _file_of(module: str) -> Path | None:
    """Source file of one of our modules, found without importing it."""
    top, *rest = module.split(".")
    if top not in OWN_PACKAGES:
        return None
    spec = importlib.util.find_spec(top)
    if spec is None or not spec.submodule_search_locations:
        return None
    base = Path(next(iter(spec.submodule_search_locations))).joinpath(*rest)
    for place in (base / "__init__.py", base.with_suffix(".py")):
        if place.is_file():
            return place
    return None


def _imported(source: str) -> set[str]:
    """Names of modules a source file may import, wherever in the file it does so."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


@functools.cache
def reached(*modules: str) -> tuple[Path, ...]:
    """Our source files that the modules reach, themselves included, in a fixed order."""
    waiting, files = list(modules), {}
    while waiting:
        name = waiting.pop()
        place = _file_of(name)
        if place is None or place in files:
            continue
        files[place] = name
        parents = [name.rsplit(".", depth)[0] for depth in range(1, name.count(".") + 1)]
        waiting.extend(_imported(place.read_text(encoding="utf-8")) | set(parents))
    return tuple(sorted(files))


@functools.cache
def code_version(*modules: str) -> str:
    """Hash over the sources that the modules reach: changes when a function they call changes, wherever it stands."""
    return digest(*(part for place in reached(*modules) for part in (place.name, place.read_bytes())))


def folder_version(*folders: Path, pattern: str = "*") -> str:
    """Hash over data files (suites, prompts, lexicons) by name and content."""
    parts: list[str | bytes] = []
    for folder in folders:
        for place in sorted(folder.rglob(pattern)):
            if place.is_file():
                parts += [place.relative_to(folder).as_posix(), place.read_bytes()]
    return digest(*parts)
