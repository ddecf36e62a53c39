"""Results as rows: the labels of the table, the name of the statistic and the estimate."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from examgen.statistics.estimate import Estimate, not_estimable

Row = dict[str, Any]

_ENDPOINT_LABELS = ("endpoint_id", "endpoint_a", "endpoint_b", "first", "second")


def result(statistic: str, estimate: Estimate, /, **labels: str) -> Row:
    """A row of a results table from an estimate; `labels` fill the table's own columns."""
    return {**labels, "statistic": statistic, **estimate.as_row()}


def number(
    statistic: str, value: float | None, method: str, n: int, note: str = "", /, **labels: str
) -> Row:
    """A row for a number without an interval; None is "not estimable" and needs the reason as its note."""
    clean = None if value is None else float(value)
    return result(statistic, Estimate(clean, None, None, method, n, None, note), **labels)


def unknown(statistic: str, method: str, reason: str, n: int = 0, /, **labels: str) -> Row:
    """A row that says why there is no number."""
    return result(statistic, not_estimable(method, reason, n=n), **labels)


def marked_incomplete(rows: Iterable[Row], incomplete: Collection[str]) -> list[Row]:
    """The rows, with a note on those of endpoints that left rows unresolved, which count for nothing."""
    found = []
    for row in rows:
        named = [row[label] for label in _ENDPOINT_LABELS if row.get(label) in incomplete]
        if named and "note" in row:
            note = f"incomplete: {', '.join(dict.fromkeys(named))}"
            row = {**row, "note": f"{row['note']}; {note}" if row["note"] else note}
        found.append(row)
    return found
