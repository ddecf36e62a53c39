"""What this process paid for: calls to models and texts embedded. A rerun of an unchanged study counts none."""

from __future__ import annotations

import threading
from collections import Counter

_lock = threading.Lock()
_counts: Counter[str] = Counter()


def add(what: str, number: int = 1) -> None:
    """Count calls or embeddings made."""
    with _lock:
        _counts[what] += number


def count(what: str) -> int:
    """How many were made since the process started."""
    with _lock:
        return _counts[what]


def line() -> str:
    """The two numbers as said at the end of a run."""
    return f"{count('model calls')} model calls, {count('embeddings')} embeddings"
