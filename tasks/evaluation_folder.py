"""An evaluation on disk: responses by endpoint, endpoints, calls, and the note that says which bank they answer."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from examgen import tables
from examgen.errors import BankError, InputError
from examgen.ids import digest
from examgen.records import BankItem, EndpointRow, Response
from tasks import store
from tasks.workplace import Workplace

NOTE = "evaluation.json"
"""The file beside the tables: bank, where the responses come from, whether abstention was offered, parser version."""


def response_path(folder: Path, endpoint_id: str) -> Path:
    """Where the responses of an endpoint lie."""
    return folder / "responses" / f"endpoint_id={endpoint_id}" / "responses.parquet"


def workplace_of(folder: Path, kind: str) -> Workplace:
    """The study's folders, from a bank or evaluation folder in them (`kind` is "bank" or "evaluations")."""
    folder = folder.resolve()
    if not folder.exists():
        raise InputError(f"{folder}: there is no such folder: give one under <results>/<study>/{kind}/")
    if folder.parent.name != kind or not folder.is_dir():
        raise InputError(f"{folder}: give a folder under <results>/<study>/{kind}/")
    root = folder.parent.parent
    return Workplace(root.parent, root.name)


def bank_of(evaluation: Path, given: Path | None = None) -> Path:
    """The bank folder an evaluation is about: as given, as its note says, or as the latest evaluation has it."""
    place = workplace_of(evaluation, "evaluations")
    if given is None:
        note = evaluation / NOTE
        latest = place.pointer("evaluation")
        if note.is_file():
            given = place.banks / str(store.read_json(note)["bank"])
        elif latest and Path(latest["folder"]) == evaluation.resolve():
            given = Path(latest["bank"])
        else:
            raise InputError(f"{evaluation}: does not say which bank it is about: give it with --bank")
    if not (given / "bank.parquet").is_file():
        raise BankError(f"{given}: no bank.parquet in it: give the folder of a locked bank with --bank")
    return given


def read_bank(folder: Path) -> list[BankItem]:
    """The items of a bank folder."""
    place = folder / "bank.parquet"
    if not place.is_file():
        raise BankError(f"{folder}: no bank.parquet in it: give the folder of a locked bank (…/bank/<bank_id>)")
    return tables.read_records(str(place), BankItem)


@contextmanager
def _new_folder(place: Workplace) -> Iterator[Path]:
    temporary = place.evaluations / f".new.{uuid.uuid4().hex[:8]}.tmp"
    temporary.mkdir(parents=True)
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_evaluation(
    place: Workplace,
    responses: Mapping[str, Sequence[Response]],
    endpoints: Sequence[EndpointRow],
    note: Mapping[str, Any],
    calls: Path | None = None,
) -> Path:
    """A new evaluation folder, named by what is in it. `calls` is a table to copy; without one nobody paid here.

    The same responses and note give the same folder.
    """
    with _new_folder(place) as temporary:
        for endpoint_id, rows in responses.items():
            ordered = sorted(rows, key=lambda row: (row.item_id, row.order, row.repeat, row.mode))
            store.write(response_path(temporary, endpoint_id), "responses", ordered)
        store.write(temporary / "endpoints.parquet", "endpoints", endpoints)
        if calls is not None and calls.is_file():
            shutil.copyfile(calls, temporary / "calls.parquet")
        else:
            store.write(temporary / "calls.parquet", "calls", [])
        store.write_json(temporary / NOTE, note)
        files = sorted(found for found in temporary.rglob("*") if found.is_file())
        parts = [part for found in files for part in (found.relative_to(temporary).as_posix(), found.read_bytes())]
        final = place.evaluations / digest("evaluation", *parts)
        store.settle(temporary, final)
    return final


def use(place: Workplace, evaluation: Path, bank: Path) -> None:
    """Make it the evaluation that the study's next `calibrate` and `report` are about."""
    place.point(
        "evaluation", {"evaluation_id": evaluation.name, "folder": str(evaluation), "bank": str(bank.resolve())}
    )
