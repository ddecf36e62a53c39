"""How many items the study's contrasts need, before any is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import flow

from examgen.planned_contrasts import resolved
from flows.request import StudyRequest
from tasks import artifacts, store
from tasks.progress import Step
from tasks.publishing import publish
from tasks.sizing_stage import size, sizing_artifacts
from tasks.stages import make_shard
from tasks.workplace import Workplace


@flow(name="size-benchmark", flow_run_name="{request.name} · size")
def size_benchmark(request: StudyRequest, items: int | None = None) -> dict[str, Any]:
    """Size the bank for the study's contrasts; `items` defaults to those of the latest bank, if there is one."""
    with artifacts.followed(request.name):
        return _size(request, items)


def _size(request: StudyRequest, items: int | None) -> dict[str, Any]:
    study = request.load()
    place = Workplace(request.results, study.study)
    sizing = resolved(study.sizing, Path(request.study).resolve().parent)
    depends = {
        "sizing": sizing.model_dump(mode="json"),
        "items": items if items is not None else latest_items(place),
        "title": study.title,
    }
    with Step("size") as step:
        done = size(make_shard(study.study, "size", f"{study.study} · size", place.work, depends))
        needed, binding = done.facts["needed"], done.facts["binding"]
        step.outcome = f"{needed:,} items serve all contrasts ({binding})" if needed else binding
    folder = publish(done, place.root / "sizing" / done.key)
    place.point("sizing", {"folder": str(folder), "items": needed, "feasible": done.facts["feasible"]})
    sizing_artifacts(study.study, folder, done.facts["needs"])
    return {"folder": str(folder), "items": needed, "feasible": done.facts["feasible"], "binding": binding}


def latest_items(place: Workplace) -> int | None:
    """Items of the latest bank of the study; None when there is none yet."""
    note = place.root / "latest_bank.json"
    return int(store.read_json(note)["items"]) if note.is_file() else None
