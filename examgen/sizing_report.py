"""What a plan says to people: lines for a terminal, warnings for a build, one page for everybody else."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from examgen.planned_contrasts import family, rules_of
from examgen.sizing_figures import detectable_figure, power_figure
from examgen.sizing_plan import WORSE, BenchmarkPlan, detectable, known
from examgen.sizing_section import Sizing
from examgen.statistics.mcnemar import power_at
from examgen.statistics.plan import resolvable, size_contrasts
from examgen.statistics.sizing import hard_stop_n

_TESTS = {
    "exact": "exact McNemar test", "midp": "mid-p McNemar test", "asymptotic": "asymptotic McNemar test",
    "corrected": "McNemar test with continuity correction",
}  # fmt: skip


def build_warning(sizing: Sizing, items: int) -> list[str]:
    """What a bank of `items` authored items cannot resolve, a line a contrast, and how many items would.

    Empty when it resolves all declared contrasts, or when none is declared. Pilot tables must have been read.
    """
    if not sizing.contrasts:
        return []
    found, rules = family(sizing), rules_of(sizing)
    contrasts = [one.contrast for one in found]
    reach = resolvable(items, contrasts, rules)
    plan = size_contrasts(contrasts, rules)
    needed = {row["contrast"]: row["n_authored"] for row in plan.table.to_dict("records")}
    lines = []
    for row in reach.to_dict("records"):
        if row["resolvable"]:
            continue
        need = known(needed[row["contrast"]])
        remedy = f"{need:,.0f} items would do" if need is not None else "no number of items is known to do"
        lines.append(
            f"{items:,} items cannot resolve {row['contrast']!r} ({100 * row['gain']:+.1f} points): power "
            f"{row['power']:.3f} of the {rules.power:g} asked for; {remedy}"
        )
    for row in reach.to_dict("records"):
        perfect = known(row["perfect"])
        if perfect is not None and perfect >= rules.ceiling_threshold:
            lines.append(
                f"{items:,} items are near the ceiling for {row['contrast']!r}: a perfect score has probability "
                f"{perfect:.3f}, at most {rules.ceiling_threshold:g} was asked for"
            )
    return lines


def heading(plan: BenchmarkPlan) -> str:
    """The rules in one line."""
    rules, m = plan.rules, max(len(plan.family), plan.rules.comparisons or 0)
    side = "two-sided" if rules.alternative == "two-sided" else "one-sided"
    parts = [f"{_TESTS[rules.test]}, {side}", f"alpha {rules.alpha:g}", f"power {rules.power:g}"]
    if m > 1:
        bound = f"each planned at {plan.level:.4g}"
        parts.append(f"{m} comparisons, correction {rules.correction}, {bound}")
    if rules.design_effect != 1:
        parts.append(f"design effect {rules.design_effect:g}")
    if rules.attrition:
        parts.append(f"attrition {rules.attrition:.0%}")
    return "; ".join(parts)


def needs_table(plan: BenchmarkPlan) -> tuple[list[str], list[list[str]]]:
    """Header and cells: contrasts by what each needs, in items."""
    more = plan.rules.design_effect != 1 or plan.rules.attrition > 0
    header = ["contrast", "p_b", "p_c", "gain", "power", "floor", "ceiling", "to author", "binding"]
    names = ["n_sustained", "n_floor", "n_ceiling", "n_authored"]
    if more:
        header.insert(7, "to analyse")
        names.insert(3, "n_analysed")
    rows = []
    for one in plan.family:
        row = plan.row(one.contrast.name)
        rows.append([
            one.contrast.name, _short(row["p_b"]), _short(row["p_c"]), f"{100 * row['gain']:+.1f}",
            *(_count(row[name]) for name in names), str(row["binding"]),
        ])  # fmt: skip
    return header, rows


def reach_table(plan: BenchmarkPlan) -> tuple[list[str], list[list[str]]]:
    """Header and cells: what the bank at hand can do for each contrast; empty without one."""
    header = ["contrast", "counting items", "power", "floor reached", "perfect score", "smallest gain", "resolvable"]
    rows = [] if plan.reach is None else plan.reach.to_dict("records")
    return header, [
        [
            row["contrast"], f"{row['n_effective']:,}", f"{row['power']:.4f}", f"{row['floor_reached']:.4f}",
            _probability(row["perfect"]), _points(row["minimum_gain"]), "yes" if row["resolvable"] else "no",
        ]
        for row in rows
    ]  # fmt: skip


def detail_lines(plan: BenchmarkPlan) -> list[str]:
    """For each contrast the assumption, the powers on both sides of n, and the certificate."""
    lines = []
    for one in plan.family:
        row, design = plan.row(one.contrast.name), plan.design(one.contrast.discordance)
        first, sustained = known(row["n_power"]), known(row["n_sustained"])
        lines.append(f"{one.contrast.name}: {one.contrast.discordance.source}")
        if first is None or sustained is None:
            lines.append(f"    cannot be sized: {row['note']}")
            continue
        before, at = power_at(int(first) - 1, design), power_at(int(first), design)
        lines.append(
            f"    power({int(first) - 1:,}) = {before:.4f}, power({int(first):,}) = {at:.4f}; proved: too few below "
            f"{row['n_lower']:,}, enough from {row['n_upper']:,}, every size between computed"
        )
        if sustained != first:
            lines.append(f"    first reached at {int(first):,}, never below again from {int(sustained):,}")
        for other in plan.spread:
            if other.contrast == one.contrast.name:
                need = f"{other.items:,} items" if other.items is not None else "no gain to detect"
                lines.append(f"    if {other.table.source} ({other.table.p_b:.4f}, {other.table.p_c:.4f}): {need}")
        if row["note"]:
            lines.append(f"    note: {row['note']}")
    return lines


def verdict_lines(plan: BenchmarkPlan) -> list[str]:
    """The bank that serves all, whether it can be authored, the floor."""
    found = plan.plan
    if found.items is None:
        lines = [f"No bank serves all contrasts: {found.binding}."]
    else:
        lines = [f"The bank that serves all: {found.items:,} items. Binding: {found.binding}."]
        if plan.rules.cap is not None:
            said = "within" if found.feasible else "NOT FEASIBLE: above"
            lines.append(f"{said} the cap of {plan.rules.cap:,} items.")
    lines += hard_stop_lines(plan.rules.hard_stop_rate)
    lines.append(f"Floor: fewer than {plan.floor} discordant items can never be significant at {plan.level:.4g}.")
    return lines


def hard_stop_lines(rate: float | None) -> list[str]:
    """Items without a violation that exclude a rate; empty without such a rule."""
    if rate is None:
        return []
    clean = f"{hard_stop_n(rate):,} items without a violation"
    return [f"Hard-stop rules: {clean} exclude a rate of {rate:.2%} (one-sided 95%)."]


def text_lines(plan: BenchmarkPlan) -> list[str]:
    """The plan as a terminal shows it."""
    lines = [heading(plan), "", *columns(*needs_table(plan)), "", *detail_lines(plan), "", *verdict_lines(plan)]
    if plan.reach is not None and plan.items is not None:
        lines += ["", f"With {plan.items:,} items:", *columns(*reach_table(plan))]
    return lines


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Cells in columns: the first and the last to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    lines = []
    for row in (header, *rows):
        middle = [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *middle, row[-1]]).rstrip())
    return lines


def render(plan: BenchmarkPlan, curves: Sequence[dict[str, Any]], *, title: str, subtitle: str = "") -> str:
    """One self-contained HTML page: needs, certificate, curves, smallest gains. Same plan, same bytes.

    `curves` are the rows of `sizing_plan.curve_rows`.
    """
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    gains = detectable(plan)
    return environment.get_template("sizing.html").render(
        title=title, subtitle=subtitle, css=Markup(_template("page.css")), heading=heading(plan),
        verdict=verdict_lines(plan), needs=needs_table(plan), details=detail_lines(plan), reach=reach_table(plan),
        items=plan.items, power=Markup(power_figure(plan, curves)), detect=Markup(detectable_figure(gains)),
        worse=[f"{100 * share:g}" for share in WORSE],
        gains=[(f"{n:,}", [_points(gain) for gain in found]) for n, found in gains],
        warnings=build_warning_lines(plan),
    )  # fmt: skip


def build_warning_lines(plan: BenchmarkPlan) -> list[str]:
    """What the bank at hand cannot resolve, by name."""
    if plan.reach is None or plan.items is None:
        return []
    return [
        f"{plan.items:,} items do not resolve {row['contrast']!r}: power {row['power']:.3f}"
        for row in plan.reach.to_dict("records")
        if not row["resolvable"]
    ]


def _template(name: str) -> str:
    return resources.files("examgen.report").joinpath(name).read_text(encoding="utf-8")


def _short(value: float) -> str:
    return f"{value:.4f}"


def _count(value: Any) -> str:
    number = known(value)
    return "–" if number is None else f"{number:,.0f}"


def _probability(value: Any) -> str:
    number = known(value)
    return "–" if number is None else f"{number:.4f}"


def _points(value: Any) -> str:
    number = known(value)
    return "none" if number is None else f"{100 * number:.1f}"
