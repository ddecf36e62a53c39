"""A Prefect server for the run: the user's if one is configured, else one of our own that cannot outlive us."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from examgen.errors import RunError

QUIET = {
    "DO_NOT_TRACK": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "SCARF_NO_ANALYTICS": "1",
    "UNSTRUCTURED_DISABLE_NOTICE": "1",
    "GX_ANALYTICS_ENABLED": "false",
    "ANONYMIZED_TELEMETRY": "False",
    "LANGCHAIN_TRACING_V2": "false",
    "HF_HUB_OFFLINE": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    # The newer UI asks an analytics host for its configuration even where analytics are off; the older asks nobody.
    "PREFECT_SERVER_UI_V2_ENABLED": "false",
}
"""Telemetry of our dependencies, off. Set before they are imported."""

_SPANS = "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY"

BATCHES = {
    # One row a batch is the default; in bursts the server then drops task-run records without an error.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_READ_BATCH_SIZE": "200",
}

_GUARD = """
import os, signal, subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.stdin.buffer.read()          # returns when whoever started us is gone, however it went
for sign in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
    try:
        os.killpg(server.pid, sign)
        server.wait(timeout=8 if sign != signal.SIGKILL else None)
        break
    except subprocess.TimeoutExpired:
        continue
    except ProcessLookupError:
        break
"""


def quiet() -> None:
    """Turn the telemetry of dependencies off for this process and its children; what the user set stays.

    Prefect's spans of flow and task runs go where the user's OpenTelemetry sends them: they stay on if there is one.
    """
    for name, value in QUIET.items():
        if name != _SPANS or not traced():
            os.environ.setdefault(name, value)


def traced() -> bool:
    """Whether the environment asks OpenTelemetry for traces."""
    exporter = os.environ.get("OTEL_TRACES_EXPORTER", "")
    asked = exporter or any(map(os.environ.get, ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")))
    return bool(asked) and exporter != "none" and os.environ.get("OTEL_SDK_DISABLED", "").lower() != "true"


def free_port() -> int:
    """A loopback port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def configured() -> str:
    """Address of the Prefect server that the environment or the active profile names; empty if none."""
    from prefect.settings import get_current_settings

    return str(get_current_settings().api.url or "")


def healthy(url: str) -> bool:
    """Whether a Prefect server answers at this address."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=2) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def wait_healthy(url: str, guard: subprocess.Popen[bytes], log: Path, seconds: float) -> None:
    """Wait until the server answers; `RunError` with the end of its log when it does not."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if healthy(url):
            return
        if guard.poll() is not None:
            break
        time.sleep(0.2)
    tail = " / ".join(log.read_text(errors="replace").splitlines()[-3:]) if log.exists() else ""
    raise RunError(f"the Prefect server at {url} did not start; see {log}: {tail}")


def environment(home: Path, port: int) -> dict[str, str]:
    """What a server of ours runs with: its records under `home`, loopback, one port."""
    url = f"http://127.0.0.1:{port}/api"
    # The port goes by environment: given on the command line, the UI would call the default port.
    return {
        **os.environ,
        **BATCHES,
        "PREFECT_HOME": str(home),
        "PREFECT_SERVER_API_HOST": "127.0.0.1",
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_UI_API_URL": url,
        "PREFECT_API_URL": url,
    }


def make_home(home: Path) -> None:
    """The folder of a server's records; `RunError` when it cannot be made."""
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{home}: cannot be made ({error.strerror}): choose another folder with --results") from error


def start(home: Path, port: int | None = None, seconds: float = 180.0) -> tuple[subprocess.Popen[bytes], str]:
    """Start a server on loopback with its records under `home`; it stops when this process ends, even by kill -9."""
    make_home(home)
    number = port or free_port()
    url = f"http://127.0.0.1:{number}/api"
    log = home / "server.log"
    with log.open("ab") as sink:
        guard = subprocess.Popen(
            [sys.executable, "-c", _GUARD, sys.executable, "-m", "prefect", "server", "start"],
            stdin=subprocess.PIPE,
            stdout=sink,
            stderr=sink,
            env=environment(home, number),
            start_new_session=True,
        )
    wait_healthy(url, guard, log, seconds)
    return guard, url


def stop(guard: subprocess.Popen[bytes]) -> None:
    """Stop a server that `start` started."""
    if guard.stdin:
        guard.stdin.close()
    try:
        guard.wait(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(guard.pid, signal.SIGKILL)


@contextlib.contextmanager
def available(home: Path, served: str = "") -> Iterator[str]:
    """The server for a run: the configured one, the one that `examgen serve` holds (`served`), or one of our own that
    ends with the block."""
    url = configured()
    if url:
        if not healthy(url):
            raise RunError(
                f"PREFECT_API_URL is {url}, where no Prefect server answers: start it, or unset the variable"
            )
        yield url
        return
    if served:
        with _settings(home, served):
            yield served
        return
    guard, url = start(home)
    try:
        with _settings(home, url):
            yield url
    finally:
        stop(guard)


@contextlib.contextmanager
def _settings(home: Path, url: str) -> Iterator[None]:
    """Prefect's settings of this process for a server with its records under `home`."""
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogHandler
    from prefect.settings import PREFECT_API_URL, PREFECT_HOME, PREFECT_LOCAL_STORAGE_PATH, temporary_settings

    overrides = {PREFECT_API_URL: url, PREFECT_HOME: str(home), PREFECT_LOCAL_STORAGE_PATH: str(home / "storage")}
    with temporary_settings(overrides):
        try:
            yield
        finally:
            # Logs and events wait in this process: after the server is gone they would be lost, with a traceback.
            APILogHandler().flush()
            EventsWorker.drain_all()
