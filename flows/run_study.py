"""The whole study: bank, panel, statistics, report."""

from __future__ import annotations

from typing import Any

from prefect import flow

from flows.build_bank import build_bank
from flows.refresh_panel import refreshed
from flows.request import StudyRequest
from tasks import artifacts
from tasks.stages import ended
from tasks.workplace import Workplace


@flow(name="run-study", flow_run_name="{request.name} · whole study")
def run_study(request: StudyRequest) -> dict[str, Any]:
    """Do everything a study says; returns what the last page of a run shows. The state names incomplete endpoints."""
    with artifacts.followed(request.name, progress=False):
        # Held from the first stage to the last: a second run must not come in between two of them.
        with Workplace(request.results, request.load().study).alone():
            done, evaluation = _stages(request)
        artifacts.study_summary(request.name, done, evaluation["rows"])
    return ended(done, evaluation["incomplete"])


def _stages(request: StudyRequest) -> tuple[dict[str, Any], dict[str, Any]]:
    bank = build_bank(request)
    answered, evaluation = refreshed(request)
    done = {
        "title": request.load().title or request.name,
        "bank_id": bank["bank_id"],
        "bank_folder": bank["folder"],
        "items": bank["items"],
        **answered,
    }
    return done, evaluation
