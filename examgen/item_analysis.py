"""Item analysis of the primary panel, with guards: what a dozen endpoints cannot estimate is said, not shown."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from examgen.difficulty import FEWEST_PRIMARY, too_few
from examgen.result_rows import Row, number, result, unknown
from examgen.scores import Answers
from examgen.statistics.dif import MINIMUM_GROUP, dif_table
from examgen.statistics.estimate import Estimate
from examgen.statistics.irt import MINIMUM_RESPONDENTS, ItemResponseFit, ability, fit_2pl
from examgen.statistics.reliability import SUFFICIENT_RESPONDENTS, item_statistics, kr20
from examgen.statistics.short_form import short_form

Array = NDArray[Any]

SHOWN_NOTE = "endpoints are no sample of a population and many items make this high by themselves: do not act on it"
TransposedFit = tuple[ItemResponseFit | None, str]
_2PL = "2PL by marginal maximum likelihood, endpoints as items and questions as respondents"


def analysis_rows(answers: Answers, fit: TransposedFit, level: float = 0.95) -> list[Row]:
    """Rows of `reliability`: KR-20, discrimination, distractors, 2PL slopes of endpoints, DIF between groups."""
    columns = answers.columns("primary")
    scores = answers.scores[:, columns]
    return [
        *_classical_rows(scores, level), *_distractor_rows(answers, columns), *_slope_rows(answers, columns, fit),
        *_dif_rows(answers, columns),
    ]


def _classical_rows(scores: Array, level: float) -> list[Row]:
    scope = {"scope": "primary endpoints"}
    endpoints = scores.shape[1]
    how = "item-rest correlation over endpoints"
    if endpoints < FEWEST_PRIMARY:
        reason = too_few(endpoints)
        return [
            unknown("KR-20", "KR-20 over endpoints", reason, endpoints, **scope),
            unknown("median discrimination", how, reason, endpoints, **scope),
        ]
    complete = ~np.isnan(scores).any(axis=1)  # KR-20 wants whole respondents: items that all answered give the most
    found = kr20(scores[complete], level=level)
    lost = int((~complete).sum())
    left_out = f"{lost} items that some endpoint did not resolve left out" if lost else ""
    note = "; ".join(part for part in (found.note, left_out, SHOWN_NOTE) if part)
    shown = Estimate(found.value, found.low, found.high, found.method, found.n, None, note)
    rows = [result("KR-20", shown, **scope)]
    if endpoints < SUFFICIENT_RESPONDENTS:
        error = 1 / np.sqrt(endpoints)
        reason = f"{endpoints} endpoints: below {SUFFICIENT_RESPONDENTS} discrimination is noise (SE about {error:.2f})"
        return [*rows, unknown("median discrimination", how, reason, endpoints, **scope)]
    rest = item_statistics(scores)["item_rest"].dropna().to_numpy(dtype=float)
    value = float(np.median(rest)) if rest.size else None
    note = f"{int((rest < 0).sum())} of {rest.size} items below 0" if rest.size else "every item is constant"
    return [*rows, number("median discrimination", value, how, endpoints, note, **scope)]


def _distractor_rows(answers: Answers, columns: list[int]) -> list[Row]:
    """Distractors that at least one in twenty of the endpoints chose, as a share of all distractors."""
    scope = {"scope": "primary endpoints"}
    how = "distractors chosen by 5% of the endpoints or more"
    if len(columns) < FEWEST_PRIMARY:
        reason = too_few(len(columns))
        return [unknown("functioning distractors", how, reason, **scope)]
    chosen = answers.choices[:, columns]
    readable = (chosen >= 0).sum(axis=1)
    width = int(answers.n_options.max(initial=1))
    counts = np.stack([(chosen == place).sum(axis=1) for place in range(width)], axis=1)
    distractor = np.arange(width) < answers.n_options[:, None]
    distractor[np.arange(len(answers.keys)), answers.keys] = False
    distractor &= readable[:, None] > 0
    working = distractor & (counts >= 0.05 * readable[:, None]) & (counts > 0)
    total = int(distractor.sum())
    if not total:
        return [unknown("functioning distractors", how, "no readable answer", **scope)]
    idle = int((distractor.any(axis=1) & ~working.any(axis=1)).sum())
    note = f"{idle} items have none; an easy item has few whatever its writing"
    return [number("functioning distractors", float(working.sum() / total), how, total, note, **scope)]


def transposed_fit(answers: Answers) -> TransposedFit:
    """The 2PL with endpoints as items and questions as respondents, or the reason why there is none."""
    columns = answers.columns("primary")
    if len(columns) < FEWEST_PRIMARY:
        return None, too_few(len(columns))
    if len(answers.items) < MINIMUM_RESPONDENTS:
        return None, f"{len(answers.items)} items: at least {MINIMUM_RESPONDENTS} are needed"
    fit = fit_2pl(answers.scores[:, columns].T)
    return (fit, "") if fit.loglik is not None else (None, fit.note)


def _slope_rows(answers: Answers, columns: list[int], found: TransposedFit) -> list[Row]:
    """How sharply each endpoint separates easy from hard questions."""
    fit, reason = found
    if fit is None:
        return [unknown("2PL slope", _2PL, reason, len(answers.items), scope="primary endpoints")]
    rows = []
    for column, row in zip(columns, fit.items.to_dict("records"), strict=True):
        slope, error = _known(row["a"]), _known(row["a_se"])
        half = None if slope is None or error is None else 1.96 * error
        low, high = (None, None) if slope is None or half is None else (slope - half, slope + half)
        note = "" if slope is not None else "right or wrong on every item"
        estimate = Estimate(slope, low, high, f"{_2PL}, Wald 95%", fit.n, None, note)
        rows.append(result("2PL slope", estimate, scope=answers.names[column]))
    return rows


def easiness(answers: Answers, found: TransposedFit) -> tuple[Array, Array] | None:
    """Theta of each question and its standard error (a weighted easiness that allows for missing rows), or None.

    It ranks questions as the count of misses does (and finds wrong keys no better); its use is the standard error.
    """
    columns = answers.columns("primary")
    fit, _ = found
    if fit is None:
        return None
    frame = ability(answers.scores[:, columns].T, fit)
    return frame["theta"].to_numpy(dtype=float), frame["se"].to_numpy(dtype=float)


def _dif_rows(answers: Answers, columns: list[int]) -> list[Row]:
    """Items that work differently for one group of endpoints, where the groups are large enough."""
    how = "Mantel-Haenszel over bands of the total score, ETS class C"
    groups = sorted({answers.endpoints[column].group for column in columns})
    rows = []
    for group in groups:
        focal = [answers.endpoints[column].group == group for column in columns]
        inside, outside = sum(focal), len(focal) - sum(focal)
        scope = {"scope": f"group {group} against the rest"}
        if min(inside, outside) < MINIMUM_GROUP:
            reason = f"{inside} against {outside} endpoints: at least {MINIMUM_GROUP} on both sides are needed"
            rows.append(unknown("items with differential functioning", how, reason, inside + outside, **scope))
            continue
        table = dif_table(answers.scores[:, columns], focal)
        found = int((table["size"] == "C").sum())
        rows.append(number("items with differential functioning", found, how, inside + outside, **scope))
    return rows


def short_form_rows(answers: Answers, seed: int = 0) -> list[Row]:
    """Rows of `short_form`: the size that keeps the ranking, its error on held-out endpoints, the items' weights."""
    columns = answers.columns("primary")
    names = [answers.names[column] for column in columns]
    how = "stratified by the number of endpoints right, Neyman allocation, weighted"
    if len(columns) < FEWEST_PRIMARY:
        reason = too_few(len(columns))
        return [unknown("items", how, reason, len(answers.items), scope="short form")]
    found = short_form(answers.scores[:, columns], names, seed=seed)
    if not found.items:
        return [unknown("items", found.method, found.note, found.n, scope="short form")]
    values = {
        "items": float(len(found.items)), "agreement of ranks, Kendall tau-b": found.agreement,
        "agreement of ranks on held-out endpoints": found.held_out_agreement,
        "mean error on held-out endpoints": found.mean_error,
        "largest error on held-out endpoints": found.largest_error,
        "mean error of random forms": found.random_error,
    }
    rows = []
    for statistic, value in values.items():
        note = found.note if value is not None else found.note or "not defined here"
        estimate = Estimate(value, None, None, found.method, found.n, found.seed, note)
        rows.append(result(statistic, estimate, scope="short form"))
    for place, weight in zip(found.items, found.weights, strict=True):
        rows.append(number("weight", weight, found.method, found.n, scope=answers.items[place].item_id))
    return rows


def _known(value: Any) -> float | None:
    return None if value is None or value != value else float(value)
