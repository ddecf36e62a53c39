"""The panel asked again about the bank there is, with statistics and report: what a schedule runs every week."""

from __future__ import annotations

from typing import Any

from prefect import flow

from flows.calibrate_results import calibrate_results
from flows.evaluate_panel import evaluate_panel
from flows.request import StudyRequest
from flows.write_report import write_report
from tasks import artifacts
from tasks.stages import ended
from tasks.workplace import Workplace


@flow(name="refresh-panel", flow_run_name="{request.name} · panel to report")
def refresh_panel(request: StudyRequest) -> dict[str, Any]:
    """Ask what is missing about the latest bank, then compute results and write the report; the state names incomplete
    endpoints. With nothing new it ends with the results and the report that were there."""
    with artifacts.followed(request.name, progress=False), Workplace(request.results, request.load().study).alone():
        done, evaluation = refreshed(request)
    return ended({**done, "evaluation_id": evaluation["evaluation_id"]}, evaluation["incomplete"])


def refreshed(request: StudyRequest) -> tuple[dict[str, Any], dict[str, Any]]:
    """Panel, statistics and report about the latest bank: where results are and what they say, and the evaluation."""
    evaluation = evaluate_panel(request)
    results = calibrate_results(request)
    report = write_report(request)
    done = {"results_folder": results["folder"], "accuracy": results["accuracy"], "report": report["report"]}
    return done, evaluation
