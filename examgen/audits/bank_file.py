"""The file of somebody's bank as rows: CSV, TSV, JSONL, JSON or Parquet, in whatever encoding and with what separator.

A line that cannot be read is kept with its reason; only a file of which nothing can be read is an error.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examgen.errors import BankError
from examgen.records import LETTERS
from examgen.tables import read_rows

Row = Mapping[str, Any]
"""A row as read: column name and value."""

KINDS = [".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".gift", ".txt"]
"""Endings of the files that are read."""

_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_SAMPLE = 40


@dataclass(frozen=True)
class BankFile:
    """Rows of a file by name ("row 3", "line 3"), what could not be read with the reason, and how it was read."""

    rows: tuple[tuple[str, Row], ...]
    broken: tuple[tuple[str, str], ...] = ()
    note: str = ""


def text_of(path: Path) -> tuple[str, str]:
    """Text of a file and what it was taken for where it is not UTF-8; `BankError` for what is no text."""
    data = path.read_bytes()
    if not data.strip():
        raise BankError(f"{path}: is empty")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace"), "UTF-16"
    if b"\x00" in data[:4096]:
        raise BankError(f"{path}: is no text file: save it as CSV (UTF-8)")
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        try:
            return data.decode("cp1252"), "read as Windows-1252, it is not UTF-8"
        except UnicodeDecodeError:
            return data.decode("latin-1"), "read as Latin-1, it is not UTF-8"


def read_file(path: Path) -> BankFile:
    """Rows of a bank file; `BankError` where nothing can be read."""
    kind = path.suffix.casefold()
    if kind not in KINDS:
        told = f"files ending in {kind}" if kind else "files without an ending"
        raise BankError(f"{path}: {told} are not read: give CSV, TSV, JSONL, JSON, Parquet or GIFT")
    if kind == ".parquet":
        return _numbered([dict(row) for row in read_rows(str(path))], "")
    text, note = text_of(path)
    if kind in (".csv", ".tsv"):
        found = _csv(text, "\t" if kind == ".tsv" else ",", note)
    elif kind == ".json":
        found = _json(text, path, note)
    else:
        found = _json_lines(text, note)
    if not found.rows:
        why = f": {found.broken[0][0]}: {found.broken[0][1]}" if found.broken else ""
        raise BankError(f"{path}: holds no rows of items{why}")
    return found


def _numbered(rows: Sequence[Any], note: str) -> BankFile:
    """Rows that are mappings, by their number; anything else is broken. What the datasets server wraps is unwrapped."""
    good: list[tuple[str, Row]] = []
    broken = []
    for number, row in enumerate(rows, start=1):
        inner = row.get("row") if isinstance(row, dict) and isinstance(row.get("row"), dict) else row
        if isinstance(inner, dict):
            good.append((f"row {number}", inner))
        else:
            broken.append((f"row {number}", f"is {type(inner).__name__}, no mapping of columns"))
    return BankFile(tuple(good), tuple(broken), note)


def _json_lines(text: str, note: str) -> BankFile:
    """One object a line. Only a line feed ends a line: JSON strings may hold other separators."""
    good: list[tuple[str, Row]] = []
    broken = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            broken.append((f"line {number}", f"is no JSON ({error.msg} at character {error.pos + 1})"))
            continue
        if isinstance(value, dict):
            good.append((f"row {number}", value))
        else:
            broken.append((f"line {number}", f"is {type(value).__name__}, no mapping of columns"))
    return BankFile(tuple(good), tuple(broken), note)


def _json(text: str, path: Path, note: str) -> BankFile:
    """A list of items, a mapping that holds one, a mapping of columns, or one item."""
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        lines = _json_lines(text, note)
        if len(lines.rows) > 1:  # JSON lines under another name
            return lines
        raise BankError(f"{path}: is no JSON: {error.msg} in line {error.lineno}, column {error.colno}") from error
    if isinstance(whole, dict):
        values = list(whole.values())
        nested = next((v for v in values if isinstance(v, list) and v and all(isinstance(i, dict) for i in v)), None)
        columns = len(values) > 1 and all(isinstance(v, list) for v in values) and len({len(v) for v in values}) == 1
        if columns:
            whole = [dict(zip(whole, row, strict=True)) for row in zip(*values, strict=True)]
        elif values and all(isinstance(value, dict) for value in values):
            whole = values
        else:
            whole = nested if nested is not None and not {"question", "stem"} & set(whole) else [whole]
    return _numbered(whole if isinstance(whole, list) else [whole], note)


def _separator(lines: Sequence[str], first: str) -> str:
    """The sign that cuts most lines into the same number of cells, more than one."""
    sample = [line for line in lines if line.strip()][:_SAMPLE]
    best, chosen = (0.0, 0), first
    for mark in (first, *(mark for mark in _SEPARATORS if mark != first)):
        widths = Counter(len(cells) for cells in csv.reader(sample, delimiter=mark) if cells)
        width, count = max(((w, n) for w, n in widths.items() if w > 1), key=lambda pair: pair[1], default=(0, 0))
        score = (count / max(1, sum(widths.values())), width)
        if score > best:
            best, chosen = score, mark
    return chosen


def _records(lines: Sequence[str], mark: str) -> Iterator[tuple[int, list[str] | str]]:
    """Number of the first line and cells of each record, or why it cannot be cut; reading goes on with the next line,
    so that a quotation mark left open costs one record and not the rest of the file.
    """
    start = 0
    while start < len(lines):
        done = 0
        reader = csv.reader(lines[start:], delimiter=mark, strict=True)
        try:
            for cells in reader:
                yield start + done + 1, cells
                done = reader.line_num
            return
        except csv.Error as error:
            yield start + done + 1, f"cannot be cut into cells ({error})"
            start += done + 1


def _csv(text: str, first: str, note: str) -> BankFile:
    """Rows of a CSV; one without a header, a stem, options and a letter a row (MMLU), gets column names."""
    csv.field_size_limit(10_000_000)
    lines = list(io.StringIO(text, newline=None))
    mark = _separator(lines, first)
    told = "; ".join(part for part in (note, "" if mark == first else f"separated by {_SEPARATORS[mark]}") if part)
    records = [(n, c) for n, c in _records(lines, mark) if isinstance(c, str) or any(cell.strip() for cell in c)]
    head = next((cells for _, cells in records if not isinstance(cells, str)), [])
    if 4 <= len(head) <= 12 and re.fullmatch(r"[A-J]", head[-1].strip()):
        return _without_header(records, told)
    header = _header(head)
    good: list[tuple[str, Row]] = []
    broken = []
    number, header_seen = 0, False
    for line, cells in records:
        if not isinstance(cells, str) and not header_seen:
            header_seen = True
            continue
        number += 1
        if isinstance(cells, str):
            broken.append((f"line {line}", cells))
        elif len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :]):
            broken.append((f"row {number}", f"has {len(cells)} cells where the header has {len(header)}"))
        else:
            good.append((f"row {number}", dict(zip(header, cells, strict=False))))
    return BankFile(tuple(good), tuple(broken), told)


def _header(cells: Sequence[str]) -> list[str]:
    """Names of the columns; one that comes twice gets a number."""
    seen: Counter[str] = Counter()
    names = []
    for cell in cells:
        name = cell.strip()
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names


def _without_header(records: Sequence[tuple[int, list[str] | str]], note: str) -> BankFile:
    good: list[tuple[str, Row]] = []
    broken = []
    for number, (line, cells) in enumerate(records, start=1):
        if isinstance(cells, str):
            broken.append((f"line {line}", cells))
        else:
            options = dict(zip(LETTERS, cells[1:-1], strict=False))
            good.append((f"row {number}", {"question": cells[0], "options": options, "answer": cells[-1]}))
    return BankFile(tuple(good), tuple(broken), "; ".join(filter(None, (note, "no header"))))
