"""The report of an evaluation: one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import flow

from examgen.errors import BankError
from flows.calibrate_results import overall_accuracy
from flows.request import StudyRequest
from tasks import artifacts
from tasks.calibration_stage import write_page
from tasks.progress import Step
from tasks.publishing import publish
from tasks.run_record import recorded
from tasks.stages import make_shard
from tasks.store import read_json
from tasks.workplace import Workplace


def _links(evaluation: dict[str, Any], root: Path) -> dict[str, str]:
    """Neighbours of the report by their address relative to it: evaluations/<id>/results-<key>/report-<key>/.

    A release has the Data Docs of the bank it was made from.
    """
    bank = Path(evaluation["bank"])
    note = bank / "bank.lock.json"
    if not note.is_file():
        return {}
    manifest = read_json(note)
    review = manifest["facts"].get("review", {})
    made_from = [bank.name, manifest["bank_id"], *(one["reviewed_bank"] for one in [review, *review.get("earlier", [])]
                                                   if one)]  # fmt: skip
    links = {"Manifest of the bank": f"../../../../bank/{bank.name}/bank.lock.json"}
    documents = next((name for name in made_from if (root / "data_docs" / name / "index.html").is_file()), None)
    if documents:
        links["Data Docs of the audit"] = f"../../../../data_docs/{documents}/index.html"
    return links


@flow(name="write-report", flow_run_name="{request.name} · report")
def write_report(request: StudyRequest) -> dict[str, Any]:
    """Write the report of the latest results; returns its path."""
    with artifacts.followed(request.name):
        return _write(request)


def _write(request: StudyRequest) -> dict[str, Any]:
    study = request.load()
    place = Workplace(request.results, study.study)
    with place.alone(), recorded(place, "write-report"):
        evaluation, results = place.latest("evaluation"), place.latest("results")
        if Path(results["folder"]).parent != Path(evaluation["folder"]):
            raise BankError(f"{evaluation['folder']}: no results of this evaluation yet: run `examgen calibrate STUDY`")
        links = _links(evaluation, place.root)
        said = study.model_dump(mode="json", exclude={"runner"})  # where the work was done changes no page
        depends = {"results": results["key"], "study": said, "links": links}
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
