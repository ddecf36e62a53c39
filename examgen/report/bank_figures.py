"""Figures of the bank: the funnel and the cue probe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from examgen.records import FunnelRow
from examgen.report.figure import Figure, Results, Rows, chance_line
from examgen.report.numbers import Row, every, find, percent
from examgen.report.svg import BLUE, GREY, INK, QUIET, SKY, VERMILLION, Drawing, percent_axis, widest


def funnel_figure(funnel: Sequence[FunnelRow]) -> Figure:
    """What entered each stage and what became of it, over all strata."""
    stages = list(dict.fromkeys(row.stage for row in funnel))
    counts: Counter[tuple[str, str]] = Counter()
    for row in funnel:
        counts[row.stage, row.outcome] += row.count
    most = max((counts[stage, "entered"] for stage in stages), default=1) or 1
    left, right, top = widest(stages) + 14, 560.0, 30.0
    colours = {"accepted": BLUE, "superseded": SKY, "rejected": VERMILLION, "unresolved": GREY}
    said = "; ".join(
        f"{s}: {counts[s, 'entered']} entered, "
        + ", ".join(f"{counts[s, o]} {o}" for o in colours if counts[s, o])
        for s in stages
    )
    title = "What became of every item at each stage"
    drawing = Drawing("figure-funnel", 640, top + 40 * len(stages) + 12, title, said)
    x = left
    for outcome, colour in colours.items():
        drawing.box(x, 6, 11, 11, fill=colour)
        drawing.text(x + 16, 16, outcome, size=12, colour=QUIET)
        x += 16 + widest([outcome], 12) + 22
    for line, stage in enumerate(stages):
        y = top + 40 * line
        drawing.text(left - 12, y + 19, stage, anchor="end")
        x = left
        for outcome, colour in colours.items():
            width = counts[stage, outcome] / most * (right - left)
            if not counts[stage, outcome]:
                continue
            drawing.box(x, y + 3, width, 24, fill=colour, tip=f"{counts[stage, outcome]} {outcome} at {stage}")
            label = str(counts[stage, outcome])
            if width > 9 * len(label) + 6:
                ink = INK if outcome == "superseded" else "#ffffff"
                drawing.text(x + width / 2, y + 19.5, label, size=12, anchor="middle", colour=ink)
            x += width
        drawing.text(x + 10, y + 19, f"of {counts[stage, 'entered']:,}", size=12.5, colour=QUIET)
    caption = (
        "Items at each stage: what entered is the sum of what was accepted, superseded, rejected or left unresolved."
    )
    return Figure("funnel", caption, "funnel", drawing.render(), funnel)


def cue_figure(results: Results) -> Figure:
    """The selector's accuracy on each bank and set of features, beside its null."""
    rows = every(results["cue_probe"], statistic="selector accuracy")
    labels = [_cue_label(row, rows) for row in rows]
    names = widest(labels) + 14
    left, right, top = names + 50, 628.0, 26.0
    bottom = top + 34 * len(rows) + 2
    said = "; ".join(f"{label}: {percent(row['value'])}%" for label, row in zip(labels, rows, strict=True))
    drawing = Drawing("figure-cues", 640, bottom + 42, "How well a selector finds the key from form alone", said)
    percent_axis(drawing, left, right, top, bottom)
    span = right - left
    chance_line(drawing, results, left, right, top, bottom)
    for place, (label, row) in enumerate(zip(labels, rows, strict=True)):
        y = top + 18 + 34 * place
        drawing.text(names - 4, y + 4.5, label, anchor="end")
        null = find(
            results["cue_probe"], bank=row["bank"], features=row["features"], statistic="accuracy with keys at random"
        )
        if null and null["low"] is not None:
            width = max(2.0, (null["high"] - null["low"]) * span)
            tip = f"keys at random: {percent(null['low'])} to {percent(null['high'])}%"
            drawing.box(left + null["low"] * span, y - 11, width, 22, fill="#dcdcdc", tip=tip)
        if row["value"] is None:
            drawing.text(left + 6, y + 4.5, "not estimable", size=12, colour=QUIET)
            continue
        if row["low"] is not None:
            drawing.line(left + row["low"] * span, y, left + row["high"] * span, y, colour=BLUE, width=2)
        drawing.dot(left + row["value"] * span, y, colour=BLUE, tip=f"{label}: {percent(row['value'])}%")
        drawing.text(left - 14, y + 4.5, percent(row["value"]), size=12.5, anchor="end", weight=600)
    drawing.text((left + right) / 2, bottom + 37, "keys found, %", size=12.5, anchor="middle", colour=QUIET)
    caption = (
        "Cue probe: keys found by a selector that sees the form of the options (and their word overlap with the stem) "
        "but not their meaning, on topics it was not trained on. Grey band: the central 95% with keys drawn at random."
    )
    drawn = ("selector accuracy", "accuracy with keys at random", "chance")
    shown = [row for row in results["cue_probe"] if row["statistic"] in drawn]
    return Figure("cues", caption, "cue_probe", drawing.render(), shown)


def _cue_label(row: Row, rows: Rows) -> str:
    several = len({other["bank"] for other in rows}) > 1
    return f"{row['bank']}: {row['features']}" if several else str(row["features"])
