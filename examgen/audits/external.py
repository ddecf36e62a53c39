"""Anybody's bank: files of the common layouts read as items; a row that is none is kept with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from examgen.audits.bank_file import Row, read_file, text_of
from examgen.audits.gift import read_gift
from examgen.audits.items import AuditItem
from examgen.audits.key_cells import KeyWay, key_place, single, way_of
from examgen.audits.layouts import Layout, detect, options_of, parsed
from examgen.errors import BankError, TableError
from examgen.ids import item_id
from examgen.records import LETTERS


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


def _item(row: Row, layout: Layout, way: KeyWay, name: str, stem: str) -> AuditItem | str:
    """The item of a row, or why it is none."""
    nested = parsed(row.get(layout.stem))
    text = nested.get("stem", nested.get("text", "")) if isinstance(nested, dict) else row.get(layout.stem)
    options, labels = options_of(row, layout)
    if len(options) < 2 or len(options) > len(LETTERS):
        return f"{len(options)} options; 2 to {len(LETTERS)} are audited"
    cell = single(parsed(row.get(layout.key)), options)
    if isinstance(cell, list | tuple):
        return f"{len(cell)} keys, not one"
    if cell is None or not str(cell).strip():
        return "no key is given"
    key = key_place(cell, options, labels, way)
    if key < 0:
        return f"the key {str(row.get(layout.key))[:60]!r} is none of the options"
    told = {
        field: "" if row.get(column) is None else str(row.get(column))
        for field, column in (("explanation", layout.explanation), ("topic", layout.topic), ("id", layout.id))
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
        candidate_id=told.get("id") or name,
    )


def _way(rows: Sequence[Row], layout: Layout) -> KeyWay:
    """How the keys of the bank are written."""
    if layout.distractors:
        return KeyWay("text")
    seen = []
    for row in rows:
        options, labels = options_of(row, layout)
        seen.append((single(parsed(row.get(layout.key)), options), options, labels))
    return way_of(seen, layout.base)


def read_bank(path: str | Path, mapping: Mapping[str, str] | None = None) -> ExternalBank:
    """Read a bank of any known layout; `BankError` where the file cannot be used at all.

    `mapping` names columns by field (see `layouts.FIELDS`); what it leaves out is found by name. Rows without two to
    ten options and a key, and lines that cannot be read, are left out with the reason. Repeated ids get the row number.
    """
    place = Path(path)
    if not place.is_file():
        raise BankError(f"{place}: no such file: give a CSV, TSV, JSONL, JSON, Parquet or GIFT file")
    try:
        if place.suffix.casefold() in (".gift", ".txt"):
            return _gift_bank(place, mapping)
        file = read_file(place)
    except (OSError, ValueError, TableError) as error:
        told = " ".join(str(error).split())[:200]
        raise BankError(f"{place}: cannot be read as {place.suffix.lstrip('.')}: {told}") from error
    rows = [row for _, row in file.rows]
    layout = detect(rows, str(place), mapping)
    way = _way(rows, layout)
    items: list[AuditItem] = []
    left_out = list(file.broken)
    seen: set[str] = set()
    for name, row in file.rows:
        found = _item(row, layout, way, name, place.stem)
        if isinstance(found, str):
            left_out.append((name, found))
            continue
        if found.candidate_id in seen:
            found = replace(found, candidate_id=f"{found.candidate_id} ({name})")
        seen.add(found.candidate_id)
        items.append(found)
    told = "; ".join(part for part in (str(layout), str(way), file.note) if part)
    return ExternalBank(str(place), tuple(items), tuple(left_out), told)


def _gift_bank(place: Path, mapping: Mapping[str, str] | None) -> ExternalBank:
    if mapping:
        raise BankError(f"{place}: GIFT has no columns: leave out {', '.join(mapping)}")
    items, left_out = [], []
    for number, question in enumerate(read_gift(text_of(place)[0]), start=1):
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
