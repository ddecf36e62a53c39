"""A paired table already seen, and what can be said without any planned contrast, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from examgen.errors import StudyError
from examgen.planned_contrasts import rules_of
from examgen.sizing_plan import WORSE, BenchmarkPlan
from examgen.sizing_report import hard_stop_lines
from examgen.sizing_section import Sizing
from examgen.statistics.interaction import interaction_test
from examgen.statistics.intervals import tango
from examgen.statistics.mcnemar import Design, mcnemar_p, power_at, power_simulated
from examgen.statistics.paired import OBSERVED_POWER_LABEL
from examgen.statistics.sizing import ceiling_n, discordance_floor, minimum_detectable_gain, probability_perfect

Counts = tuple[int, int, int]
"""Items only the first got right, only the second, items in all."""
PERMUTATIONS = 10_000


def parse_counts(text: str) -> Counts:
    """`16,1,168` as counts; `StudyError` when it is none."""
    parts = text.replace("/", ",").split(",")
    if len(parts) != 3 or not all(part.strip().isdigit() for part in parts):
        raise StudyError(f"{text!r}: write b,c,n: items only the first got right, only the second, items in all")
    b, c, n = (int(part) for part in parts)
    if n < 1 or b + c > n:
        raise StudyError(f"{text!r}: b + c is at most n, and n at least 1")
    return b, c, n


def table_lines(tables: Sequence[Counts], sizing: Sizing, *, seed: int = 0) -> list[str]:
    """Paired tests of a table, or of several strata of one comparison with the interaction test."""
    lines = []
    for place, (b, c, n) in enumerate(tables, start=1):
        name = "Table seen" if len(tables) == 1 else f"Stratum {place}"
        lines += _test_lines(name, b, c, n)
    if len(tables) > 1:
        b, c, n = (sum(table[i] for table in tables) for i in range(3))
        lines += _test_lines("All strata", b, c, n)
        found = interaction_test(tables, permutations=PERMUTATIONS, seed=seed)
        told = f"P = {found.p:.4f}" if found.p is not None else found.note
        name = "z" if found.df == 1 else f"chi-square({found.df})"
        value = "" if found.statistic is None else f"{name} = {found.statistic:.3f}, "
        lines.append(f"Interaction: {value}{told}; permutation P = {found.p_permutation:.3f} (seed {seed})")
    b, c, n = (sum(table[i] for table in tables) for i in range(3))
    observed = power_at(n, Design(b / n, c / n, sizing.alpha, sizing.test))
    return [*lines, f"{OBSERVED_POWER_LABEL}: {observed:.4f}"]


def _test_lines(name: str, b: int, c: int, n: int) -> list[str]:
    gain = tango(b, c, n)
    limits = ""
    if gain.low is not None and gain.high is not None:
        limits = f" (Tango 95%: {_points(gain.low)} to {_points(gain.high)})"
    return [
        f"{name}: ({b}, {c}) of {n:,} items, {b + c} discordant, gain {_points((b - c) / n)} points{limits}; "
        f"P exact {mcnemar_p(b, c):.4g}, mid-p {mcnemar_p(b, c, 'midp'):.4g}"
    ]


def bare_lines(sizing: Sizing, items: int | None) -> list[str]:
    """Floor, ceiling and smallest gains: what does not depend on a contrast."""
    rules = rules_of(sizing)
    level = rules.level(1)
    floor = discordance_floor(level, rules.test, rules.alternative)
    lines = [f"Floor: {floor} discordant items, all in one direction, are the fewest significant at {level:.4g}."]
    lines += ceiling_lines(sizing, items)
    lines += hard_stop_lines(sizing.hard_stop_rate)
    if items is not None:
        told = []
        for worse in WORSE:
            gain = minimum_detectable_gain(
                items, worse=worse, power=rules.power, alpha=level, test=rules.test, alternative=rules.alternative
            ).value
            told.append(f"{worse:.1%} {'none' if gain is None else f'{100 * gain:.1f}'}")
        lines.append(
            f"Smallest gain {items:,} items detect with power {rules.power:g}, in points, by the share of items only "
            f"the other gets right: {', '.join(told)}"
        )
    return lines


def ceiling_lines(sizing: Sizing, items: int | None) -> list[str]:
    """The chance of a perfect score; empty without an accuracy."""
    accuracy = sizing.ceiling_accuracy
    if accuracy is None:
        return []
    least = ceiling_n(accuracy, sizing.ceiling_probability)
    told = f"{least:,} items" if least is not None else "no number of items"
    rare = sizing.ceiling_probability
    lines = [f"Ceiling: at an accuracy of {accuracy:g}, {told} make a perfect score rarer than {rare:g}."]
    if items is not None:
        chance = probability_perfect(accuracy, items)
        lines.append(f"    probability of a perfect score on {items:,} items: {chance:.4f}")
    return lines


def simulated_lines(plan: BenchmarkPlan, replicates: int, seed: int) -> list[str]:
    """Simulated beside exact power around the exact n: how far a search by simulation may stray."""
    lines = []
    for one in plan.family:
        design, first = plan.design(one.contrast.discordance), plan.row(one.contrast.name)["n_power"]
        if first is None or first != first:
            continue
        for n in (int(first) - 1, int(first)):
            found = power_simulated(n, design, replicates=replicates, seed=seed + n)
            lines.append(
                f"    {one.contrast.name}, n = {n:,}: exact {power_at(n, design):.4f}, {replicates:,} replicates "
                f"{found.value:.4f} ({found.low:.4f} to {found.high:.4f})"
            )
    return lines


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"
