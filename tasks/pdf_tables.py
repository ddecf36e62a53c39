"""Rows of printed tables put together again: a cell over several lines is one cell, told by where it stands."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

ALIGNED = 3.0
"""Points by which the left edge of a cell may miss the left edge of its column."""

CLOSE = 1.25
"""Lines nearer than this many times the size of the type are lines of one row."""

WIDEST_WITHIN = 12
"""Lines from the start of a table in which its widest row is looked for."""


@dataclass(slots=True)
class Line:
    """A printed line: its text, its page, the size of its type in points and its top; 0 where unknown.

    `cells` are the left edges and texts of what stands apart on it, empty where places are unknown.
    """

    text: str
    page: int
    size: float = 0.0
    top: float = 0.0
    cells: tuple[tuple[float, str], ...] = ()


def joined_rows(lines: Sequence[Line]) -> list[Line]:
    """The lines of a page, those of a table as one line a row: "a | b | c".

    A table begins at a line of two cells or more. Its columns are the left edges of the widest row near there; a line
    belongs to it while each of its cells begins where a column does. A cell right of the one before goes on in the row,
    one below it goes on in the cell, one left of it begins the next row. A line in the first column alone ends the
    table unless the next columns follow it. Where cells are centred nothing lines up, and lines stay as they are.
    """
    found: list[Line] = []
    place = 0
    while place < len(lines):
        columns = _columns(lines, place)
        if not columns:
            found.append(lines[place])
            place += 1
            continue
        end = place
        while end < len(lines) and _belongs(lines, end, columns):
            end += 1
        found += _rows(lines[place:end], columns)
        place = end
    return found


def _columns(lines: Sequence[Line], place: int) -> list[float]:
    """Left edges of the columns of a table that begins there; empty when none does."""
    first = lines[place].cells
    if len(first) < 2:
        return []
    near = [line.cells for line in lines[place : place + WIDEST_WITHIN] if len(line.cells) >= 2]
    for cells in sorted(near, key=len, reverse=True):
        edges = [left for left, _ in cells]
        if all(_column(left, edges) is not None for left, _ in first):
            return edges
    return []


def _column(left: float, columns: Sequence[float]) -> int | None:
    return next((number for number, edge in enumerate(columns) if abs(left - edge) <= ALIGNED), None)


def _belongs(lines: Sequence[Line], place: int, columns: Sequence[float]) -> bool:
    """Whether a line is part of the table with these columns."""
    places = [_column(left, columns) for left, _ in lines[place].cells]
    if not places or None in places:
        return False
    if places != [0]:
        return True
    # The first column is where running text begins, too.
    following = itertools.dropwhile(lambda line: _is_first(line, columns), lines[place : place + 4])
    after = next(following, None)
    if after is None or not after.cells:
        return False
    number = _column(after.cells[0][0], columns)
    return number is not None and number > 0


def _is_first(line: Line, columns: Sequence[float]) -> bool:
    return [_column(left, columns) for left, _ in line.cells] == [0]


def _rows(lines: Sequence[Line], columns: Sequence[float]) -> list[Line]:
    """One line for each row of a table."""
    rows: list[tuple[Line, list[str]]] = []
    last = len(columns)
    before: Line | None = None
    for line in lines:
        numbers = [_column(left, columns) or 0 for left, _ in line.cells]
        more = before is not None and numbers[0] > 0 and 0 < before.top - line.top < CLOSE * line.size
        if not rows or (numbers[0] < last and not more):
            rows.append((line, [""] * len(columns)))
        cells = rows[-1][1]
        for number, (_, text) in zip(numbers, line.cells, strict=True):
            joint = "" if cells[number].endswith("-") else " "
            cells[number] = f"{cells[number]}{joint}{text}".strip()
        last, before = numbers[-1], line
    return [replace(line, text=" | ".join(cells).strip()) for line, cells in rows]
