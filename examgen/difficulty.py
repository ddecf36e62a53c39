"""Empirical difficulty: how many primary endpoints miss an item; never confused with the construction stratum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from examgen.ids import seed_of
from examgen.result_rows import Row, number, result, unknown
from examgen.scores import Answers
from examgen.statistics.reliability import split_panel_reliability

Array = NDArray[Any]

FEWEST_PRIMARY = 5
"""Below this many primary endpoints a count of misses says nothing about an item."""


def too_few(endpoints: int) -> str:
    """The reason given where a panel is too small."""
    return f"{endpoints} primary endpoint{'' if endpoints == 1 else 's'}: at least {FEWEST_PRIMARY} are needed"


SELECTION_NOTE = "the panel that flags an item must not be the panel whose score is then reported"


@dataclass(frozen=True)
class Thresholds:
    """Misses from which an item is flagged, and from which most of the panel misses it.

    The paper's 4 and 7 belong to 12 endpoints; another panel gets a third of its size and its majority.
    """

    flagged: int
    majority: int

    @classmethod
    def of(cls, endpoints: int) -> Thresholds:
        """Thresholds for so many primary endpoints: 4 and 7 for 12."""
        return cls(max(2, round(endpoints / 3)), endpoints // 2 + 1)

    def bins(self) -> tuple[tuple[str, int], ...]:
        """Labels of the bins and the fewest misses of each, easiest first."""
        steps = [("0", 0), (_span(1, self.flagged), 1)]
        if self.flagged < self.majority:
            steps.append((_span(self.flagged, self.majority), self.flagged))
        return (*steps, (f"{self.majority} or more", self.majority))


def _span(first: int, after: int) -> str:
    return f"{first}" if after - first == 1 else f"{first} to {after - 1}"


def misses(scores: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Misses and resolved answers of each item; `scores` (n_items, n_endpoints). A missing row is no miss."""
    seen = ~np.isnan(scores)
    return (seen & (scores == 0)).sum(axis=1), seen.sum(axis=1)


def bin_of(count: NDArray[np.int64], thresholds: Thresholds) -> Array:
    """Label of the bin of each number of misses."""
    bins = thresholds.bins()
    edges = np.array([low for _, low in bins])
    return np.array([label for label, _ in bins], dtype=object)[np.searchsorted(edges, count, side="right") - 1]


def difficulty_rows(
    answers: Answers, thresholds: Thresholds | None = None, *, easiness: tuple[Array, Array] | None = None
) -> list[Row]:
    """Rows of `item_difficulty`: misses, answers seen, miss rate, bin and queue of every item.

    `easiness` are the thetas of a transposed 2PL and their standard errors, where it could be fitted.
    With fewer than five primary endpoints bin and queue say "not estimable". An item nobody answered has no rate.
    """
    primary = answers.columns("primary")
    limit = thresholds or Thresholds.of(len(primary))
    count, seen = misses(answers.scores[:, primary])
    enough = len(primary) >= FEWEST_PRIMARY
    labels = bin_of(count, limit)
    rows = []
    for place, item in enumerate(answers.items):
        missed, answered = int(count[place]), int(seen[place])
        queue = ""
        if missed >= limit.majority:
            queue = f"missed by {limit.majority} or more"
        elif missed >= limit.flagged:
            queue = f"missed by {limit.flagged} or more"
        rows.append(
            {
                "item_id": item.item_id, "topic": item.topic, "stratum": item.stratum, "misses": missed,
                "seen": answered, "miss_rate": missed / answered if answered else None,
                "easiness": _theta(easiness, 0, place, answered), "easiness_se": _theta(easiness, 1, place, answered),
                "bin": labels[place] if enough and answered else "not estimable",
                "queue": queue if enough else "not estimable",
            }
        )
    return rows


def _theta(easiness: tuple[Array, Array] | None, part: int, place: int, answered: int) -> float | None:
    if easiness is None or not answered or not np.isfinite(easiness[part][place]):
        return None
    return float(easiness[part][place])


