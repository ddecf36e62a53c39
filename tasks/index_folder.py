"""The folder that holds indexes: one writer at a time, old indexes removed unless somebody reads them."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from filelock import FileLock, Timeout

from examgen.errors import RunError

LOCK_SECONDS = 1_800.0


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder alone; `RunError` after half an hour of waiting."""
    try:
        with FileLock(folder / "index.lock", timeout=LOCK_SECONDS):
            yield
    except Timeout as error:
        waited = f"another run has been building this index for {LOCK_SECONDS:.0f} s"
        raise RunError(f"{folder}: {waited}: wait for it or stop it, then run again") from error


def mark_in_use(place: Path) -> IO[str]:
    """A handle that keeps an index from being removed until it is closed, or until its process ends in whatever way."""
    handle = (place / "in-use").open("a")
    fcntl.flock(handle, fcntl.LOCK_SH)
    return handle


def remove_old(folder: Path, current: Path, dropped: Callable[[str], None]) -> None:
    """Remove all but the current index and those in use; `dropped` is told the fingerprint of each."""
    for place in sorted([*folder.glob("index-*"), *folder.glob("building-*")]):
        if place == current or not place.is_dir():
            continue
        with (place / "in-use").open("a") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            dropped(place.name.partition("-")[2])
            shutil.rmtree(place)
