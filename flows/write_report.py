"""The report of an evaluation: one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import flow

from flows.calibrate_results import overall_accuracy
from flows.request import StudyRequest
from tasks import artifacts
from tasks.calibration_stage import write_page
from tasks.progress import Step
from tasks.publishing import publish
from tasks.stages import make_shard
from tasks.workplace import Workplace


def _links(evaluation: dict[str, Any]) -> dict[str, str]:
    """Neighbours of the report by their address relative to it: evaluations/<id>/results-<key>/report-<key>/."""
    bank = Path(evaluation["bank"]).name
    return {
        "Data Docs of the audit": f"../../../../data_docs/{bank.split('-keys-')[0]}/index.html",
        "Manifest of the bank": f"../../../../bank/{bank}/bank.lock.json",
    }


@flow(name="write-report", flow_run_name="{request.name} · report")
def write_report(request: StudyRequest) -> dict[str, Any]:
    """Write the report of the latest results; returns its path."""
    study = request.load()
    place = Workplace(request.results, study.study)
    with place.alone():
        evaluation, results = place.latest("evaluation"), place.latest("results")
        depends = {"results": results["key"], "study": study.model_dump(mode="json"), "links": _links(evaluation)}
        inputs = {"bank": evaluation["bank"], "evaluation": evaluation["folder"], "results": results["folder"]}
        with Step("report") as step:
            shard = make_shard(study.study, "report", f"{study.study} · report", place.work, depends, inputs)
            done = write_page(shard)
            folder = publish(done, Path(results["folder"]) / f"report-{done.key}")
            step.outcome = f"{done.counts['bytes'] / 1e6:.1f} MB"
        report = folder / "report.html"
        place.point("report", {"report": str(report)})
        artifacts.results_artifacts(
            study.study, folder, overall_accuracy(Path(evaluation["folder"]), Path(results["folder"]))
        )
    return {"report": str(report)}
