"""The code version of a stage: a hash of the project's sources that its work reaches.

From the function of a stage on, what it names counts, definition by definition, as long as names are taken one by one
(`from module import name`); of a module that is used as a whole (`from package import module`) the whole file counts,
and all that it imports. So two stages may share a file, and a class of the study that a stage never sees is not its
business. A package's `__init__` counts as text, and is followed where something is taken from it by name.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
from collections.abc import Iterable
from pathlib import Path

from examgen.ids import digest

OWN_PACKAGES = ("examgen", "expectations", "tasks")

BOOKKEEPING = frozenset({"tasks.code_version", "tasks.progress", "tasks.run_record", "tasks.stages", "tasks.tally"})
"""Modules that run a shard, count and speak of it: they never change what it makes."""


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


def _parents(module: str) -> list[str]:
    return [module.rsplit(".", depth)[0] for depth in range(1, module.count(".") + 1)]


def _imported(nodes: Iterable[ast.AST], by_name: bool) -> set[str]:
    """What the nodes may import, wherever in them they do so: modules, and with `by_name` "module:name" of one name."""
    names: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        # Only statements hold imports, so expressions are not looked into: they are most of a file.
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, part, None)
            waiting += inner if isinstance(inner, list) else ()
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                outside = f"{node.module}:{alias.name}" if by_name and alias.name != "*" else node.module
                names.add(inside if _file_of(inside) else outside)
    return names


@functools.cache
def _statements(source: str) -> tuple[dict[str, list[ast.stmt]], list[ast.stmt]]:
    """The statements of a module by the names they bind, and those that do something when it is imported."""
    binding: dict[str, list[ast.stmt]] = {}
    acting: list[ast.stmt] = []
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                kept = type(statement)(**{**dict(ast.iter_fields(statement)), "names": [alias]})
                binding.setdefault((alias.asname or alias.name).split(".")[0], []).append(kept)
            continue
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # documentation
        for name in _bound(statement):
            binding.setdefault(name, []).append(statement)
        if not _bound(statement):
            acting.append(statement)
    return binding, acting


def _bound(statement: ast.stmt) -> list[str]:
    """Names that a statement of a module defines; none where it does something else."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return []


@functools.cache
def _names(statement: ast.stmt) -> frozenset[str]:
    """Every name that the statement mentions."""
    return frozenset(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))


@functools.cache
def _text(statement: ast.stmt) -> str:
    """The statement without its comments; many stages reach the same ones."""
    return ast.unparse(statement)


@functools.cache
def _all_imported(source: str) -> frozenset[str]:
    """All modules that a file imports."""
    return frozenset(_imported([ast.parse(source)], by_name=False))


@functools.cache
def _used(source: str, name: str) -> list[ast.stmt]:
    """The statements of a module that one of its names rests on, its own included; none where it has no such name."""
    binding, acting = _statements(source)
    if name not in binding:
        return []
    found: dict[int, ast.stmt] = {}
    waiting = [*binding[name], *acting]
    while waiting:
        statement = waiting.pop()
        if id(statement) not in found:
            found[id(statement)] = statement
            waiting += [one for word in _names(statement) for one in binding.get(word, ())]
    return list(found.values())


@functools.cache
def _reach(*names: str) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """From modules and "module:name"s: the files that count whole, and the texts of definitions that count alone."""
    waiting, seen = list(names), set()
    files: set[Path] = set()
    texts: set[str] = set()
    while waiting:
        asked = waiting.pop()
        module, _, name = asked.partition(":")
        place = _file_of(module)
        if asked in seen or place is None or module in BOOKKEEPING:
            continue
        seen.add(asked)
        source = place.read_text(encoding="utf-8")
        files.update(above for above in map(_file_of, _parents(module)) if above is not None)
        statements = _used(source, name) if name else []
        if statements:
            texts.update(f"{module}\n{_text(statement)}" for statement in statements)
            waiting += _imported(statements, by_name=True)
        else:
            files.add(place)
            waiting += _all_imported(source)
    return tuple(sorted(files)), tuple(sorted(texts))


def reached(*modules: str) -> tuple[Path, ...]:
    """Our source files that count whole for these modules, in a fixed order."""
    return _reach(*modules)[0]


def definitions(*names: str) -> tuple[str, ...]:
    """The definitions that count alone, each as its module's name and its text."""
    return _reach(*names)[1]


@functools.cache
def code_version(*modules: str) -> str:
    """Hash over what the modules, or "module:name"s, reach: changes when a function they call does, wherever it is."""
    parts = [part for place in reached(*modules) for part in (place.name, place.read_bytes())]
    return digest(*definitions(*modules), *parts)


def forget_sources() -> None:
    """Read the sources again: for a process that outlives an edit."""
    for cached in (_file_of, _reach, code_version):
        getattr(cached, "cache_clear", int)()


def contracts_version() -> str:
    """Version of the contracts of the tables, which lie in the project whatever suites a study has."""
    return folder_version(Path(__file__).resolve().parents[1] / "expectations" / "suites", pattern="table_*.json")


def folder_version(*folders: Path, pattern: str = "*") -> str:
    """Hash over data files (suites, prompts, lexicons) by name and content."""
    parts: list[str | bytes] = []
    for folder in folders:
        for place in sorted(folder.rglob(pattern)):
            if place.is_file():
                parts += [place.relative_to(folder).as_posix(), place.read_bytes()]
    return digest(*parts)
