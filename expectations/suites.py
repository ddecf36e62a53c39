"""Suite files: read, checked for what the engine relies on, and hashed. No Great Expectations is needed to read
them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from examgen.errors import InputError
from examgen.ids import canonical_json, digest
from examgen.records import STRATA

SUITES = Path(__file__).resolve().parent / "suites"
"""The suites of the project."""

SEVERITIES = {"critical": "reject", "warning": "flag", "info": "flag"}
"""Severity of an expectation in GX's words, and what it does to an item."""


@dataclass(frozen=True)
class Check:
    """One expectation of a suite."""

    check_id: str
    type: str
    kwargs: Mapping[str, Any]
    severity: str
    reason: str
    partner: str

    @property
    def column(self) -> str:
        """The column judged; empty for a table expectation."""
        return str(self.kwargs.get("column", ""))

    @property
    def columns(self) -> list[str]:
        """Every column the check looks at, those of its row condition included."""
        named = [self.column] if self.column else list(self.kwargs.get("column_list", ()))
        conditions = _conditions(self.kwargs.get("row_condition"))
        return named + [str(condition.get("column", {}).get("name", "")) for condition in conditions]

    @cached_property
    def limit(self) -> str:
        """The limit in words."""
        if "limit" in self.kwargs:
            word = {"most": "at most", "least": "at least", "below": "below"}[self.type.rsplit("_", 1)[1]]
            return f"{word} {self.kwargs['limit']:g}"
        left_out = ("column", "column_list", "row_condition", "condition_parser", "unmeasured")
        told = [f"{name} {value}" for name, value in sorted(self.kwargs.items()) if name not in left_out]
        return "; ".join(told) or self.type.removeprefix("expect_").replace("_", " ")


@dataclass(frozen=True)
class Suite:
    """A suite file: its name, its checks by id, its JSON as read, and the hash of what it asks."""

    name: str
    path: Path
    checks: Mapping[str, Check]
    content: Mapping[str, Any]
    hash: str


def _conditions(condition: Any) -> list[Mapping[str, Any]]:
    """The comparisons inside a row condition."""
    if not isinstance(condition, dict):
        return []
    if condition.get("type") in ("and", "or"):
        return [inner for part in condition.get("conditions", ()) for inner in _conditions(part)]
    return [condition]


def _check(raw: Any, place: str) -> Check:
    if not isinstance(raw, dict) or not isinstance(raw.get("type"), str) or not isinstance(raw.get("kwargs"), dict):
        raise InputError(f"{place}: an expectation has a type, kwargs, meta and severity")
    meta = raw.get("meta") or {}
    for name in ("check_id", "reason"):
        if not str(meta.get(name, "")).strip():
            raise InputError(f"{place} ({raw['type']}): meta.{name} is missing; findings carry it")
    severity = raw.get("severity")
    if severity not in SEVERITIES:
        raise InputError(
            f"{place} ({meta['check_id']}): severity must be one of {', '.join(SEVERITIES)}, not {severity!r}"
        )
    for condition in _conditions(raw["kwargs"].get("row_condition")):
        asked = condition.get("parameter")
        named = asked if isinstance(asked, list) else [asked]
        if condition.get("column", {}).get("name") == "stratum" and not set(named) <= set(STRATA):
            raise InputError(
                f"{place} ({meta['check_id']}): no stratum is called {asked!r}; there are {', '.join(STRATA)}"
            )
    return Check(meta["check_id"], raw["type"], raw["kwargs"], severity, meta["reason"], meta.get("partner", ""))


def load_suite(suites: str | Path, name: str, limits: Mapping[str, float] | None = None) -> Suite:
    """Read `<suites>/<name>.json`; `InputError` names the file, the expectation and what to do.

    `limits` by column take the place of those in the file, for what depends on the study and not on the suite (the
    cosine of its embedder). They are part of the hash.
    """
    path = Path(suites or SUITES) / f"{name}.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such suite; the project's own are in expectations/suites") from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path}: not a readable JSON suite: {error}") from error
    raw = content.get("expectations") if isinstance(content, dict) else None
    if not isinstance(raw, list) or not raw:
        raise InputError(f"{path}: a suite has a name and a non-empty list of expectations")
    if limits:
        raw = [_limited(expectation, limits) for expectation in raw]
        content = {**content, "expectations": raw}
    checks: dict[str, Check] = {}
    for number, expectation in enumerate(raw):
        check = _check(expectation, f"{path}: expectation {number}")
        if check.check_id in checks:
            raise InputError(f"{path}: two expectations have the check_id {check.check_id!r}; give each its own")
        checks[check.check_id] = check
    asked = {"name": content.get("name", name), "expectations": raw}
    return Suite(str(asked["name"]), path, checks, content, digest("suite", canonical_json(asked)))


def _limited(raw: Any, limits: Mapping[str, float]) -> Any:
    """An expectation with the limit given for its column, if there is one."""
    kwargs = raw.get("kwargs") if isinstance(raw, dict) else None
    if not isinstance(kwargs, dict) or "limit" not in kwargs or kwargs.get("column") not in limits:
        return raw
    return {**raw, "kwargs": {**kwargs, "limit": limits[kwargs["column"]]}}


def suite_hash(suites: str | Path, *names: str) -> str:
    """One hash of the suites named, for the manifest."""
    return digest("suites", *(load_suite(suites, name).hash for name in sorted(names)))
