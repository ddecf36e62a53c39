"""The drawings of a plan: power by bank size, and the smallest gain a bank detects."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from examgen.report.svg import AMBER, BLUE, GREY, INK, QUIET, RULE, VERMILLION, Drawing, shortened, width_of
from examgen.sizing_plan import WORSE, BenchmarkPlan, Gains, known

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 900.0, 430.0, 62.0, 34.0, 52.0
INKS = (BLUE, VERMILLION, AMBER, "#00735C", "#6B3FA0", GREY)
DASHES = ("", "8 4", "2 4", "10 3 2 3")
"""Lines differ by colour and, for the second six, by dashes: colour alone tells nothing in grey print."""
Scale = Callable[[float], float]


def power_figure(plan: BenchmarkPlan, curves: Sequence[dict[str, Any]]) -> str:
    """Exact power against authored items: a heavy line a contrast, thin lines for what else it may turn out to be."""
    drawing = Drawing(
        "power", WIDTH, HEIGHT, "Power by number of items",
        "Exact power of each planned contrast against the number of items authored; the numbers are in the table "
        "power_curves.",
    )  # fmt: skip
    right = WIDTH - 230
    top = max((int(row["items"]) for row in curves), default=1)
    across = _across(top, [known(n) for n in plan.plan.table["n_authored"]], LEFT, right)
    _frame(drawing, across, top, right, [(share, f"{share:.0%}") for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)], 1.0)
    goal = _height(plan.rules.power, 1.0)
    drawing.line(LEFT, goal, right, goal, colour=INK, width=1, dashes="4 4")
    if plan.items and plan.items <= top:
        place = across(plan.items)
        drawing.line(place, TOP, place, HEIGHT - BOTTOM, colour=QUIET, width=1, dashes="2 3")
        drawing.text(place, TOP - 8, f"{plan.items:,} items", size=12, anchor="middle", colour=QUIET)
    ends: list[tuple[float, str, str]] = []
    for number, one in enumerate(plan.family):
        colour, name = INKS[number % len(INKS)], one.contrast.name
        for source in dict.fromkeys(row["assumption"] for row in curves if row["contrast"] == name):
            points = [
                (across(row["items"]), _height(row["power"], 1.0))
                for row in curves
                if row["contrast"] == name and row["assumption"] == source
            ]
            main = source == one.contrast.discordance.source
            _path(drawing, points, colour, 2.2 if main else 0.9, DASHES[number // len(INKS) % len(DASHES)])
            if main:
                ends.append((points[-1][1], name, colour))
        need = known(plan.row(name)["n_sustained"])
        authored = known(plan.row(name)["n_authored"])
        if need is not None and authored is not None and authored <= top:
            drawing.dot(across(authored), _height(_at(curves, name, int(authored)), 1.0), colour=colour)
    _label(drawing, ends, right)
    return drawing.render()


def detectable_figure(found: Gains) -> str:
    """Smallest gain detected against authored items, a line for each share only the other endpoint gets right.

    `found` is what `sizing_plan.detectable` gives.
    """
    drawing = Drawing(
        "detectable", WIDTH, HEIGHT, "Smallest detectable gain by number of items",
        "Smallest gain in percentage points that is detected with the power asked for, against the number of items.",
    )  # fmt: skip
    right = WIDTH - 230
    most = 0.30
    low, top = found[0][0], found[-1][0]
    across = _across(top, [float(low), float(top)], LEFT, right, low=float(low))
    marks = [(share, f"{100 * share:.0f}") for share in (0.0, 0.05, 0.10, 0.15, 0.20, 0.25, 0.30)]
    _frame(drawing, across, top, right, marks, most, low=low)
    ends = []
    for place, worse in enumerate(WORSE):
        points = [
            (across(n), _height(gain, most))
            for n, gains in found
            if (gain := gains[place]) is not None and gain <= most
        ]
        if points:
            _path(drawing, points, INKS[place], 2.0, "")
            ends.append((points[-1][1], f"{100 * worse:g}% only the other", INKS[place]))
    _label(drawing, ends, right)
    drawing.text(14, TOP - 14, "gain, percentage points", size=12, colour=QUIET)
    return drawing.render()


def _across(top: float, needs: Sequence[float | None], left: float, right: float, low: float = 6.0) -> Scale:
    """Items to pixels: even where the needs are alike, by logarithm where they differ by more than tenfold."""
    told = [need for need in needs if need is not None and need > 0]
    if told and max(told) > 10 * min(told):
        span = math.log(top / low)
        return lambda n: left + math.log(max(n, low) / low) / span * (right - left)
    return lambda n: left + n / top * (right - left)


def _height(value: float, most: float) -> float:
    return HEIGHT - BOTTOM - value / most * (HEIGHT - BOTTOM - TOP)


def _frame(
    drawing: Drawing, across: Scale, top: int, right: float, marks: Sequence[tuple[float, str]], most: float,
    low: int = 0,
) -> None:  # fmt: skip
    for value, words in marks:
        y = _height(value, most)
        drawing.line(LEFT, y, right, y, colour=RULE)
        drawing.text(LEFT - 8, y + 4, words, size=12, anchor="end", colour=QUIET)
    last = -1e9
    for n in _ticks(top):
        x = across(n)
        if n >= low and x - last > 44:
            drawing.line(x, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 5, colour=QUIET)
            drawing.text(x, HEIGHT - BOTTOM + 19, f"{n:,}", size=12, anchor="middle", colour=QUIET)
            last = x
    drawing.text(right, HEIGHT - 10, "items authored", size=12, anchor="end", colour=QUIET)


def _ticks(top: int) -> list[int]:
    """Round numbers up to `top`: a few even steps, and 1-2-5 below them for a logarithmic axis."""
    step = 10 ** math.floor(math.log10(max(top, 10)))
    step = next(s for s in (step // 5, step // 2, step, 2 * step) if s and top / s <= 8)
    small = [m * 10**e for e in range(1, 8) for m in (1, 2, 5) if m * 10**e < step]
    return [*small, *range(step, top + 1, step)]


def _path(drawing: Drawing, points: Sequence[tuple[float, float]], colour: str, width: float, dashes: str) -> None:
    broken = f' stroke-dasharray="{dashes}"' if dashes else ""
    way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    drawing.parts.append(
        f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="{width:g}"{broken}/>'
    )


def _label(drawing: Drawing, ends: Sequence[tuple[float, str, str]], right: float) -> None:
    """Names at the ends of their lines, pushed apart where they would overlap."""
    last = -1e9
    for y, name, colour in sorted(ends):
        place = max(y + 4, last + 17)
        last = place
        words = shortened(name, 32)
        drawing.text(right + 10, place, words, size=12.5, colour=colour, weight=600)
        if width_of(words, 12.5) > WIDTH - right - 10:
            drawing.parts[-1] = drawing.parts[-1].replace("<text ", f'<text textLength="{WIDTH - right - 14:.0f}" ', 1)


def _at(curves: Sequence[dict[str, Any]], name: str, items: int) -> float:
    return next((row["power"] for row in curves if row["contrast"] == name and row["items"] == items), 0.0)
