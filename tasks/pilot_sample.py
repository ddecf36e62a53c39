"""The items of the option-order pilot: drawn once for a bank and kept, so that a rerun asks the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from examgen import tables
from examgen.answers import disagreement, pilot
from examgen.records import BankItem, EndpointRow
from tasks import store
from tasks.calibration_stage import read_responses
from tasks.workplace import Workplace


def pilot_sample(place: Workplace, bank: Path, items: Sequence[BankItem], size: int) -> tuple[list[str], str]:
    """Item ids of the pilot, and one line that says what it was stratified by.

    Disagreement comes from the study's latest evaluation when the sample is first drawn, of items the bank still has;
    without one the sample is stratified by semantic parent and stratum alone, and says so.
    """
    kept = place.root / "pilots" / f"{bank.name}-{size}.json"
    if kept.is_file():
        found = store.read_json(kept)
        return list(found["item_ids"]), str(found["about"])
    history, where = _history(place)
    known = {item.item_id: history[item.item_id] for item in items if item.item_id in history}
    chosen = pilot(items, size, known)
    by = "semantic parent and stratum"
    about = (
        f"{len(chosen)} items by {by} and by disagreement in evaluation {where} "
        f"({len(known)} of {len(items)} items known)"
        if known
        else f"{len(chosen)} items by {by}; there is no earlier evaluation of these items, so not by disagreement"
    )
    store.write_json(kept, {"item_ids": chosen, "about": about})
    return chosen, about


def _history(place: Workplace) -> tuple[dict[str, int], str]:
    """Distinct answers each item drew from the models of the study's latest evaluation, and its id."""
    latest = place.pointer("evaluation")
    if latest is None:
        return {}, ""
    folder = Path(latest["folder"])
    if not (folder / "endpoints.parquet").is_file():
        return {}, ""
    rows = tables.read_records(str(folder / "endpoints.parquet"), EndpointRow)
    models = {row.endpoint_id for row in rows if row.role != "baseline"}
    return disagreement(row for row in read_responses(folder) if row.endpoint_id in models), folder.name
