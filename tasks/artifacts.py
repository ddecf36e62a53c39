"""What the Prefect UI shows of a run beside its states: tables, a picture of the pipeline with its counts, links."""

from __future__ import annotations

import contextlib
import contextvars
import logging
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import UUID

from prefect.artifacts import (
    create_link_artifact,
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.context import FlowRunContext

from examgen.errors import InputError
from examgen.tables import read_rows
from tasks import run_log, store
from tasks.progress import bars

PROGRESS_EVERY = 5.0
"""Seconds between updates of a progress artifact."""

ROWS_SHOWN = 500
"""Rows of a table artifact at most; the Parquet table holds them all."""


def artifact_key(*parts: str) -> str:
    """A key as Prefect wants it: lower case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(parts).lower()).strip("-")


def table(study: str, name: str, rows: Sequence[Mapping[str, Any]], about: str) -> None:
    """A table artifact of the first rows."""
    shown = [{k: _shown(v) for k, v in row.items()} for row in rows[:ROWS_SHOWN]]
    create_table_artifact(table=shown, key=artifact_key(study, name), description=about)


def _shown(value: Any) -> Any:
    """A cell as a reader wants it; the Parquet table holds every digit."""
    if value is None:
        return ""
    return round(value, 4) if isinstance(value, float) else value


@contextlib.contextmanager
def followed(study: str, progress: bool = True) -> Iterator[None]:
    """A flow whose lines name its study, whose long pieces of work show their progress, and whose failure says where
    and what to do. To be entered in the flow's own thread; a flow of flows leaves the progress to them."""
    shown: contextlib.AbstractContextManager[None] = _Shown(study) if progress else contextlib.nullcontext()
    with run_log.about(study=study), _Explained(study), shown:
        yield


class _Shown:
    """Progress artifacts of the pieces of work that are under way, brought up to date now and then."""

    def __init__(self, study: str) -> None:
        self._study = study
        self._made: dict[str, UUID] = {}
        self._told: dict[str, int] = {}
        self._over = threading.Event()

    def __enter__(self) -> None:
        self._in_a_flow = FlowRunContext.get() is not None
        self._told = {name: count for name, (count, _) in bars.counts().items()}  # of flows before this one
        # The thread works in a copy of the flow's context: its run, its server, its settings.
        self._thread = threading.Thread(target=contextvars.copy_context().run, args=(self._follow,), daemon=True)
        if self._in_a_flow:
            self._thread.start()

    def _follow(self) -> None:
        while not self._over.wait(PROGRESS_EVERY):
            self._tell()

    def _tell(self) -> None:
        for name, (count, total) in bars.counts().items():
            if not count or self._told.get(name) == count:
                continue
            percent = min(100.0, 100.0 * count / total)
            if name in self._made:
                update_progress_artifact(self._made[name], progress=percent)
            else:
                key = artifact_key(self._study, name)
                made = create_progress_artifact(percent, key=key, description=f"{name}: {total:,} in all")
                assert isinstance(made, UUID)  # outside an event loop it is no coroutine
                self._made[name] = made
            self._told[name] = count

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._in_a_flow:
            self._over.set()
            self._thread.join()
            if error is None:
                self._tell()


class _Explained:
    """A failure as a page of its own: what failed, in which shard, and what to do."""

    def __init__(self, study: str) -> None:
        self._study = study

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not isinstance(error, Exception) or FlowRunContext.get() is None:
            return
        text = explanation(error)
        run_log.note(text.replace("**", ""), logging.ERROR)
        create_markdown_artifact(
            text, key=artifact_key(self._study, "failure"), description="What failed, where, and what to do"
        )


def explanation(error: Exception) -> str:
    """What a reader of a failed run needs: the message, the shard it came from, the next step."""
    shards = [told.removeprefix("shard: ") for told in getattr(error, "__notes__", ()) if told.startswith("shard: ")]
    where = f"In the shard **{shards[0]}**." if shards else "Before any shard was under way."
    if isinstance(error, InputError):
        step = "Correct what the message names, then run again."
    else:
        step = "Do what the message says, then run again: finished shards and paid replies are kept."
    return f"**{type(error).__name__}**: {error}\n\n{where}\n\n{step}"


STEPS = {
    "files": "files read",
    "passages": "passages",
    "subtopics": "subtopics",
    "candidates": "candidates",
    "audited": "accepted by audits",
    "screened": "accepted by screen",
    "locked": "items locked",
}


def pipeline_picture(counts: Mapping[str, int]) -> str:
    """A mermaid picture of the build with what went through each stage."""
    nodes = " --> ".join(f'{key}["{label}<br/>{counts[key]}"]' for key, label in STEPS.items())
    return f"```mermaid\nflowchart LR\n    {nodes}\n```"


def _table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A markdown table: the page shows it in either Prefect UI, the mermaid picture only in the newer."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _count(funnel: Sequence[Mapping[str, Any]], stage: str, outcome: str) -> int:
    return sum(row["count"] for row in funnel if row["stage"] == stage and row["outcome"] == outcome)


def bank_artifacts(study: str, folder: Path, documents: Path) -> None:
    """Funnel, rejections by rule, coverage, a summary of a locked bank and the link to the Data Docs of its audit."""
    manifest = store.read_manifest(folder)
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
        _table(list(STEPS.values()), [[f"{counts[key]:,}" for key in STEPS]]),
        f"{manifest['items']} items on {manifest['topics']} topics: "
        + ", ".join(f"{number} {stratum}" for stratum, number in manifest["by_stratum"].items()),
        f"Folder: `{folder}`",
        f"Data Docs of the audit: `{documents}`",
        manifest["notice"],
    ]
    _link(study, "data-docs", documents, "Data Docs of the audit")
    create_markdown_artifact("\n\n".join(lines), key=artifact_key(study, "bank"), description="The locked bank")


