"""Nothing calls home: a whole study with every connection to another machine refused and written down."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.server import QUIET, quiet
from tests.flows.test_kill import ROOT, prepare
from tests.stub_server import StubServer

TRACING = "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY"


def environment(log: Path) -> dict[str, str]:
    """Ours, without what a developer may have switched off: the program itself has to."""
    kept = {k: v for k, v in os.environ.items() if k not in QUIET and not k.startswith("PREFECT_")}
    path = os.pathsep.join((str(ROOT / "tests" / "offline"), str(ROOT)))
    return {**kept, "PYTHONPATH": path, "EXAMGEN_OUTSIDE": str(log), "OTEL_SERVICE_NAME": "examgen"}


def test_the_watch_sees_an_attempt(tmp_path: Path) -> None:
    words = "import urllib.request as r\ntry: r.urlopen('http://example.org', timeout=3)\nexcept OSError: pass"
    log = tmp_path / "outside.txt"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {words!r}])"
    subprocess.run([sys.executable, "-c", nested], env=environment(log), check=True, timeout=120)
    assert "example.org" in log.read_text()


@pytest.mark.timeout(900)
def test_a_study_calls_nobody_outside(tmp_path: Path) -> None:
    log = tmp_path / "outside.txt"
    with StubServer() as stub:
        study, results = prepare(tmp_path / "study", stub.base_url)
        done = subprocess.run(
            [sys.executable, "-m", "flows.command_line", "run", study, "--results", results],
            env=environment(log), cwd=ROOT, capture_output=True, text=True, timeout=850, check=False,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Done in" in done.stdout
    assert stub.calls > 0
    assert not log.exists(), log.read_text()


def test_spans_are_left_to_a_user_who_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    for name in QUIET:
        monkeypatch.setenv(name, "set before")  # so that monkeypatch puts back what quiet() writes
        monkeypatch.delenv(name)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317")
    quiet()
    assert TRACING not in os.environ
    assert os.environ["DO_NOT_TRACK"] == "1"
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT")
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    quiet()
    assert os.environ[TRACING] == "false"
