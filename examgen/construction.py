"""How the bank was made, measured: sources per item, accuracy by stratum, acceptance per stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from examgen.records import STRATA, FunnelRow
from examgen.result_rows import Row, number, result, unknown
from examgen.scores import Answers
from examgen.statistics.estimate import Estimate
from examgen.statistics.intervals import wilson
from examgen.statistics.ranks import rank_correlation

LABEL_NOTE = "strata are construction labels, not difficulties"
EXPECTED = ("easy", "medium", "hard")
"""The order in which a reader expects accuracy to fall. Synthesis says how many sources, not how hard."""


def construction_rows(answers: Answers, funnel: Sequence[FunnelRow] = (), level: float = 0.95) -> list[Row]:
    """Rows of `construction`: all of the above."""
    return [*_source_rows(answers), *_ordering_rows(answers), *acceptance_rows(funnel, level)]


def _sources(answers: Answers) -> np.ndarray:
    return np.array([len({e.source_id for e in item.evidence}) for item in answers.items], dtype=float)


def _source_rows(answers: Answers) -> list[Row]:
    """Distinct sources per item by stratum, and their rank correlation with the panel's accuracy on the item."""
    sources = _sources(answers)
    strata = answers.labels("stratum")
    rows = []
    for stratum in (*STRATA, "all"):
        inside = np.ones(len(sources), dtype=bool) if stratum == "all" else strata == stratum
        if not inside.any():
            continue
        part = sources[inside]
        found = Estimate(
            float(part.mean()), float(part.min()), float(part.max()),
            "mean, fewest and most distinct sources of the evidence", int(part.size),
        )
        rows.append(result("sources per item", found, stratum=stratum))
        rows.append(
            number(
                "items with two or more sources", float((part > 1).mean()), "share of items", int(part.size),
                stratum=stratum,
            )
        )
    columns = answers.columns("primary")
    scores = answers.scores[:, columns]
    seen = ~np.isnan(scores)
    rate = np.where(seen.any(axis=1), np.nansum(scores, axis=1) / np.maximum(seen.sum(axis=1), 1), np.nan)
    found = rank_correlation(sources, rate)
    rows.append(result("sources against accuracy of the primary endpoints", found, stratum="all"))
    return rows


def _ordering_rows(answers: Answers) -> list[Row]:
    """Share of endpoints for which accuracy falls from easy through hard."""
    strata = answers.labels("stratum")
    method = "primary endpoints with accuracy easy > medium > hard"
    present = [stratum for stratum in EXPECTED if (strata == stratum).any()]
    columns = answers.columns("primary")
    if len(present) < 2 or not columns:
        reason = "fewer than two of easy, medium and hard" if columns else "no primary endpoint"
        return [unknown("expected ordering holds", method, reason, stratum="all")]
    holds = 0
    counted = 0
    for column in columns:
        means = [_mean(answers.scores[strata == stratum, column]) for stratum in present]
        if all(mean is not None for mean in means):
            counted += 1
            holds += all(one > two for one, two in pairwise(means))  # type: ignore[operator]
    if not counted:
        return [unknown("expected ordering holds", method, "no endpoint was scored in every stratum", stratum="all")]
    return [number("expected ordering holds", holds / counted, method, counted, LABEL_NOTE, stratum="all")]


def _mean(scores: np.ndarray) -> float | None:
    known = scores[~np.isnan(scores)]
    return float(known.mean()) if known.size else None


def acceptance_rows(funnel: Sequence[FunnelRow], level: float = 0.95) -> list[Row]:
    """Share of what entered each stage that was accepted there, by stratum and over all (Wilson)."""
    entered: Counter[tuple[str, str]] = Counter()
    accepted: Counter[tuple[str, str]] = Counter()
    stages = list(dict.fromkeys(row.stage for row in funnel))
    for row in funnel:
        for stratum in {row.stratum, "all"}:
            if row.outcome == "entered":
                entered[row.stage, stratum] += row.count
            elif row.outcome == "accepted":
                accepted[row.stage, stratum] += row.count
    rows = []
    for stage in stages:
        for stratum in sorted({name for place, name in entered if place == stage}):
            share = wilson(accepted[stage, stratum], entered[stage, stratum], level=level)
            rows.append(result(f"accepted at {stage}", share, stratum=stratum))
    return rows
