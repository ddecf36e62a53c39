"""What this bank can resolve: each planned contrast at its size, and the smallest difference any pair could show."""

from __future__ import annotations

from collections.abc import Sequence

from examgen import sizing_plan
from examgen.errors import StatisticsError
from examgen.result_rows import Row, number, unknown
from examgen.statistics.sizing import minimum_detectable_gain
from examgen.study import Sizing

WORSE = (0.0, 0.025, 0.05, 0.10)
"""Shares of items only the weaker endpoint gets right, for which the smallest difference is told."""


def sizing_rows(sizing: Sizing | None, items: int) -> list[Row]:
    """Rows of `sizing`: the plan of the study's contrasts for a bank of `items`, and what `items` can detect."""
    rows = _planned_rows(sizing, items) if sizing is not None and sizing.contrasts else []
    alpha, power = (sizing.alpha, sizing.power) if sizing else (0.05, 0.8)
    method = f"exact McNemar, power {power:g}, alpha {alpha:g}"
    for worse in WORSE:
        label = {"contrast": "any pair", "scope": f"{worse:.1%} of items only the other gets right"}
        if items < 1:
            rows.append(unknown("minimum detectable difference", method, "the bank is empty", **label))
            continue
        found = minimum_detectable_gain(items, worse=worse, power=power, alpha=alpha)
        rows.append(number("minimum detectable difference", found.value, method, items, found.note, **label))
    return rows


def _planned_rows(sizing: Sizing, items: int) -> list[Row]:
    try:
        return sizing_plan.sizing_rows(sizing_plan.make_plan(sizing, items if items > 0 else None))
    except StatisticsError as error:
        return [unknown("items needed", "exact McNemar", str(error), contrast="all", scope="planned")]


def resolvable(rows: Sequence[Row], items: int) -> bool | None:
    """Whether a bank of `items` serves every planned contrast; None without one."""
    needed = [row["value"] for row in rows if row["contrast"] == "all" and row["statistic"] == "items needed"]
    return None if not needed or needed[0] is None else items >= needed[0]
