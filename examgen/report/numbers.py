"""Numbers as a reader sees them; what is not estimable is words, never a NaN."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]
NOT_ESTIMABLE = "n.e."
"""In table cells; the page says once what it stands for."""
MINUS = "−"


def percent(value: float | None, digits: int = 1) -> str:
    """A share as percent without the sign: .2831 is 28.3."""
    return NOT_ESTIMABLE if value is None else _signed(f"{100 * value:.{digits}f}")


def points(value: float | None, digits: int = 1) -> str:
    """A difference of shares in percentage points, with its sign."""
    return NOT_ESTIMABLE if value is None else _signed(f"{100 * value:+.{digits}f}")


def _signed(text: str) -> str:
    cleaned = text[1:] if text.startswith("-") and not text.strip("-0.") else text
    return cleaned.replace("-", MINUS)


def decimal(value: float | None, digits: int = 3) -> str:
    """A plain number with so many decimals."""
    return NOT_ESTIMABLE if value is None else _signed(f"{value:.{digits}f}")


def whole(value: float | None) -> str:
    """A count with thousands separated."""
    return NOT_ESTIMABLE if value is None else f"{value:,.0f}"


def p_value(value: float | None) -> str:
    """P to three decimals, at least .001."""
    if value is None:
        return NOT_ESTIMABLE
    return "&lt; .001" if value < 0.001 else f"{min(value, 0.999):.3f}"[1:] if value < 0.9995 else "1"


def interval(row: Row | None, digits: int = 1) -> str:
    """Value and limits in percent: 28.3 (23.1 to 33.5)."""
    if row is None or row["value"] is None:
        return NOT_ESTIMABLE
    limits = limits_of(row, digits)
    return percent(row["value"], digits) + (f" ({limits})" if limits else "")


def limits_of(row: Row | None, digits: int = 1) -> str:
    """The limits alone in percent: 23.1 to 33.5; empty when there are none."""
    if row is None or row["low"] is None or row["high"] is None:
        return ""
    return f"{percent(row['low'], digits)} to {percent(row['high'], digits)}"


def find(rows: Iterable[Row], **wanted: Any) -> Row | None:
    """The first row with these values, or None."""
    return next((row for row in rows if all(row.get(name) == value for name, value in wanted.items())), None)


def every(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """All rows with these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def value_of(rows: Iterable[Row], **wanted: Any) -> float | None:
    """The value of the first such row, or None."""
    row = find(rows, **wanted)
    return None if row is None else row["value"]