def panel_rows(answers: Answers, thresholds: Thresholds | None = None) -> list[Row]:
    """Rows of `reliability` on the panel's difficulty: items per queue, with and without overlap, split panels."""
    rows = []
    for scope, roles in (("primary endpoints", ("primary",)), ("with overlap", ("primary", "construction_overlap"))):
        columns = answers.columns(*roles)  # type: ignore[arg-type]
        if scope == "with overlap" and not answers.columns("construction_overlap"):
            continue
        rows += _queue_rows(answers.scores[:, columns], scope, thresholds or Thresholds.of(len(columns)))
    return rows


def _queue_rows(scores: Array, scope: str, limit: Thresholds) -> list[Row]:
    method = "misses counted over endpoints, unresolved rows left out"
    size, endpoints = scores.shape
    names = ("items flagged", "items missed by the majority", "mean misses", "split-panel reliability")
    if endpoints < FEWEST_PRIMARY:
        reason = too_few(endpoints)
        return [unknown(name, method, reason, size, scope=scope) for name in names]
    count, seen = misses(scores)
    partial = int((seen < endpoints).sum())
    note = f"{partial} items lack an answer of some endpoint" if partial else ""
    return [
        number(names[0], int((count >= limit.flagged).sum()), f"{method}; at least {limit.flagged} of {endpoints}",
               size, SELECTION_NOTE, scope=scope),
        number(names[1], int((count >= limit.majority).sum()), f"{method}; at least {limit.majority} of {endpoints}",
               size, SELECTION_NOTE, scope=scope),
        number(names[2], float(count.mean()) if size else None, method, size, note, scope=scope),
        result(names[3], split_panel_reliability(scores, seed=seed_of("split panel", size, endpoints)), scope=scope),
    ]


def leave_one_out_rows(answers: Answers, thresholds: Thresholds | None = None) -> list[Row]:
    """Rows of `leave_one_out`: how the miss counts and the flags hold up without each primary endpoint.

    The counts share all other endpoints, so every coefficient is high by construction; the flag keeps its
    absolute threshold. Coefficients are named: Spearman, Kendall tau-b, Pearson, Cohen's kappa of the flag.
    """
    primary = answers.columns("primary")
    names = [answers.names[column] for column in primary]
    scores = answers.scores[:, primary]
    statistics = ("Spearman", "Kendall tau-b", "Pearson", "kappa of the flag", "agreement of the flag")
    method = "misses of the panel against misses without this endpoint"
    if len(primary) < FEWEST_PRIMARY:
        reason = too_few(len(primary))
        return [unknown(s, method, reason, len(answers.items), endpoint_id=n) for n in names for s in statistics]
    limit = thresholds or Thresholds.of(len(primary))
    whole, _ = misses(scores)
    rows = []
    for place, name in enumerate(names):
        rest, _ = misses(np.delete(scores, place, axis=1))
        flags = whole >= limit.flagged, rest >= limit.flagged
        values = (*_correlations(whole, rest), _kappa(*flags), float((flags[0] == flags[1]).mean()))
        for statistic, value in zip(statistics, values, strict=True):
            note = "" if value is not None else "no variation between items"
            how = f"{method}; flag at {limit.flagged} misses" if "flag" in statistic else method
            rows.append(number(statistic, value, how, whole.size, note, endpoint_id=name))
    return rows


def _correlations(one: Array, two: Array) -> tuple[float | None, float | None, float | None]:
    if one.size < 2 or one.std() == 0 or two.std() == 0:
        return None, None, None
    return (
        float(stats.spearmanr(one, two).statistic), float(stats.kendalltau(one, two).statistic),
        float(np.corrcoef(one, two)[0, 1]),
    )


def _kappa(one: Array, two: Array) -> float | None:
    """Cohen's kappa of two flags; None when both are constant and equal."""
    observed = float((one == two).mean())
    expected = float(one.mean() * two.mean() + (1 - one.mean()) * (1 - two.mean()))
    return (observed - expected) / (1 - expected) if expected < 1 else None
