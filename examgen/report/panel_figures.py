"""Figures of the panel: accuracy by endpoint, by stratum, by topic, and empirical difficulty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from examgen.records import STRATA, EndpointRow
from examgen.report.figure import MARKS, MOST_LINES, Figure, Results, Rows, chance_line, ordered
from examgen.report.numbers import Row, every, find, percent
from examgen.report.svg import (
    BLUE,
    INK,
    QUIET,
    RULE,
    VERMILLION,
    Drawing,
    on_shade,
    percent_axis,
    shade,
    shortened,
    widest,
    wrapped,
)

PLOT = 250.0
"""Width of a plot beside its labels, in pixels: both can be seen on a phone."""


def accuracy_figure(results: Results, endpoints: Sequence[EndpointRow]) -> Figure:
    """Accuracy of each endpoint with its clustered interval; the dashed line is chance."""
    accuracy = results["accuracy"]
    rows = ordered(endpoints, accuracy)
    names = min(260.0, widest([shortened(row.endpoint_id, 40) for row in rows]) + 14)
    left, top = names + 50, 34.0
    right = left + PLOT
    bottom = top + 27 * len(rows) + 4
    said = [f"{row.endpoint_id} {_said(accuracy, row.endpoint_id)}" for row in rows]
    drawing = Drawing(
        "figure-accuracy", right + 14, bottom + 42, "Accuracy of each endpoint with its 95% interval", "; ".join(said)
    )
    percent_axis(drawing, left, right, top, bottom)
    chance_line(drawing, results, left, right, top, bottom)
    for place, row in enumerate(rows):
        y = top + 18 + 27 * place
        colour, shape = MARKS[row.role]
        drawing.text(names - 4, y + 4.5, shortened(row.endpoint_id, 40), anchor="end")
        found = find(accuracy, endpoint_id=row.endpoint_id, axis="overall", statistic="accuracy")
        if found is None or found["value"] is None:
            drawing.text(left + 6, y + 4.5, "not estimable", size=12, colour=QUIET)
            continue
        if found["low"] is not None and found["high"] is not None:
            ends = [left + found[name] * (right - left) for name in ("low", "high")]
            drawing.line(ends[0], y, ends[1], y, colour=colour, width=2)
        tip = f"{row.endpoint_id}: {_said(accuracy, row.endpoint_id)}"
        drawing.dot(left + found["value"] * (right - left), y, colour=colour, shape=shape, tip=tip)
        drawing.text(left - 14, y + 4.5, percent(found["value"]), size=12.5, anchor="end", weight=600)
    drawing.text((left + right) / 2, bottom + 37, "items right, %", size=12.5, anchor="middle", colour=QUIET)
    caption = (
        "Accuracy with 95% intervals (clustered by topic; unresolved rows left out). Filled circles are language-model "
        "endpoints, open circles baselines without a language model, diamonds the model that wrote the items."
    )
    drawn = every(accuracy, axis="overall", statistic="accuracy")
    return Figure("accuracy", caption, "accuracy", drawing.render(), drawn)


def _said(accuracy: Rows, name: str) -> str:
    found = find(accuracy, endpoint_id=name, axis="overall", statistic="accuracy")
    if found is None or found["value"] is None:
        return "not estimable"
    limits = f", {percent(found['low'])} to {percent(found['high'])}" if found["low"] is not None else ""
    return f"{percent(found['value'])}%{limits}"


def heat_map(results: Results, endpoints: Sequence[EndpointRow]) -> Figure:
    """Topic × endpoint accuracy in percent, topics from hardest to easiest."""
    table = results["topic_accuracy"]
    rows = ordered(endpoints, results["accuracy"])
    cells = {(row["topic"], row["endpoint_id"]): row for row in table if row["statistic"] == "accuracy"}
    roles = {row.endpoint_id: row.role for row in rows}
    scale = [name for name in roles if roles[name] == "primary"] or list(roles)
    topics = sorted({topic for topic, _ in cells}, key=lambda topic: (_mean(cells, topic, scale), topic))
    named = {topic: wrapped(topic, 38, 3) for topic in topics}
    tall = (25.0, 31.0, 44.0)[max((len(lines) for lines in named.values()), default=1) - 1]
    left = widest([line for lines in named.values() for line in lines], 12.5) + 54
    width = max(34.0, min(62.0, (940 - left) / max(1, len(rows))))
    top = min(180.0, 0.72 * widest([row.endpoint_id for row in rows], 12.5) + 18)
    tilt = 0.7 * widest([row.endpoint_id for row in rows[-1:]], 12.5)
    best = max(topics, key=lambda topic: _mean(cells, topic, scale), default="")
    said = f"{len(topics)} topics by {len(rows)} endpoints; hardest {topics[0] if topics else 'none'}, easiest {best}"
    drawing = Drawing(
        "figure-topics", left + width * len(rows) + max(12, tilt - width / 2 + 10), top + tall * len(topics) + 14,
        "Accuracy by topic and endpoint", f"{said}. Every number is in table topic_accuracy.",
    )
    for column, row in enumerate(rows):
        x = left + width * (column + 0.5)
        ink = INK if row.role == "primary" else QUIET
        drawing.text(x - 2, top - 8, row.endpoint_id, size=12.5, turn=-45, colour=ink)
    for line, topic in enumerate(topics):
        y = top + tall * line
        middle = y + tall / 2 + 4.5
        count = max((cells[topic, name]["n"] for name in roles if (topic, name) in cells), default=0)
        for number, part in enumerate(named[topic]):
            up = 6.5 * (len(named[topic]) - 1)
            drawing.text(left - 40, middle - up + 13 * number, part, size=12.5, anchor="end")
        drawing.text(left - 8, middle, str(count), size=12, anchor="end", colour=QUIET)
        for column, row in enumerate(rows):
            found = cells.get((topic, row.endpoint_id))
            value = found["value"] if found else None
            x = left + width * column
            fill = "#ffffff" if value is None else shade(value)
            tip = f"{topic}, {row.endpoint_id}: {percent(value)}% of {found['n'] if found else 0}"
            drawing.box(x + 0.5, y + 0.5, width - 1, tall - 1, fill=fill, edge=RULE if value is None else fill, tip=tip)
            shown = "–" if value is None else percent(value, 0)
            ink = QUIET if value is None else on_shade(value)
            drawing.text(x + width / 2, middle, shown, size=12.5, anchor="middle", colour=ink)
    drawing.text(left - 8, top - 8, "items", size=12, anchor="end", colour=QUIET)
    caption = "Accuracy (%) by topic and endpoint, topics from the hardest for the primary endpoints to the easiest."
    return Figure("topics", caption, "topic_accuracy", drawing.render(), list(cells.values()))


def _mean(cells: Mapping[tuple[str, str], Row], topic: str, names: Sequence[str]) -> float:
    values = [cells[topic, name]["value"] for name in names if (topic, name) in cells]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else 0.0


def stratum_figure(results: Results, endpoints: Sequence[EndpointRow]) -> Figure | None:
    """Accuracy of each endpoint by construction stratum; None without strata."""
    rows = every(results["accuracy"], axis="stratum", statistic="accuracy")
    strata = [stratum for stratum in STRATA if any(row["level"] == stratum for row in rows)]
    if not strata:
        return None
    shown = [row for row in ordered(endpoints, results["accuracy"]) if row.role != "construction_overlap"]
    if len(shown) > MOST_LINES:
        shown = [row for row in shown if row.role == "primary"][:MOST_LINES]
    left, top, width = 36.0, 16.0, 112.0
    height = max(220.0, LABEL_GAP * len(shown) + 40)
    bottom = top + height
    said = _strata_said(rows, strata, shown)
    edge = left + width * len(strata)
    room = widest([shortened(row.endpoint_id, 40) for row in shown], 12)
    drawing = Drawing("figure-strata", edge + room + 6, bottom + 30, "Accuracy by construction stratum", said)
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = bottom - share * height
        drawing.line(left, y, edge, y, colour=RULE)
        drawing.text(left - 8, y + 4, f"{100 * share:.0f}", size=12, anchor="end", colour=QUIET)
    for place, stratum in enumerate(strata):
        drawing.text(left + width * (place + 0.5), bottom + 20, stratum, anchor="middle")
    ends = []
    for row in shown:
        colour, shape = MARKS[row.role]
        last: tuple[float, float] | None = None
        for place, stratum in enumerate(strata):
            found = find(rows, endpoint_id=row.endpoint_id, level=stratum)
            if found is None or found["value"] is None:
                last = None
                continue
            x, y = left + width * (place + 0.5), bottom - found["value"] * height
            if last:
                drawing.line(*last, x, y, colour=colour, width=1.6 if row.role == "primary" else 0.9)
            tip = f"{row.endpoint_id}, {stratum}: {percent(found['value'])}%"
            drawing.dot(x, y, colour=colour, shape=shape, tip=tip)
            last = (x, y)
        if last:
            ends.append((last[1], row.endpoint_id, colour, last[0]))
    for y, (at, name, colour, x) in zip(_spread([end[0] for end in sorted(ends)], top, bottom), sorted(ends),
                                        strict=True):  # fmt: skip
        drawing.line(x + 7, at, edge - 4, y, colour=colour, width=0.6)
        drawing.text(edge, y + 4, shortened(name, 40), size=12, colour=colour)
    caption = (
        "Accuracy (%) by construction stratum. The strata are instructions to the writer, not measured difficulty; "
        "an accuracy that does not fall from easy to hard says so."
    )
    names = {row.endpoint_id for row in shown}
    drawn = [row for row in rows if row["endpoint_id"] in names]
    return Figure("strata", caption, "accuracy", drawing.render(), drawn)


def _strata_said(rows: Rows, strata: Sequence[str], shown: Sequence[EndpointRow]) -> str:
    parts = []
    for row in shown:
        cells = [find(rows, endpoint_id=row.endpoint_id, level=stratum) for stratum in strata]
        said = ", ".join(
            f"{stratum} {percent(cell['value'])}" for stratum, cell in zip(strata, cells, strict=True) if cell
        )
        parts.append(f"{row.endpoint_id}: {said}")
    return "; ".join(parts)


LABEL_GAP = 15.0
"""Pixels from the baseline of a label to that of the next."""


def _spread(places: Sequence[float], top: float, bottom: float) -> list[float]:
    """Heights of labels for ascending places: at least `LABEL_GAP` apart, moved as little as that allows.

    Labels that would overlap form a block, which stands where its members want to be on average.
    """
    blocks: list[list[float]] = []  # sum of wishes for the block's first label, number of labels

    def start(block: list[float]) -> float:
        return min(max(block[0] / block[1], top), bottom - LABEL_GAP * (block[1] - 1))

    for place in places:
        blocks.append([place, 1])
        while len(blocks) > 1 and start(blocks[-2]) + LABEL_GAP * blocks[-2][1] > start(blocks[-1]):
            wish, count = blocks.pop()
            last = blocks[-1]
            last[0] += wish - LABEL_GAP * last[1] * count
            last[1] += count
    return [start(block) + LABEL_GAP * number for block in blocks for number in range(int(block[1]))]


def difficulty_figure(results: Results) -> Figure | None:
    """Number of items by number of primary endpoints that miss them; None with fewer than two endpoints."""
    rows = [row for row in results["item_difficulty"] if row["seen"]]
    panel = max((row["seen"] for row in rows), default=0)
    if panel < 2:
        return None
    counts = Counter(row["misses"] for row in rows)
    flagged = {row["misses"] for row in rows if row["queue"] not in ("", "not estimable")}
    left, top, bottom = 56.0, 24.0, 230.0
    step = min(70.0, 600 / (panel + 1))
    most = max(counts.values())
    said = "; ".join(f"{counts[m]} items missed by {m}" for m in range(panel + 1))
    title = "Items by number of endpoints that miss them"
    drawing = Drawing("figure-difficulty", left + step * (panel + 1) + 20, bottom + 48, title, said)
    for misses in range(panel + 1):
        x = left + step * misses
        height = counts[misses] / most * (bottom - top - 16)
        colour = VERMILLION if misses in flagged else BLUE
        drawing.box(x + 4, bottom - height, step - 8, height, fill=colour, tip=f"{counts[misses]} items")
        drawing.text(x + step / 2, bottom - height - 5, str(counts[misses]), size=12, anchor="middle", colour=QUIET)
        drawing.text(x + step / 2, bottom + 17, str(misses), size=12.5, anchor="middle")
    drawing.line(left, bottom, left + step * (panel + 1), bottom, colour=INK)
    middle = left + step * (panel + 1) / 2
    drawing.text(middle, bottom + 39, "primary endpoints that miss the item", size=12.5, anchor="middle", colour=QUIET)
    drawing.text(18, (top + bottom) / 2, "items", size=12.5, anchor="middle", colour=QUIET, turn=-90)
    caption = (
        "Empirical difficulty: items by the number of primary endpoints that miss them; "
        "the flagged ones in the second colour."
    )
    return Figure("difficulty", caption, "item_difficulty", drawing.render(), rows)
