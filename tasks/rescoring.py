"""Reading stored replies again with the present parser: no request is sent, the old evaluation stays as it is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from examgen import tables
from examgen.answers import PARSER_VERSION
from examgen.answers.responses import forces_letters, reread
from examgen.errors import InputError
from examgen.records import BankItem, EndpointRow, Response
from tasks import store
from tasks.evaluation_folder import NOTE, bank_of, read_bank, response_path, use, workplace_of, write_evaluation


@dataclass(frozen=True)
class Rescored:
    """What another reading made of an evaluation: its folder (the old one when nothing differs), rows in all, rows
    whose reading changed, how ("unparseable → parsed": rows), and the parser versions before."""

    folder: Path
    rows: int
    changed: int
    changes: Mapping[str, int]
    before: tuple[str, ...]


def reread_rows(
    rows: Sequence[Response], bank: Mapping[str, BankItem], *, abstention: bool, constrained: bool, name: str = ""
) -> list[Response]:
    """Rows of one endpoint as this parser reads them. `InputError` for a row whose item the bank does not have."""
    unknown = next((row.item_id for row in rows if row.item_id not in bank), None)
    if unknown is not None:
        raise InputError(f"{name}: the bank has no item {unknown!r}: give the bank the responses are about with --bank")
    return [reread(row, bank[row.item_id], abstention=abstention, constrained=constrained) for row in rows]


def rescore(evaluation: Path, bank: Path | None = None, *, abstention: bool | None = None) -> Rescored:
    """Read every stored reply of an evaluation again; what differs goes into a new evaluation folder, which becomes the
    study's latest if the old one was.

    `abstention` says whether an extra "insufficient information" option was shown; None is as the evaluation's note
    says.
    """
    evaluation = evaluation.resolve()
    place, about = workplace_of(evaluation, "evaluations"), bank_of(evaluation, bank)
    note = store.read_json(evaluation / NOTE) if (evaluation / NOTE).is_file() else {}
    offered = bool(note.get("abstention", False)) if abstention is None else abstention
    items = {item.item_id: item for item in read_bank(about)}
    endpoints = tables.read_records(str(evaluation / "endpoints.parquet"), EndpointRow)
    after: dict[str, list[Response]] = {}
    changes: Counter[str] = Counter()
    versions: set[str] = set()
    differs = False
    for endpoint in endpoints:
        where = response_path(evaluation, endpoint.endpoint_id)
        before = tables.read_records(str(where), Response)
        forced = forces_letters(_extra_body(endpoint))
        read = reread_rows(before, items, abstention=offered, constrained=forced, name=str(where))
        after[endpoint.endpoint_id] = read
        versions |= {row.parser_version for row in before if row.parser_version}
        differs = differs or before != read
        pairs = zip(before, read, strict=True)
        changes.update(_change(old, new) for old, new in pairs if _reading(old) != _reading(new))
    rows = sum(len(read) for read in after.values())
    folder = evaluation
    if differs:
        told = {**note, "bank": about.name, "abstention": offered, "parser_version": PARSER_VERSION}
        told |= {"origin": f"rescored from {evaluation.name}"}
        folder = write_evaluation(place, after, endpoints, told, evaluation / "calls.parquet")
        latest = place.pointer("evaluation")
        if latest is None or latest["folder"] == str(evaluation):
            use(place, folder, about)
    return Rescored(folder, rows, changes.total(), dict(sorted(changes.items())), tuple(sorted(versions)))


def _reading(row: Response) -> tuple[str, int | None, str]:
    return row.status, row.choice, row.rule


def _change(old: Response, new: Response) -> str:
    if (old.status, old.choice) == (new.status, new.choice):
        return "same answer by another rule"
    return f"{old.status} → {new.status}" if old.status != new.status else "another option"


def _extra_body(endpoint: EndpointRow) -> Mapping[str, object]:
    """What the endpoint was sent beside the prompt, from its decoding settings; nothing where they are not known."""
    try:
        found = json.loads(endpoint.decoding)
    except ValueError:
        return {}
    return found.get("extra_body") or {} if isinstance(found, dict) else {}
