"""Accuracy of every endpoint with its uncertainty: overall, by topic, stratum, difficulty bin and any other axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from examgen.difficulty import FEWEST_PRIMARY, SELECTION_NOTE, Thresholds, bin_of, misses, too_few
from examgen.records import LETTERS
from examgen.result_rows import Row, number, result, unknown
from examgen.scores import Answers
from examgen.statistics.accuracy import accuracy_by, accuracy_intervals, accuracy_three_ways
from examgen.statistics.bootstrap import Replicates, hierarchical_bootstrap
from examgen.statistics.estimate import Estimate
from examgen.statistics.ranks import rank_intervals
from examgen.study import Statistics

DRAWS = 400_000_000
"""Most item draws of a bootstrap; a larger bank gets fewer replicates, never under 1,000."""
CLUSTER_NOTE = "topics resampled: speaks of topics like these, not only of these items"


def overall_rows(answers: Answers, settings: Statistics, drawn: Replicates | None = None) -> list[Row]:
    """Rows of `accuracy` on the whole bank: three intervals, unresolved rows three ways, ranks, widths compared.

    `drawn` is `resampled` over construction batches, where it was computed already. A row that was never asked is
    counted apart ("not asked"): it is neither right nor wrong nor unresolved.
    """
    rows: list[Row] = []
    topics = answers.labels("topic")
    worst, best = answers.bounds
    drawn = drawn or resampled(answers, settings, "construction_batch")
    parents = resampled(answers, settings, "semantic_parent")
    for column, name in enumerate(answers.names):
        labels = {"endpoint_id": name, "axis": "overall", "level": "all items"}
        asked = answers.asked[:, column]
        score = answers.mean_scores[asked, column]
        extremes = worst[asked, column], best[asked, column]
        three = accuracy_three_ways(score, topics[asked], bounds=extremes, level=settings.confidence)
        rows.append(result("accuracy", _noted(three.excluded), **labels))
        plain = accuracy_intervals(score, method="wilson", level=settings.confidence)[0]
        rows.append(result("accuracy, these items", plain, **labels))
        for statistic, replicates in (
            ("accuracy, batches resampled", drawn), ("accuracy, parents resampled", parents)
        ):
            rows.append(result(statistic, replicates.interval(column, level=settings.confidence), **labels))
        rows.append(result("accuracy, unresolved as wrong", three.as_wrong, **labels))
        low, high = three.as_wrong.value, three.as_right.value
        note = "" if three.excluded.value is not None else "no row was resolved"
        bounds = Estimate(
            three.excluded.value, low, high, "all unresolved rows wrong, all right", int(asked.sum()), None, note
        )
        rows.append(result("accuracy, bounds", bounds, **labels))
        rows.append(_share("unresolved", three.unresolved, int(asked.sum()), labels))
        rows.append(_share("not asked", int((~asked).sum()), int(asked.size), labels))
        rows.append(_letter_row(answers.places_chosen(column), labels))
    return rows + _width_rows(answers, drawn, parents, settings) + rank_rows(answers, drawn, settings)


def resampled(answers: Answers, settings: Statistics, axis: str) -> Replicates:
    """The joint hierarchical bootstrap over an axis (construction batches by default), items within.

    Where the axis is empty for every item the topic takes its place.
    """
    labels = answers.labels(axis)
    if not any(labels):
        labels = answers.labels("topic")
    size = max(1, len(answers.items))
    replicates = min(settings.bootstrap_replicates, max(1000, DRAWS // size))
    return hierarchical_bootstrap(answers.mean_scores, labels, replicates=replicates, seed=settings.seed)


def _noted(estimate: Estimate) -> Estimate:
    note = "; ".join(part for part in (estimate.note, CLUSTER_NOTE if estimate.low is not None else "") if part)
    return Estimate(
        estimate.value, estimate.low, estimate.high, estimate.method, estimate.n, estimate.seed, note
    )


def _share(statistic: str, count: int, total: int, labels: dict[str, str]) -> Row:
    if not total:
        return unknown(statistic, "share of items", "no item was asked", **labels)
    return number(statistic, count / total, "share of items", total, f"{count} of {total}", **labels)


ONE_LETTER, FEWEST_ANSWERS = 0.9, 20
"""From this share of so many answers on, an endpoint that names one letter is said to do so."""


def _letter_row(places: NDArray[np.int64], labels: dict[str, str]) -> Row:
    """The letter an endpoint gives most; where it gives hardly another, its accuracy tells of the keys alone."""
    total = int(places.sum())
    if not total:
        return unknown("commonest letter", "share of answers", "no answer in the bank's own order", **labels)
    place = int(places.argmax())
    note = f"{LETTERS[place]} in {places[place]} of {total} answers"
    row = number("commonest letter", float(places[place] / total), "share of answers", total, note, **labels)
    if _one_letter(row):
        meaning = "the accuracy is the share of keys that stand there and says nothing of what the endpoint knows"
        row["note"] = f"{note}: {meaning}"
    return row


def _one_letter(row: Mapping[str, Any]) -> bool:
    return row["value"] is not None and row["n"] >= FEWEST_ANSWERS and row["value"] >= ONE_LETTER


def one_letter_note(rows: Iterable[Mapping[str, Any]]) -> str:
    """What to say of an endpoint whose answers are nearly all one letter, from its rows of `accuracy`; "" of others."""
    told = (row for row in rows if row["statistic"] == "commonest letter" and _one_letter(row))
    return next((f"answered {row['note']}" for row in told), "")


def _width_rows(answers: Answers, batches: Replicates, parents: Replicates, settings: Statistics) -> list[Row]:
    """Mean width of the two bootstraps' intervals over the endpoints that have one, and their ratio."""
    widths = []
    for drawn in (batches, parents):
        found = [drawn.interval(column, level=settings.confidence) for column in range(len(answers.names))]
        wide = [e.high - e.low for e in found if e.low is not None and e.high is not None]
        widths.append(float(np.mean(wide)) if wide else None)
    labels = {"endpoint_id": "all", "axis": "overall", "level": "all items"}
    n = len(answers.items)
    rows = []
    for name, drawn, width in zip(("batches", "parents"), (batches, parents), widths, strict=True):
        note = "" if width is not None else drawn.note or "no endpoint was scored"
        rows.append(number(f"mean interval width, {name} resampled", width, drawn.method, n, note, **labels))
    both = widths[0] is not None and widths[1] is not None and widths[0] > 0
    ratio = widths[1] / widths[0] if both else None  # type: ignore[operator]
    note = "" if ratio is not None else "one of the two has no interval"
    rows.append(number("interval width, parents over batches", ratio, "ratio of the mean widths", n, note, **labels))
    return rows


