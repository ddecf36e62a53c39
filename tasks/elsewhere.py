"""What a worker of a cluster does: one shard, from plain values, into the shared results folder.

Kept free of heavy imports at the top: the worker's telemetry is switched off before Prefect and the rest come in.
"""

from __future__ import annotations

import importlib
import socket
import uuid
from pathlib import Path
from typing import Any

from examgen.errors import ExamGenError, RunError


def carry_out(module: str, function: str, version: str, shard: dict[str, Any]) -> dict[str, Any]:
    """Do one shard of the stage `module.function`; what the driver needs to know of it, as plain values.

    `version` is the code version of the stage where the run was started. Returns `done` (what the shard left), `tally`
    and `steps` (counts to add to the driver's), or `failed` and `message` for an error of ours: some clusters wrap
    exceptions in tracebacks of their own.
    """
    from tasks import server

    server.quiet()
    from tasks import ledger, progress, stages, tally

    try:
        stage = getattr(importlib.import_module(module), function)
        asked = stages.Shard.model_validate(shard)
        _same_code(asked.stage, stages.version_of(asked.stage), version)
        _same_folder(asked)
        # A journal of its own for every try: a worker that was given up as lost may still be writing to another.
        with tally.apart() as counts, progress.noting() as steps, ledger.written_by(uuid.uuid4().hex[:8], True):
            done = stage.here(asked)
    except ExamGenError as error:
        return {"failed": type(error).__name__, "message": str(error)}
    return {"done": done.model_dump(), "tally": dict(counts), "steps": dict(steps)}


def _same_code(stage: str, mine: str, asked: str) -> None:
    if mine != asked:
        raise RunError(
            f"worker {socket.gethostname()}: its code of the stage {stage} is not that of the program that started the "
            f"run: install the same version on every worker, and start them anew"
        )


def _same_folder(shard: Any) -> None:
    results = Path(shard.folder).parents[1]
    if not results.is_dir():
        raise RunError(
            f"worker {socket.gethostname()}: sees no folder {results}: mount the results folder there under that path"
        )
