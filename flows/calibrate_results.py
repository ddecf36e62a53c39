"""The statistics of an evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import flow

from examgen.accuracy import one_letter_note
from examgen.arms import chains
from examgen.planned_contrasts import resolved
from examgen.tables import read_rows
from flows.request import StudyRequest
from tasks import artifacts
from tasks.calibration_stage import calibrate
from tasks.code_version import contracts_version
from tasks.progress import Step
from tasks.publishing import publish
from tasks.review_place import find_place
from tasks.run_record import recorded
from tasks.stages import make_shard
from tasks.workplace import Workplace


@flow(name="calibrate-results", flow_run_name="{request.name} · calibrate")
def calibrate_results(request: StudyRequest) -> dict[str, Any]:
    """Compute every results table of the latest evaluation; returns their folder and the accuracies."""
    with artifacts.followed(request.name):
        return _calibrate(request)


def _calibrate(request: StudyRequest) -> dict[str, Any]:
    study = request.load()
    place = Workplace(request.results, study.study)
    with place.alone(), recorded(place, "calibrate-results"):
        latest = place.latest("evaluation")
        depends = {
            "evaluation": latest["evaluation_id"],
            "bank": Path(latest["bank"]).name,
            "statistics": study.statistics.model_dump(mode="json"),
            "sizing": resolved(study.sizing, Path(request.study).resolve().parent).model_dump(mode="json"),
            "nested": [list(chain) for chain in chains(study)],
            "abstention": study.panel.abstention,
            "contracts": contracts_version(),
        }
        if request.beside:
            depends["beside"] = _beside(Path(request.beside), Path(request.results))
        inputs = {"bank": latest["bank"], "evaluation": latest["folder"]}
        with Step("calibrate") as step:
            shard = make_shard(study.study, "calibrate", f"{study.study} · calibrate", place.work, depends, inputs)
            done = calibrate(shard)
            step.outcome = f"{len(done.counts)} results tables"
        folder = publish(done, Path(latest["folder"]) / f"results-{done.key}")
        place.point("results", {"folder": str(folder), "key": done.key})
        accuracy = overall_accuracy(Path(latest["folder"]), folder)
        artifacts.table(study.study, "accuracy", accuracy, "Accuracy per endpoint with its interval")
    return {"folder": str(folder), "accuracy": accuracy}


def _beside(evaluation: Path, results: Path) -> dict[str, str]:
    """The other evaluation and its bank, under the bank's name."""
    bank = find_place(evaluation, results).bank
    return {"name": f"bank {bank.name}", "bank": str(bank), "evaluation": str(evaluation.resolve())}


def overall_accuracy(evaluation: Path, results: Path) -> list[dict[str, Any]]:
    """One row an endpoint: its role, items, accuracy and interval; the best first."""
    roles = {row["endpoint_id"]: row["role"] for row in read_rows(str(evaluation / "endpoints.parquet"))}
    chosen: dict[str, dict[str, Any]] = {}
    found = read_rows(str(results / "accuracy.parquet"))
    for row in found:
        if row["axis"] == "overall" and row["statistic"] == "accuracy":
            chosen.setdefault(row["endpoint_id"], row)
    rows = [
        {
            "endpoint": name, "role": roles.get(name, ""),
            **{k: row[k] for k in ("n", "value", "low", "high", "method")},
            "note": one_letter_note(other for other in found if other["endpoint_id"] == name),
        }
        for name, row in chosen.items()
    ]
    return sorted(rows, key=lambda row: (-(row["value"] or 0.0), row["endpoint"]))
