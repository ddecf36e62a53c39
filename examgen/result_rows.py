"""Results as rows: the labels of the table, the name of the statistic and the estimate."""

from __future__ import annotations

from typing import Any

from examgen.statistics.estimate import Estimate, not_estimable

Row = dict[str, Any]


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
