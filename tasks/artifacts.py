"""What the Prefect UI shows of a run beside its states: tables, a picture of the pipeline with its counts, links."""

from __future__ import annotations

import contextlib
import contextvars
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import httpx
from prefect.artifacts import (
    create_link_artifact,
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.exceptions import PrefectException

from examgen.tables import read_rows
from tasks import store
from tasks.progress import bars

ROWS_SHOWN = 500
"""Rows of a table artifact at most; the Parquet table holds them all."""


def artifact_key(*parts: str) -> str:
    """A key as Prefect wants it: lower case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(parts).lower()).strip("-")


def table(study: str, name: str, rows: Sequence[Mapping[str, Any]], about: str) -> None:
    """A table artifact of the first rows."""
    shown = [{k: "" if v is None else v for k, v in row.items()} for row in rows[:ROWS_SHOWN]]
    create_table_artifact(table=shown, key=artifact_key(study, name), description=about)


def pipeline_picture(counts: Mapping[str, int]) -> str:
    """A mermaid picture of the build with what went through each stage."""
    names = [
        ("files", "files read"),
        ("passages", "passages"),
        ("subtopics", "subtopics"),
        ("candidates", "candidates"),
        ("audited", "accepted by audits"),
        ("screened", "accepted by screen"),
        ("locked", "items locked"),
    ]
    nodes = " --> ".join(f'{key}["{label}<br/>{counts[key]}"]' for key, label in names)
    return f"```mermaid\nflowchart LR\n    {nodes}\n```"


def _count(funnel: Sequence[Mapping[str, Any]], stage: str, outcome: str) -> int:
    return sum(row["count"] for row in funnel if row["stage"] == stage and row["outcome"] == outcome)


def bank_artifacts(study: str, folder: Path, documents: Path) -> None:
    """Funnel, rejections by rule, coverage, a summary of a locked bank and the link to the Data Docs of its audit."""
    manifest = store.read_json(folder / "bank.lock.json")
    funnel = read_rows(str(folder / "funnel.parquet"))
    findings = read_rows(str(folder / "findings.parquet"))
    coverage = read_rows(str(folder / "coverage.parquet"))
    by_rule = Counter((row["severity"], row["check_id"]) for row in findings)
    rules = [{"severity": s, "check": c, "items": n} for (s, c), n in sorted(by_rule.items())]
    table(study, "funnel", funnel, "What entered each stage and what became of it")
    table(study, "findings-by-rule", rules, "Items by the audit rule they broke")
    table(study, "coverage", coverage, "Checklist concepts and the subtopics that cover them")
    counts = {
        "files": len(read_rows(str(folder / "sources.parquet"))),
        "passages": len(read_rows(str(folder / "chunks.parquet"))),
        "subtopics": manifest["subtopics"],
        "candidates": _count(funnel, "audit", "entered"),
        "audited": _count(funnel, "audit", "accepted"),
        "screened": _count(funnel, "screen", "accepted"),
        "locked": manifest["items"],
    }
    lines = [
        f"## Bank {manifest['bank_id']}",
        pipeline_picture(counts),
        f"{manifest['items']} items on {manifest['topics']} topics, by stratum: {manifest['by_stratum']}.",
        f"Folder: `{folder}`",
        manifest["notice"],
    ]
    create_link_artifact(documents.as_uri(), link_text="Data Docs of the audit", key=artifact_key(study, "data-docs"))
    create_markdown_artifact("\n\n".join(lines), key=artifact_key(study, "bank"), description="The locked bank")


def results_artifacts(study: str, folder: Path, accuracy: Sequence[Mapping[str, Any]]) -> None:
    """Accuracy per endpoint with its interval, and the link to the report."""
    table(study, "accuracy", accuracy, "Accuracy per endpoint with its interval")
    report = folder / "report.html"
    if report.is_file():
        create_link_artifact(report.as_uri(), link_text="Report", key=artifact_key(study, "report"))


LIVE_EVERY = 10.0
"""Least seconds between two states of a live progress artifact; many endpoints are shown less often, for each state is
a call of the server."""


@contextlib.contextmanager
def live_progress(study: str, names: Sequence[str], every: float | None = None) -> Iterator[None]:
    """A progress artifact for each of these bars while the block runs: percentage, rows, rate and time left.

    Each is one row of Prefect's database, written over. What the server cannot take is left out: a picture of the run
    never stops it.
    """
    every = max(LIVE_EVERY, 2.0 * len(names)) if every is None else every
    ended = threading.Event()
    around = contextvars.copy_context()  # the thread belongs to the same flow run
    thread = threading.Thread(target=around.run, args=(_show, study, tuple(names), every, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(2 * every)


def _show(study: str, names: Sequence[str], every: float, ended: threading.Event) -> None:
    shown: dict[str, UUID] = {}
    said: dict[str, str] = {}
    last = False
    while not last:
        last = ended.wait(every)
        for name in names:
            found = bars.progress_of(name)
            if not found.total or said.get(name) == found.line():
                continue
            said[name] = found.line()
            percent = 100.0 * found.done / found.total
            try:
                if name in shown:
                    update_progress_artifact(shown[name], percent, description=f"{name}: {said[name]}")
                else:
                    key = artifact_key(study, name)
                    made = create_progress_artifact(percent, key=key, description=f"{name}: {said[name]}")
                    shown[name] = cast(UUID, made)  # outside an event loop it is no coroutine
            except (httpx.HTTPError, PrefectException):
                continue
