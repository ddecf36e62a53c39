"""A benchmark's plan: what each declared contrast needs, what a bank of a given size can do, the curves between."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from examgen.errors import StudyError
from examgen.planned_contrasts import Planned, family, rules_of
from examgen.result_rows import Row, number
from examgen.sizing_section import WAYS, Sizing
from examgen.statistics.discordance import Discordance
from examgen.statistics.mcnemar import Design, power_at
from examgen.statistics.plan import SizingPlan, SizingRules, authored_items, resolvable, size_contrasts
from examgen.statistics.sizing import (
    discordance_floor,
    minimum_detectable_gain,
    probability_of_floor,
    probability_perfect,
    required_n,
)

WORSE = (0.0, 0.01, 0.025, 0.05, 0.10)
"""Shares of items only the other endpoint gets right, for which smallest detectable gains are told."""
SIZES = (40, 50, 75, 100, 150, 200, 300, 400, 500, 700, 1000, 1400, 2000)
"""Bank sizes for which they are told beside the size at hand."""
Gains = list[tuple[int, list[float | None]]]


@dataclass(frozen=True, slots=True)
class Spread:
    """Items to author for one contrast if its discordance is `table`; None when there is no gain to detect."""

    contrast: str
    table: Discordance
    items: int | None


@dataclass(frozen=True, slots=True)
class BenchmarkPlan:
    """All of it. `level` is what each contrast is planned at, `floor` the fewest discordant items at that level;
    `items` the bank at hand or asked for (None when it is not known) and `reach` what it can resolve."""

    family: tuple[Planned, ...]
    rules: SizingRules
    plan: SizingPlan
    level: float
    floor: int
    spread: tuple[Spread, ...]
    items: int | None
    reach: pd.DataFrame | None

    def row(self, contrast: str) -> Mapping[str, Any]:
        """The plan's row of a contrast."""
        rows = self.plan.table.to_dict("records")
        return {str(k): v for row in rows if row["contrast"] == contrast for k, v in row.items()}

    def design(self, table: Discordance) -> Design:
        """A discordance as a design at the planning level."""
        return Design(table.p_b, table.p_c, self.level, self.rules.test, self.rules.alternative)

    def effective(self, authored: int) -> int:
        """Items that count of so many authored: after attrition, over the design effect."""
        analysed = math.floor(authored * (1.0 - self.rules.attrition) + 1e-9)
        return math.floor(analysed / self.rules.design_effect + 1e-9)


def make_plan(sizing: Sizing, items: int | None = None) -> BenchmarkPlan:
    """Size the bank for every contrast of the section; `StudyError` when none is declared.

    Pilot tables must have been read (`planned_contrasts.resolved`). `items` counts authored items.
    """
    if not sizing.contrasts:
        raise StudyError(f"sizing.contrasts: none is declared: give at least one a name and {WAYS}")
    found, rules = family(sizing), rules_of(sizing)
    contrasts = [one.contrast for one in found]
    plan = size_contrasts(contrasts, rules)
    level = rules.level(len(contrasts))
    spread = [
        Spread(one.contrast.name, table, _authored(table, rules, level)) for one in found for table in one.spread
    ]
    reach = resolvable(items, contrasts, rules) if items is not None else None
    floor = discordance_floor(level, rules.test, rules.alternative)
    return BenchmarkPlan(tuple(found), rules, plan, level, floor, tuple(spread), items, reach)


def _authored(table: Discordance, rules: SizingRules, level: float) -> int | None:
    if table.gain <= 0:
        return None
    need = required_n(Design(table.p_b, table.p_c, level, rules.test, rules.alternative), power=rules.power)
    if need.sustained is None:
        return None
    return authored_items(math.ceil(need.sustained * rules.design_effect - 1e-9), rules.attrition)


def known(value: Any) -> float | None:
    """A cell of a frame as a plain number; None when it is missing."""
    return None if value is None or pd.isna(value) else float(value)


def method_of(plan: BenchmarkPlan, p_b: float, p_c: float) -> str:
    """The recipe of a number of the plan."""
    rules = plan.rules
    side = "two-sided" if rules.alternative == "two-sided" else "one-sided"
    more = "" if rules.design_effect == 1 else f", design effect {rules.design_effect:g}"
    more += "" if rules.attrition == 0 else f", attrition {rules.attrition:.0%}"
    return (
        f"McNemar {rules.test}, {side}, alpha {plan.level:.4g} ({rules.correction}), power {rules.power:g}, "
        f"p_b {p_b:.4g}, p_c {p_c:.4g}{more}"
    )


