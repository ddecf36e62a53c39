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
from dataclasses import dataclass
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from tasks import run_log

LINE_EVERY = 10.0
"""Seconds between plain progress lines."""
_NAMED = 3
"""Pieces of work named in a plain line; more are counted."""

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


@dataclass(frozen=True)
class Advance:
    """How far a piece of work is: steps done and in all, steps a second since it started, seconds left (None:
    unknown)."""

    done: int
    total: int
    rate: float
    left: float | None

    def line(self) -> str:
        """In words: "120 of 600, 15.2/s, about 32 s left"."""
        said = f"{self.done:,} of {self.total:,}"
        if self.rate and self.done < self.total:
            said += f", {self.rate:.1f}/s"
        return said if self.left is None else f"{said}, about {duration(self.left)} left"


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def advance_of(done: int, total: int, seconds: float) -> Advance:
    """From the steps done in some seconds."""
    rate = done / seconds if seconds > 0 else 0.0
    return Advance(done, total, rate, (total - done) / rate if rate > 0 and done < total else None)


class _Rate(ProgressColumn):
    """Steps a second."""

    def render(self, task: Task) -> Text:
        """The rate of the last half minute, or of the whole when it is done."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.1f}/s" if speed else "", style="progress.data.speed")


class Bars:
    """Named progress bars; without a terminal, a line now and then. Safe to advance from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._began: dict[str, float] = {}
        self._said = time.monotonic()
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
                _Rate(),
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
            if not self._running():
                self._said = time.monotonic()
            self._totals[name], self._counts[name] = total, 0
            self._began[name] = time.monotonic()
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
            elif time.monotonic() - self._said > LINE_EVERY:
                self._said = time.monotonic()
                say(f"    {self._line()}")

    def _running(self) -> list[str]:
        return [name for name, total in self._totals.items() if self._counts[name] < total]

    def _line(self) -> str:
        """Everything under way in one line."""
        names = self._running() or list(self._totals)[-1:]
        if len(names) == 1:
            return f"{names[0]}: {self._advance(names[0]).line()}"
        shown = [f"{name} {self._counts[name]:,}/{self._totals[name]:,}" for name in names[:_NAMED]]
        more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
        left = [found.left for name in names if (found := self._advance(name)).left is not None]
        last = f"; about {duration(max(left))} left" if left else ""
        return ", ".join(shown + more) + last

    def _advance(self, name: str) -> Advance:
        return advance_of(self._counts[name], self._totals[name], time.monotonic() - self._began[name])

    def progress_of(self, name: str) -> Advance:
        """How far a piece of work is; one nobody announced has no steps."""
        with self._lock:
            return self._advance(name) if name in self._totals else Advance(0, 0, 0.0, None)

    def reach(self, name: str, done: int) -> None:
        """Set the number of steps done."""
        self.advance(name, done - self._counts.get(name, 0))

    def counts(self) -> dict[str, tuple[int, int]]:
        """Steps done and announced of every piece of work under way or done."""
        with self._lock:
            return {name: (self._counts[name], total) for name, total in self._totals.items() if total}


bars = Bars()
"""The bars of this process."""


class Steps:
    """Steps of one shard, told to the bars twice a second: each telling takes a lock that all threads share."""

    TOLD_EVERY = 0.5

    def __init__(self, name: str) -> None:
        self._name = name
        self._untold = 0
        self._told = time.monotonic()

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *_: object) -> None:
        self._tell()

    def __call__(self, steps: int) -> None:
        """Count steps done."""
        self._untold += steps
        if time.monotonic() - self._told > self.TOLD_EVERY:
            self._tell()

    def _tell(self) -> None:
        bars.advance(self._name, self._untold)
        self._untold, self._told = 0, time.monotonic()


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
