"""What a person at a terminal sees of a run: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from tasks import run_log

LINE_EVERY = 20.0
"""Seconds between plain progress lines of one long stage."""

console = Console(stderr=True, highlight=False)


_noted: ContextVar[Counter[str] | None] = ContextVar("noted", default=None)


@contextlib.contextmanager
def noting() -> Iterator[Counter[str]]:
    """Steps of this block are noted instead of shown: a worker reports them to the process that shows the bars."""
    steps: Counter[str] = Counter()
    token = _noted.set(steps)
    try:
        yield steps
    finally:
        _noted.reset(token)


class Bars:
    """Named progress bars; without a terminal, a line now and then. Safe to advance from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._said: dict[str, float] = {}
        self._bars: dict[str, TaskID] = {}
        self._progress: Progress | None = None

    def __enter__(self) -> Bars:
        self._totals.clear()
        self._counts.clear()
        if console.is_terminal and not run_log.as_json():
            columns = (
                TextColumn("{task.description:<28}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
            )
            self._progress = Progress(*columns, console=console, transient=True)
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress:
            self._progress.stop()
            self._progress = None
        self._bars.clear()

    def start(self, name: str, total: int) -> None:
        """Announce a piece of work of `total` steps."""
        if _noted.get() is not None:
            return
        with self._lock:
            self._totals[name], self._counts[name] = total, 0
            self._said[name] = time.monotonic()
            if self._progress:
                self._bars[name] = self._progress.add_task(name, total=total)

    def advance(self, name: str, steps: int = 1) -> None:
        """Count steps done. A name nobody announced is ignored."""
        noted = _noted.get()
        with self._lock:
            if noted is not None:
                noted[name] += steps
                return
            if name not in self._totals:
                return
            self._counts[name] += steps
            if self._progress:
                self._progress.update(self._bars[name], completed=self._counts[name])
            elif time.monotonic() - self._said[name] > LINE_EVERY:
                self._said[name] = time.monotonic()
                say(f"    {name}: {self._counts[name]} of {self._totals[name]}")

    def reach(self, name: str, done: int) -> None:
        """Set the number of steps done."""
        self.advance(name, done - self._counts.get(name, 0))

    def counts(self) -> dict[str, tuple[int, int]]:
        """Steps done and announced of every piece of work under way or done."""
        with self._lock:
            return {name: (self._counts[name], total) for name, total in self._totals.items() if total}

    def count(self, name: str) -> tuple[int, int]:
        """Steps done and announced."""
        return self._counts.get(name, 0), self._totals.get(name, 0)


bars = Bars()
"""The bars of this process."""


def say(line: str) -> None:
    """One line to the person who runs the program, and to the run's log."""
    run_log.note(line, logging.WARNING if line.strip().startswith("warning:") else logging.INFO)
    if not run_log.as_json():
        console.print(line, markup=False, soft_wrap=True)
        sys.stderr.flush()


class Step:
    """A stage as announced: its name when it starts, what came of it and the seconds when it ends."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.outcome = ""

    def __enter__(self) -> Step:
        self._start = time.monotonic()
        self._about = run_log.about(stage=self.name)
        self._about.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        seconds = time.monotonic() - self._start
        spent[self.name] = spent.get(self.name, 0.0) + seconds
        if error is None:
            say(f"  {self.name:<12} {self.outcome}  ({seconds:.1f} s)")
        self._about.__exit__(kind, error, trace)


spent: dict[str, float] = {}
"""Seconds of this process by stage."""
