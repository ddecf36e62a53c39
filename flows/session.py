"""A sitting at the command line: the study checked first, a Prefect server for its runs, the result said at the end."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from examgen.study import load_study
from tasks import mirror, run_log, server, serving, tally
from tasks.ledger import paid_now
from tasks.preflight import preflight
from tasks.progress import say, spent
from tasks.workplace import Workplace, prefect_home


class Session:
    """The flows of one study against the server of this sitting."""

    def __init__(self, study: Path, results: str | Path) -> None:
        from flows.request import StudyRequest

        self.request = StudyRequest(study=str(study.resolve()), results=mirror.named(results))

    def build(self) -> None:
        """Build and lock the bank."""
        from flows.build_bank import build_bank

        bank = build_bank(self.request)
        print(f"Bank {bank['bank_id']}: {bank['items']} items in {bank['folder']}")

    def evaluate(self, retry_unresolved: bool = False) -> None:
        """Ask the panel."""
        from flows.evaluate_panel import evaluate_panel

        request = self.request.model_copy(update={"retry_unresolved": retry_unresolved})
        done = evaluate_panel(request)
        print(f"Evaluation {done['evaluation_id']}: {done['rows']} responses in {done['folder']}")

    def calibrate(self, beside: Path | None = None) -> None:
        """Compute the statistics; `beside` is the evaluation of another bank."""
        from flows.calibrate_results import calibrate_results

        done = calibrate_results(self.request.model_copy(update={"beside": str(beside.resolve()) if beside else ""}))
        print(f"Results: {done['folder']}")

    def report(self) -> None:
        """Write the report."""
        from flows.write_report import write_report

        print(f"Report: {write_report(self.request)['report']}")

    def run(self) -> None:
        """Everything."""
        from flows.run_study import run_study

        _summary(run_study(self.request))


def _summary(done: dict[str, Any]) -> None:
    """The short table at the end of a run."""
    print(f"\n{done['title']}: {done['items']} items, bank {done['bank_id']}")
    print(f"  {'endpoint':<26}{'role':<12}{'items':>6}{'accuracy':>10}  {'interval':<16}")
    for row in done["accuracy"]:
        value = "—" if row["value"] is None else f"{row['value']:.1%}"
        interval = "" if row["low"] is None else f"{row['low']:.1%} – {row['high']:.1%}"
        print(f"  {row['endpoint']:<26}{row['role']:<12}{row['n'] or 0:>6}{value:>10}  {interval:<16}")
    for row in done["accuracy"]:
        if row["note"]:
            print(f"  {row['endpoint']} {row['note']}")
    print(f"  bank        {done['bank_folder']}")
    print(f"  tables      {done['results_folder']}")
    print(f"  report      {done['report']}")


def _calm_logs() -> None:
    """Prefect's log goes to its server; the terminal gets our own lines and Prefect's errors."""
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "ERROR")
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "INFO")
    for name in ("chromadb", "httpx", "great_expectations", "unstructured"):
        logging.getLogger(name).setLevel(logging.ERROR)


@contextlib.contextmanager
def session(study: Path, results: str | Path, needs: str = "") -> Iterator[Session]:
    """Check the study, start or find a server, hand out the flows, say what it cost.

    `needs` is what must be there already ("bank", "evaluation", "results"): its lack is said before a server starts.
    """
    loaded = load_study(study)
    preflight(study)
    place = Workplace(results, loaded.study)
    if needs:
        place.latest(needs)
    place.check_free()
    server.quiet()
    _calm_logs()
    started = time.monotonic()
    say(f"{study.stem}: starting (a Prefect server first, some seconds)")
    home, ended = prefect_home(results), "Stopped after"
    try:
        with run_log.about(study=loaded.study), server.available(home, serving.address(home)):
            yield Session(study, results)
        ended = "Done in"
    finally:
        _account(ended, time.monotonic() - started)


def _account(ended: str, seconds: float) -> None:
    """What it took: time by stage, calls, money."""
    if spent:
        print("Stages: " + ", ".join(f"{name} {took:.1f} s" for name, took in spent.items()))
    paid = paid_now()
    cost = f", {paid:,.4f} paid" if paid else ""
    print(f"{ended} {seconds:.0f} s with {tally.line()}{cost}.")
