"""What this process paid for: calls to models and texts embedded. A rerun of an unchanged study counts none."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar

_lock = threading.Lock()
_counts: Counter[str] = Counter()
_apart: ContextVar[Counter[str] | None] = ContextVar("apart", default=None)


def add(what: str, number: int = 1) -> None:
    """Count calls or embeddings made."""
    counts = _apart.get()
    with _lock:
        (_counts if counts is None else counts)[what] += number


@contextlib.contextmanager
def apart() -> Iterator[Counter[str]]:
    """Count what this block makes by itself: a worker reports it to the process that started the run."""
    counts: Counter[str] = Counter()
    token = _apart.set(counts)
    try:
        yield counts
    finally:
        _apart.reset(token)


def count(what: str) -> int:
    """How many were made since the process started."""
    with _lock:
        return _counts[what]


def line() -> str:
    """The two numbers as said at the end of a run."""
    return f"{count('model calls')} model calls, {count('embeddings')} embeddings"