_NEEDS = {
    "n_power": "items needed, power (first n)", "n_sustained": "items needed, power (sustained n)",
    "n_lower": "power proved too low below n", "n_upper": "power proved high enough from n",
    "n_floor": "items needed, floor of discordant items", "n_ceiling": "items needed, ceiling",
    "n_analysed": "items to analyse", "n_authored": "items needed",
}  # fmt: skip
_REACH = {
    "power": "power of this bank", "floor_reached": "probability of reaching the floor",
    "perfect": "probability of a perfect score", "minimum_gain": "minimum detectable difference",
}  # fmt: skip


def sizing_rows(plan: BenchmarkPlan) -> list[Row]:
    """The plan as rows of the table `sizing`: a row a contrast and statistic, each with its recipe."""
    rows: list[Row] = []
    for one in plan.family:
        name, table = one.contrast.name, one.contrast.discordance
        found, method = plan.row(name), method_of(plan, table.p_b, table.p_c)
        for column, statistic in _NEEDS.items():
            note = str(found["note"]) or ("" if known(found[column]) is not None else "no such constraint")
            said = f"{method}; {table.source}; binding: {found['binding']}"
            rows.append(number(statistic, known(found[column]), said, 0, note, contrast=name, scope="planned"))
        rows += _reach_rows(plan, name, method)
    for other in plan.spread:
        method = method_of(plan, other.table.p_b, other.table.p_c)
        note = "" if other.items is not None else "no gain to detect"
        labels = {"contrast": other.contrast, "scope": other.table.source}
        rows.append(number("items needed", other.items, method, other.table.n, note, **labels))
    note = f"binding: {plan.plan.binding}; feasible: {'yes' if plan.plan.feasible else 'no'}"
    method = f"largest need of {len(plan.family)} contrasts, {plan.rules.correction}"
    return [*rows, number("items needed", plan.plan.items, method, 0, note, contrast="all", scope="planned")]


def _reach_rows(plan: BenchmarkPlan, name: str, method: str) -> list[Row]:
    if plan.reach is None or plan.items is None:
        return []
    row = next(r for r in plan.reach.to_dict("records") if r["contrast"] == name)
    labels = {"contrast": name, "scope": f"{plan.items} items"}
    return [
        number(
            statistic, known(row[column]), method, plan.items,
            "" if known(row[column]) is not None else "needs an accuracy" if column == "perfect" else "none suffices",
            **labels,
        )
        for column, statistic in _REACH.items()
    ]  # fmt: skip


def curve_sizes(plan: BenchmarkPlan, points: int = 72) -> list[int]:
    """Bank sizes at which curves are drawn: from 6 to well beyond the largest need, all needs among them."""
    needs = [known(n) for n in plan.plan.table["n_authored"]] + [known(other.items) for other in plan.spread]
    marks = {int(n) for n in needs if n is not None} | ({plan.items} if plan.items else set())
    top = max([60, *(round(1.6 * mark) for mark in marks)]) if marks else 2000
    count = points if top < 50_000 else points // 3
    return sorted({6, *marks, *np.linspace(6, top, count).round().astype(int).tolist()})


def curve_rows(plan: BenchmarkPlan, sizes: Sequence[int] | None = None) -> list[dict[str, Any]]:
    """Rows of `power_curves`: exact power, chance of the floor and of a perfect score by authored items.

    A curve a contrast, and one for each other table it may turn out to be.
    """
    chosen = curve_sizes(plan) if sizes is None else list(sizes)
    rows = []
    for one in plan.family:
        for table in (one.contrast.discordance, *(other for other in one.spread if other.gain > 0)):
            design = plan.design(table)
            for n in chosen:
                effective = plan.effective(n)
                analysed = math.floor(n * (1.0 - plan.rules.attrition) + 1e-9)
                best = one.contrast.accuracy
                rows.append({
                    "contrast": one.contrast.name, "assumption": table.source, "p_b": table.p_b, "p_c": table.p_c,
                    "alpha": plan.level, "test": plan.rules.test, "alternative": plan.rules.alternative,
                    "items": n, "effective_items": effective, "power": power_at(effective, design),
                    "floor_reached": probability_of_floor(effective, table.p_d, plan.floor),
                    "perfect_score": None if best is None else probability_perfect(best, analysed),
                })  # fmt: skip
    return rows


def detectable(plan: BenchmarkPlan, sizes: Sequence[int] | None = None) -> Gains:
    """For each bank size, the smallest gain it detects for each share of `WORSE`; None where none suffices."""
    chosen = sizes if sizes is not None else sorted({*SIZES, *([plan.items] if plan.items else [])})
    rules = plan.rules
    return [
        (
            n,
            [
                minimum_detectable_gain(
                    plan.effective(n), worse=worse, power=rules.power, alpha=plan.level, test=rules.test,
                    alternative=rules.alternative,
                ).value
                for worse in WORSE
            ],
        )
        for n in chosen
    ]  # fmt: skip
