"""Anybody's bank: files of the common layouts read as items; a row that is none is kept with the reason."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examgen.audits.gift import read_gift
from examgen.audits.items import AuditItem
from examgen.audits.layouts import Layout, Row, detect, key_place, mapped, options_of, parsed
from examgen.errors import BankError
from examgen.ids import item_id
from examgen.records import LETTERS
from examgen.tables import read_rows


@dataclass(frozen=True)
class ExternalBank:
    """A bank as read: its items, the rows left out with their reasons, and how the columns were understood."""

    path: str
    items: tuple[AuditItem, ...]
    left_out: tuple[tuple[str, str], ...]
    layout: str

    @property
    def rows(self) -> int:
        """Rows of the file."""
        return len(self.items) + len(self.left_out)


def _item(row: Row, layout: Layout, number: int, stem: str) -> AuditItem | str:
    """The item of a row, or why it is none."""
    nested = parsed(row.get(layout.stem))
    text = nested.get("stem", nested.get("text", "")) if isinstance(nested, dict) else row.get(layout.stem)
    options, labels = options_of(row, layout)
    if len(options) < 2 or len(options) > len(LETTERS):
        return f"{len(options)} options; 2 to {len(LETTERS)} are audited"
    key = key_place(row.get(layout.key), options, labels, layout.one_based)
    if key < 0:
        return f"the key {str(row.get(layout.key))[:60]!r} is none of the options"
    told = {
        name: "" if row.get(column) is None else str(row.get(column))
        for name, column in (("explanation", layout.explanation), ("topic", layout.topic), ("id", layout.id))
        if column
    }
    asked = "" if text is None else str(text)
    return AuditItem(
        item_id=item_id(asked, options, options[key]),
        stem=asked,
        options=tuple(options),
        key=key,
        explanation=told.get("explanation", ""),
        topic=told.get("topic", "") or stem,
        subtopic=told.get("topic", "") or stem,
        candidate_id=told.get("id") or f"row {number}",
    )


def _csv_rows(text: str, delimiter: str) -> list[Row]:
    """Rows of a CSV; one without a header, a stem, options and a letter a row (MMLU), gets column names."""
    csv.field_size_limit(10_000_000)
    lines = [line for line in csv.reader(io.StringIO(text), delimiter=delimiter) if any(cell.strip() for cell in line)]
    if not lines:
        return []
    first = lines[0]
    if 4 <= len(first) <= 12 and re.fullmatch(r"[A-J]", first[-1].strip()):
        header = ["question", *LETTERS[: len(first) - 2], "answer"]
        return [dict(zip(header, line, strict=False)) for line in lines]
    return [dict(zip(first, line, strict=False)) for line in lines[1:]]


def _rows(path: Path) -> list[Row]:
    kind = path.suffix.casefold()
    if kind == ".parquet":
        return list(read_rows(str(path)))
    text = path.read_text(encoding="utf-8-sig")
    if kind in (".csv", ".tsv"):
        return _csv_rows(text, "\t" if kind == ".tsv" else ",")
    if kind in (".jsonl", ".ndjson") or (kind == ".json" and not text.lstrip().startswith("[")):
        lines = [line for line in text.splitlines() if line.strip()]
        if kind == ".json":
            whole = json.loads(text)
            found = next((value for value in whole.values() if isinstance(value, list)), [whole])
            return list(found)
        return [json.loads(line) for line in lines]
    if kind == ".json":
        return list(json.loads(text))
    raise BankError(
        f"{path}: files ending in {kind or 'nothing'} are not read: give CSV, TSV, JSONL, JSON, Parquet or GIFT"
    )


def read_bank(path: str | Path, mapping: Mapping[str, str] | None = None) -> ExternalBank:
    """Read a bank of any known layout; `BankError` where the file cannot be used at all.

    Rows without a usable stem, two to ten options and a key are left out with the reason. Repeated ids get the row
    number.
    """
    place = Path(path)
    if not place.exists():
        raise BankError(f"{place}: no such file")
    try:
        if place.suffix.casefold() in (".gift", ".txt"):
            return _gift_bank(place)
        rows = _rows(place)
    except (UnicodeDecodeError, json.JSONDecodeError, csv.Error, OSError, ValueError) as error:
        raise BankError(f"{place}: cannot be read as {place.suffix.lstrip('.')}: {error}") from error
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise BankError(f"{place}: holds no rows of items")
    layout = mapped(mapping) if mapping else detect(rows, str(place))
    absent = [name for name in (layout.stem, *layout.options, layout.key) if not any(name in row for row in rows)]
    if absent:
        raise BankError(f"{place}: has no column {', '.join(absent)}; its columns are {', '.join(map(str, rows[0]))}")
    items: list[AuditItem] = []
    left_out: list[tuple[str, str]] = []
    seen: set[str] = set()
    for number, row in enumerate(rows, start=1):
        found = _item(row, layout, number, place.stem)
        if isinstance(found, str):
            left_out.append((f"row {number}", found))
            continue
        if found.candidate_id in seen:
            found = AuditItem(**{**_fields(found), "candidate_id": f"{found.candidate_id} (row {number})"})
        seen.add(found.candidate_id)
        items.append(found)
    return ExternalBank(str(place), tuple(items), tuple(left_out), str(layout))


def _fields(item: AuditItem) -> dict[str, Any]:
    return {name: getattr(item, name) for name in AuditItem.__dataclass_fields__}


def _gift_bank(place: Path) -> ExternalBank:
    items, left_out = [], []
    for number, question in enumerate(read_gift(place.read_text(encoding="utf-8-sig")), start=1):
        reason = question.reason or ("" if 2 <= len(question.options) <= 10 else f"{len(question.options)} options")
        if reason:
            left_out.append((f"question {number} {question.name}".strip(), reason))
            continue
        topic = question.category or place.stem
        items.append(
            AuditItem(
                item_id=item_id(question.stem, question.options, question.options[question.key]),
                stem=question.stem,
                options=question.options,
                key=question.key,
                explanation=question.explanation,
                topic=topic,
                subtopic=topic,
                candidate_id=f"question {number} {question.name}".strip(),
            )
        )
    if not items and not left_out:
        raise BankError(f"{place}: no GIFT question found")
    return ExternalBank(str(place), tuple(items), tuple(left_out), "Moodle GIFT")
