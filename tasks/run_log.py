"""What a run writes down as it goes: lines that say study, stage and shard, in Prefect's log, or as JSON on stderr.

EXAMGEN_LOG=json makes every line of the program one JSON object on stderr, for a log collector. An expected failure
is one line: Prefect would add the same traceback for the task, for its flow and for the flow above.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import sys
import time
from collections.abc import Iterator
from contextvars import ContextVar

from examgen.errors import ExamGenError

FIELDS = ("study", "stage", "shard")

_about: ContextVar[dict[str, str]] = ContextVar("examgen_about", default={})  # noqa: B039 (never changed in place)
# Under this name Prefect hands lines to its server, and not to the terminal, which has lines of its own.
_logger = logging.getLogger("prefect.extra.examgen")


def as_json() -> bool:
    """Whether the user asked for JSON lines."""
    return os.environ.get("EXAMGEN_LOG", "").lower() == "json"


@contextlib.contextmanager
def about(**fields: str) -> Iterator[None]:
    """Lines written in this block carry these fields (study, stage, shard) beside those around it."""
    token = _about.set({**_about.get(), **fields})
    try:
        yield
    finally:
        _about.reset(token)


def fields() -> dict[str, str]:
    """What lines carry just now."""
    return dict(_about.get())


def note(message: str, level: int = logging.INFO, **fields: str) -> None:
    """One line to whoever reads the run's log."""
    known = {**_about.get(), **fields}
    message = " ".join(message.split())
    if as_json():
        line = {"time": _now(), "level": logging.getLevelName(level), **known, "message": message}
        print(json.dumps(line, ensure_ascii=False), file=sys.stderr, flush=True)
    if _in_a_run():
        told = " ".join(f"{name}={json.dumps(known[name], ensure_ascii=False)}" for name in FIELDS if name in known)
        _logger.log(level, "%s %s", told, message, extra=known)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _in_a_run() -> bool:
    """Whether there is a flow or task run that a line would belong to; Prefect is not imported for the question."""
    context = sys.modules.get("prefect.context")
    return context is not None and bool(context.FlowRunContext.get() or context.TaskRunContext.get())


class Discreet(logging.Filter):
    """Takes the traceback from Prefect's lines on a failure that we raised on purpose, and makes them warnings.

    The state of the run holds the message, and so does the line that the flow writes about it.
    """

    _ENDING = re.compile(r"Finished in state Failed\(.*?encountered an exception:? (\w+)", re.DOTALL)

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record where it is about an expected failure; every record passes."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, ExamGenError):
            record.msg, record.args = "Stopped: %s", (str(error),)
            record.exc_info = record.exc_text = None
            self._calm(record)
        elif record.levelno == logging.ERROR:
            found = self._ENDING.search(str(record.msg) % record.args if record.args else str(record.msg))
            if found and found.group(1) in _expected():
                self._calm(record)
        return True

    @staticmethod
    def _calm(record: logging.LogRecord) -> None:
        record.levelno, record.levelname = logging.WARNING, "WARNING"


def _expected() -> set[str]:
    """Names of all errors raised on purpose."""
    found, new = {ExamGenError.__name__}, [ExamGenError]
    while new:
        below = new.pop().__subclasses__()
        found |= {kind.__name__ for kind in below}
        new += below
    return found


def install() -> None:
    """Make Prefect's lines on expected failures discreet in this process; safe to call twice."""
    for name in ("prefect.flow_runs", "prefect.task_runs"):
        logger = logging.getLogger(name)
        if not any(isinstance(known, Discreet) for known in logger.filters):
            logger.addFilter(Discreet())
