"""Review rows as CSV and XLSX, and decisions read back from CSV, XLSX, JSON or Parquet."""

from __future__ import annotations

import csv
import datetime
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook, load_workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation

from examgen import tables
from examgen.errors import InputError
from examgen.records import Decision, ReviewRow
from examgen.review import VERDICTS, decisions_of

COLUMNS = tuple(ReviewRow.model_fields)
WIDTHS = {"stem": 48, "options": 48, "evidence": 60, "comment": 30, "reason": 24, "topic": 22, "chosen_instead": 16}
FILLED = ("decision", "correct_letter", "comment", "reviewer")
EPOCH = datetime.datetime(2000, 1, 1)  # a fixed time, so that the same rows give the same bytes
RISKY = ("=", "+", "-", "@")


def to_csv(rows: Sequence[ReviewRow]) -> bytes:
    """The sheet as CSV in UTF-8 with a byte-order mark, which spreadsheet programs need."""
    handle = io.StringIO()
    writer = csv.DictWriter(handle, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: _inert(value) for name, value in row.model_dump().items()} for row in rows)
    return "\ufeff".encode() + handle.getvalue().encode()


def _inert(value: str) -> str:
    """A text that a spreadsheet would take for a formula gets an apostrophe before it."""
    return f"'{value}" if value.startswith(RISKY) else value


def to_xlsx(rows: Sequence[ReviewRow]) -> bytes:
    """The sheet as XLSX: wrapped text, frozen head, a list to choose the decision from. Same rows, same bytes."""
    book = Workbook()
    sheet = book.active
    sheet.title = "review"
    sheet.append(list(COLUMNS))
    for row in rows:
        sheet.append([None] * len(COLUMNS))
        for column, value in enumerate(row.model_dump().values(), start=1):
            cell = sheet.cell(sheet.max_row, column)
            cell.value = value
            cell.data_type = "s" if value else "n"
            cell.alignment = Alignment(wrap_text=True, vertical="top")
    for column, name in enumerate(COLUMNS, start=1):
        head = sheet.cell(1, column)
        head.font = Font(bold=True)
        head.fill = PatternFill("solid", fgColor="FFF0B8" if name in FILLED else "E8F1F8")
        sheet.column_dimensions[head.column_letter].width = WIDTHS.get(name, 14)
    sheet.freeze_panes = "B2"
    if rows:
        choices = DataValidation(type="list", formula1=f'"{",".join(VERDICTS)}"', allow_blank=True)
        letter = sheet.cell(1, COLUMNS.index("decision") + 1).column_letter
        choices.add(f"{letter}2:{letter}{len(rows) + 1}")
        sheet.add_data_validation(choices)
    book.properties.created = EPOCH
    handle = io.BytesIO()
    book.save(handle)
    return _timeless(handle.getvalue())


def _timeless(data: bytes) -> bytes:
    """The archive with all times set to one: the writer stamps the moment of saving into it."""
    out = io.BytesIO()
    stamp = EPOCH.strftime("%Y-%m-%dT%H:%M:%SZ")
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in sorted(old.namelist()):
            content = old.read(name)
            if name == "docProps/core.xml":
                text = content.decode()
                begin = text.index(">", text.index("<dcterms:modified")) + 1
                content = (text[:begin] + stamp + text[text.index("</dcterms:modified>") :]).encode()
            new.writestr(zipfile.ZipInfo(name, EPOCH.timetuple()[:6]), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def read_decisions(path: str | Path) -> list[Decision]:
    """Decisions from a filled-in sheet or from the file that the review page saves; `InputError` says what is wrong."""
    place = Path(path)
    if not place.is_file():
        raise InputError(f"{place}: no such file: give the sheet that was filled in, or the file the page saved")
    readers = {".csv": _from_csv, ".xlsx": _from_xlsx, ".json": _from_json, ".parquet": _from_parquet}
    reader = readers.get(place.suffix.lower())
    if reader is None:
        raise InputError(f"{place}: decisions are read from {', '.join(readers)}")
    return decisions_of(reader(place), place.name)


def _from_csv(place: Path) -> list[dict[str, Any]]:
    try:
        text = place.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: not UTF-8: save the sheet as CSV UTF-8") from error
    head = text.split("\n", 1)[0]
    return list(csv.DictReader(io.StringIO(text), delimiter=";" if head.count(";") > head.count(",") else ","))


def _from_xlsx(place: Path) -> list[dict[str, Any]]:
    try:
        sheet = load_workbook(place, read_only=True, data_only=True).active
    except (zipfile.BadZipFile, KeyError) as error:
        raise InputError(f"{place}: not a readable XLSX file") from error
    lines = list(sheet.iter_rows(values_only=True))
    names = [str(name) for name in lines[0]] if lines else []
    return [dict(zip(names, line, strict=False)) for line in lines[1:]]


def _from_json(place: Path) -> list[dict[str, Any]]:
    try:
        data = json.loads(place.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{place}: not a file of the review page: {error}") from error
    rows = data.get("decisions") if isinstance(data, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{place}: not a file of the review page: it has no list of decisions")
    return rows


def _from_parquet(place: Path) -> list[dict[str, Any]]:
    return tables.read_rows(str(place))