def _link(study: str, name: str, page: Path, text: str) -> None:
    """A link to a file. Browsers do not follow it from a page of a server: the path stands beside it, to be copied."""
    about = f"{text}: `{page}`"
    create_link_artifact(page.as_uri(), link_text=text, key=artifact_key(study, name), description=about)


def results_artifacts(study: str, folder: Path, accuracy: Sequence[Mapping[str, Any]]) -> None:
    """Accuracy per endpoint with its interval, and the link to the report."""
    table(study, "accuracy", accuracy, "Accuracy per endpoint with its interval")
    report = folder / "report.html"
    if report.is_file():
        _link(study, "report", report, "Report")


def study_summary(name: str, done: Mapping[str, Any], responses: int) -> None:
    """The page of a whole study: bank, answers, accuracy, and where everything lies."""
    steps = {
        "bank": f"bank {done['bank_id'][:8]}<br/>{done['items']} items",
        "panel": f"panel<br/>{responses} responses",
        "results": f"results<br/>{len(done['accuracy'])} endpoints",
        "report": "report",
    }
    nodes = " --> ".join(f'{key}["{label}"]' for key, label in steps.items())
    rows = [
        (row["endpoint"], row["role"], row["n"] or 0, *map(_percent, (row["value"], row["low"], row["high"])))
        for row in done["accuracy"]
    ]
    lines = [
        f"## {done['title']}",
        f"```mermaid\nflowchart LR\n    {nodes}\n```",
        _table(("endpoint", "role", "items", "accuracy", "from", "to"), rows),
        f"Bank: `{done['bank_folder']}`",
        f"Tables: `{done['results_folder']}`",
        f"Report: `{done['report']}`",
    ]
    create_markdown_artifact("\n\n".join(lines), key=artifact_key(name, "study"), description="The whole study")


def _percent(value: float | None) -> str:
    return "not estimable" if value is None else f"{value:.1%}"
