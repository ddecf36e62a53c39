"""How often Python looks for cycles while a panel is asked."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 20_000
"""Objects more before Python looks for cycles again; its own 700 came a hundred times a second at 128 requests in
flight, each time through all that these requests hold."""

_lock = threading.Lock()
_before: list[tuple[int, int, int]] = []


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Look for cycles seldom in this block, in the whole process; the last of several such blocks puts back what was.

    A call leaves hardly any cycle behind, so memory does not grow for it.
    """
    with _lock:
        _before.append(gc.get_threshold())
        gc.set_threshold(SELDOM, *_before[0][1:])
    try:
        yield
    finally:
        with _lock:
            last = _before.pop()
            if not _before:
                gc.set_threshold(*last)
