"""A pool of reading processes: each long-lived, killed and replaced when a file takes too long or brings it down."""

from __future__ import annotations

import json
import os
import queue
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Reply: TypeAlias = "Future[dict[str, Any]] | None"

FILES_PER_PROCESS = 500
"""A process is replaced after this many files, so that what a parser leaks does not add up."""

IMPORT_SECONDS = 30.0
"""Added to the time of a process's first file, for the imports of its reader are no fault of the file."""

COMMAND = ("-m", "tasks.read_child")
"""What Python is asked to run as the reading process."""

_STOPPED = {"status": "unreadable", "transient": True, "reason": "reading was stopped"}

_KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV")


class ReadingProcess:
    """One child process that reads files, started when first asked."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as this object
        self._files = 0

    def read(self, location: Path, media_type: str, options: dict[str, Any]) -> dict[str, Any]:
        """The reply for one file; running too long or a crash is a reply too, marked `transient`."""
        if self._files >= FILES_PER_PROCESS:
            self.stop()
        process = self._running()
        self._files += 1
        request = {"location": str(location), "media_type": media_type, "options": options}
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
        except BrokenPipeError:
            return self._crashed()
        line = self._line(process, options["seconds"])
        if line is None:
            self.stop()
            return {
                "status": "unreadable", "transient": True,
                "reason": f"took longer than corpus.limits.seconds allows ({options['seconds']:g} s)",
            }
        if not line:
            return self._crashed()
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            root = str(Path(__file__).resolve().parents[1])
            # Only what a parser needs: the keys of endpoints are no business of a process that opens strangers' files.
            environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, (root, environment.get("PYTHONPATH", ""))))
            environment.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0")
            self._errors.seek(0)
            self._errors.truncate()
            self._process = subprocess.Popen(
                [sys.executable, *COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._errors, env=environment,
            )
            self._files = 0
        return self._process

    def _line(self, process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
        """A reply line; empty when the process is gone, None when the time is over."""
        assert process.stdout is not None
        pipe = process.stdout.fileno()
        deadline = time.monotonic() + seconds + (IMPORT_SECONDS if self._files == 1 else 0.0)
        parts: list[bytes] = []
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                return None
            part = os.read(pipe, 1 << 20)
            if not part:
                return b""
            parts.append(part)
            if part.endswith(b"\n"):
                return b"".join(parts)

    def _crashed(self) -> dict[str, Any]:
        if self._process is None:
            return dict(_STOPPED)
        code = self._process.wait()
        self._errors.seek(0)
        told = self._errors.read()[-2000:].decode("utf-8", "replace").strip().splitlines()
        self.stop()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        why = f": {told[-1][:300]}" if told else ""
        return {"status": "unreadable", "transient": True, "reason": f"the reading process ended with {how}{why}"}

    def stop(self) -> None:
        """End the process; the next file starts another."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    # What was still in its buffer was meant for a process that is gone.
                    continue
        self._process = None


class ReadingPool:
    """As many reading processes as there are processors; replies come in the order of the requests."""

    def __init__(self, options: dict[str, Any], processes: int | None = None) -> None:
        self._options = options
        self._size = processes or processors()
        self._idle: queue.SimpleQueue[ReadingProcess] = queue.SimpleQueue()
        self._all = [ReadingProcess() for _ in range(self._size)]
        for process in self._all:
            self._idle.put(process)
        # Twice as many threads: while one keeps a reply on disk, its process has the next file already.
        self._threads = ThreadPoolExecutor(2 * self._size, thread_name_prefix="read")
        self._closed = False

    def __enter__(self) -> ReadingPool:
        return self

    def __exit__(self, *_: object) -> None:
        # What waits is cancelled first, so that no thread starts another process for it.
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._all:
            process.stop()
        self._threads.shutdown(wait=True)
        for process in self._all:
            process.stop()

    def submit(
        self, location: Path, media_type: str, keep: Callable[[dict[str, Any]], object]
    ) -> Future[dict[str, Any]]:
        """Ask for a file; the reply comes in the future, after `keep` was called with it in a thread of the pool."""
        return self._threads.submit(self._read, location, media_type, keep)

    def _read(self, location: Path, media_type: str, keep: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        process = self._idle.get()
        try:
            if self._closed:
                return dict(_STOPPED)
            reply = process.read(location, media_type, self._options)
        finally:
            self._idle.put(process)
        keep(reply)
        return reply


def processors() -> int:
    """Processors this process may use: in a container fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    jobs: Iterable[tuple[T, Reply]], ahead: int, weight: Callable[[T], int], budget: int
) -> Iterator[tuple[T, dict[str, Any] | None]]:
    """Results in the order of their jobs, with a bounded number of jobs under way, so that memory stays bounded.

    Up to `ahead` jobs, so that a slow one does not leave the other processors idle, but no more than are needed to keep
    them busy once the jobs under way weigh more than `budget`.
    """
    waiting: deque[tuple[T, Reply]] = deque()
    load = 0

    def first() -> tuple[T, dict[str, Any] | None]:
        nonlocal load
        thing, future = waiting.popleft()
        load -= weight(thing)
        return thing, future.result() if future else None

    for job in jobs:
        waiting.append(job)
        load += weight(job[0])
        while len(waiting) >= ahead or (load > budget and len(waiting) > 2 * processors()):
            yield first()
    while waiting:
        yield first()
