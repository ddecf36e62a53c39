"""The run's log: what a line carries, JSON by request, expected failures without a traceback."""

from __future__ import annotations

import json
import logging

import pytest

from examgen.errors import BankError, RunError
from tasks import run_log
from tasks.artifacts import explanation
from tasks.progress import Step, say, spent


def test_json_lines_name_study_stage_and_shard(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EXAMGEN_LOG", "json")
    with run_log.about(study="s"), Step("write") as step:
        with run_log.about(shard="s · write · topic"):
            run_log.note("12 candidates")
        say("    warning: few items")
        step.outcome = "12 candidates over 1 topic"
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["message"][:12] for line in lines] == ["12 candidate", "warning: few", "write 12 can"]
    assert lines[0] | {"time": ""} == {
        "time": "", "level": "INFO", "study": "s", "stage": "write", "shard": "s · write · topic",
        "message": "12 candidates",
    }
    assert "shard" not in lines[1]
    assert lines[1]["level"] == "WARNING"
    assert run_log.fields() == {}
    assert spent["write"] >= 0


def test_plain_lines_are_as_they_were(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("EXAMGEN_LOG", raising=False)
    run_log.note("for the log alone")
    assert capsys.readouterr().err == ""


ENCOUNTERED = "Encountered exception during execution: %r"


def record(error: BaseException | None, message: str = ENCOUNTERED) -> logging.LogRecord:
    info = (type(error), error, None) if error else None
    arguments = (error,) if error else ()
    return logging.LogRecord("prefect.flow_runs", logging.ERROR, "f.py", 1, message, arguments, info)


def test_expected_failures_are_one_line_and_others_keep_their_traceback() -> None:
    found = record(RunError("the disk is full: free space"))
    assert run_log.Discreet().filter(found)
    assert (found.getMessage(), found.exc_info) == ("Stopped: the disk is full: free space", None)
    assert found.levelno == logging.WARNING
    bug = record(KeyError("x"))
    assert run_log.Discreet().filter(bug)
    assert bug.exc_info
    assert bug.levelno == logging.ERROR
    ending = record(None, "Finished in state Failed('Flow run encountered an exception: BankError: no bank yet')")
    run_log.Discreet().filter(ending)
    assert ending.levelno == logging.WARNING
    ending = record(None, "Finished in state Failed('Flow run encountered an exception: KeyError: x')")
    run_log.Discreet().filter(ending)
    assert ending.levelno == logging.ERROR


def test_an_explanation_names_the_shard_and_the_next_step() -> None:
    error = RunError("endpoint gpt: stopped")
    error.add_note("shard: s · write · topic")
    assert "In the shard **s · write · topic**" in explanation(error)
    assert "run again" in explanation(error)
    assert "Correct what the message names" in explanation(BankError("no bank"))