def rank_rows(answers: Answers, drawn: Replicates, settings: Statistics) -> list[Row]:
    """Rows of `accuracy`: rank of each endpoint (1 is best) and its interval over joint draws."""
    rows = []
    for row in rank_intervals(drawn, answers.names, level=settings.confidence).to_dict("records"):
        labels = {"endpoint_id": str(row["endpoint"]), "axis": "overall", "level": "all items"}
        value, low, high = (plain(row[name]) for name in ("rank", "low", "high"))
        note = str(row["note"])
        estimate = Estimate(value, low, high, str(row["method"]), int(row["n"]), int(row["seed"]), note)
        rows.append(result("rank", estimate, **labels))
    return rows


def axis_rows(answers: Answers, settings: Statistics) -> list[Row]:
    """Rows of `accuracy` by stratum, question type, tier, every further axis, and empirical-difficulty bin."""
    rows: list[Row] = []
    for axis in ("stratum", "question_type", "tier", *answers.axis_names):
        labels = answers.labels(axis)
        if len({label for label in labels if label}) > (0 if axis == "stratum" else 1):
            rows += _by_axis(answers, axis, labels, settings)
    return rows + difficulty_rows(answers, settings) + group_rows(answers)


def _by_axis(
    answers: Answers, axis: str, labels: NDArray[Any], settings: Statistics, note: str = ""
) -> list[Row]:
    kept = np.array([bool(label) for label in labels], dtype=bool)
    frame = accuracy_by(
        answers.mean_scores[kept], answers.names, labels[kept], clusters=answers.labels("topic")[kept],
        level=settings.confidence,
    )
    return [
        result("accuracy", _estimate(row, note), endpoint_id=str(row["endpoint"]), axis=axis, level=str(row["group"]))
        for row in frame.to_dict("records")
    ]


def difficulty_rows(answers: Answers, settings: Statistics) -> list[Row]:
    """Accuracy by bin of misses. For a primary endpoint the bin counts the misses of the others alone, so that an
    endpoint's own answer does not choose the bin it is scored in."""
    primary = answers.columns("primary")
    axis = "difficulty bin"
    if len(primary) < FEWEST_PRIMARY:
        reason = too_few(len(primary))
        return [
            unknown("accuracy", "clustered t interval", reason, endpoint_id=name, axis=axis, level="any")
            for name in answers.names
        ]
    rows: list[Row] = []
    topics = answers.labels("topic")
    for column, name in enumerate(answers.names):
        others = [place for place in primary if place != column]
        count, _ = misses(answers.scores[:, others])
        labels = bin_of(count, Thresholds.of(len(others)))
        frame = accuracy_by(
            answers.mean_scores[:, [column]], [name], labels, clusters=topics, level=settings.confidence
        )
        note = f"bins by the misses of {len(others)} other primary endpoints; {SELECTION_NOTE}"
        rows += [
            result("accuracy", _estimate(row, note), endpoint_id=name, axis=axis, level=str(row["group"]))
            for row in frame.to_dict("records")
        ]
    return rows


def group_rows(answers: Answers) -> list[Row]:
    """Range of the primary endpoints' accuracies by endpoint group (API, local, …): value is the mean."""
    rows = []
    primary = answers.columns("primary")
    for group in sorted({answers.endpoints[column].group for column in primary}):
        inside = [column for column in primary if answers.endpoints[column].group == group]
        part = answers.mean_scores[:, inside]
        means = [float(np.nanmean(c)) for c in part.T if not np.isnan(c).all()]
        labels = {"endpoint_id": "all", "axis": "endpoint group", "level": group}
        method = "mean, lowest and highest accuracy of the group's primary endpoints"
        if not means:
            rows.append(unknown("accuracy range", method, "no scored row", **labels))
            continue
        found = Estimate(float(np.mean(means)), min(means), max(means), method, len(means), None, "n counts endpoints")
        rows.append(result("accuracy range", found, **labels))
    return rows


def topic_rows(answers: Answers, settings: Statistics) -> list[Row]:
    """Rows of `topic_accuracy`: Wilson within a topic (its items are all there is of it)."""
    frame = accuracy_by(answers.mean_scores, answers.names, answers.labels("topic"), level=settings.confidence)
    return [
        result("accuracy", _estimate(row), endpoint_id=str(row["endpoint"]), topic=str(row["group"]))
        for row in frame.to_dict("records")
    ]


def _estimate(row: dict[Any, Any], note: str = "") -> Estimate:
    notes = "; ".join(part for part in (str(row["note"] or ""), note) if part)
    value, low, high = (plain(row[name]) for name in ("value", "low", "high"))
    return Estimate(value, low, high, str(row["method"]), int(row["n"]), None, notes)


def plain(value: Any) -> float | None:
    """A number out of a frame: missing becomes None."""
    return None if value is None or pd.isna(value) else float(value)
