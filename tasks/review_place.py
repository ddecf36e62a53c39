"""Where a review finds what it needs: the bank, the results of its evaluation, from a study or from either folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examgen import tables
from examgen.errors import BankError, InputError
from examgen.study import load_study
from tasks import store
from tasks.workplace import Workplace


@dataclass(frozen=True)
class ReviewPlace:
    """A bank and the results that say what to look at; `results` is None where only a bank was given."""

    bank: Path
    results: Path | None
    title: str
    source_text: bool = True

    def result_rows(self) -> dict[str, list[dict[str, Any]]]:
        """The tables of the queues; `InputError` where nothing was calibrated."""
        if self.results is None:
            raise InputError(f"{self.bank}: a bank alone has no queues: give its study or its evaluation folder")
        return {name: tables.read_rows(str(self.results / f"{name}.parquet")) for name in QUEUES}


QUEUES = ("key_risk", "item_difficulty")


def find_place(target: Path, results: Path) -> ReviewPlace:
    """The place of a study file, an evaluation folder or a bank folder; `InputError` for anything else."""
    if target.is_file():
        study = load_study(target)
        latest = Workplace(results, study.study).latest("evaluation")
        evaluation, bank = Path(latest["folder"]), Path(latest["bank"])
        return ReviewPlace(bank, _results_of(evaluation, "STUDY"), study.title, study.report.include_source_text)
    if (target / "endpoints.parquet").is_file():
        evaluation = target.resolve()
        found = _results_of(evaluation, "the study of this evaluation")
        bank = _bank_of(evaluation, found)
        return ReviewPlace(bank, found, _title(bank))
    if (target / "bank.lock.json").is_file():
        return ReviewPlace(target.resolve(), None, _title(target))
    raise InputError(f"{target}: is no study file, no evaluation folder and no bank folder")


def _title(bank: Path) -> str:
    note = bank / "bank.lock.json"
    facts = store.read_json(note).get("facts", {}) if note.is_file() else {}
    return str(facts.get("title") or facts.get("study") or bank.name)


def _results_of(evaluation: Path, what: str) -> Path:
    """The results of an evaluation: those its study points to, otherwise the youngest."""
    root = evaluation.parent.parent
    latest = Workplace(root.parent, root.name).pointer("results")
    if latest:
        folder = Path(latest["folder"])
        if folder.parent == evaluation and folder.is_dir():
            return folder
    found = sorted(evaluation.glob("results-*"), key=lambda folder: folder.stat().st_mtime)
    if not found:
        raise BankError(f"{evaluation}: no results yet: run `examgen calibrate` on {what} first")
    return found[-1]


def _bank_of(evaluation: Path, results: Path) -> Path:
    """The bank that was asked about: by the study's pointer, otherwise the one that holds exactly these items."""
    root = evaluation.parent.parent
    latest = Workplace(root.parent, root.name).pointer("evaluation")
    if latest and Path(latest["folder"]) == evaluation:
        return Path(latest["bank"])
    asked = {row["item_id"] for row in tables.read_rows(str(results / "item_difficulty.parquet"))}
    for place in sorted((root / "bank").glob("*/bank.parquet")):
        if set(tables.read_table(str(place))["item_id"].to_pylist()) == asked:
            return place.parent
    raise BankError(f"{evaluation}: no bank under {root / 'bank'} holds its items: give its study instead")
