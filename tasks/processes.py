"""Processes we started, told from others that got their number since: a process is its number and its start."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

MARK = "EXAMGEN_SERVED_BY"
"""Environment variable that what we start hands on to what it starts."""

_PROC = Path("/proc")
_START_FIELD = 19
"""Place of the start time in /proc/<pid>/stat, counted behind the command's closing bracket."""


class Process(BaseModel):
    """A process by its number and the moment of its start, as the system writes it."""

    model_config = ConfigDict(frozen=True)

    name: str
    pid: int
    started: str

    @property
    def alive(self) -> bool:
        """Whether this very process still runs."""
        return started(self.pid) == self.started


def started(pid: int) -> str:
    """When a process started, in the system's own words; empty when it does not run (or has ended unreaped)."""
    if _PROC.is_dir():
        try:
            fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            return ""
        return "" if fields[0] in "ZX" else fields[_START_FIELD]
    told = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return told.stdout.strip()


def marked(value: str) -> list[Process]:
    """Processes whose environment carries our mark: also those whose parent is gone. Linux only, else none."""
    wanted = f"{MARK}={value}".encode()
    found = []
    for place in _PROC.glob("[0-9]*/environ"):
        pid = int(place.parent.name)
        try:
            carries = wanted in place.read_bytes().split(b"\0")
        except OSError:
            continue  # ended meanwhile, or somebody else's
        if carries and pid != os.getpid() and (moment := started(pid)):
            found.append(Process(name="child", pid=pid, started=moment))
    return found


def _signal(process: Process, sign: signal.Signals) -> None:
    try:
        if process.alive:
            os.kill(process.pid, sign)
    except ProcessLookupError:
        pass


def wait_gone(processes: Iterable[Process], seconds: float) -> list[Process]:
    """Those still there after at most this many seconds."""
    end = time.monotonic() + seconds
    left = [process for process in processes if process.alive]
    while left and time.monotonic() < end:
        time.sleep(0.1)
        left = [process for process in left if process.alive]
    return left


def end(processes: Sequence[Process], patience: float = 15.0) -> None:
    """Ask twice, then kill. Prefect's worker has been seen to overhear the first request."""
    left = list(processes)
    for sign in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
        for process in left:
            _signal(process, sign)
        left = wait_gone(left, patience)
        if not left:
            return
