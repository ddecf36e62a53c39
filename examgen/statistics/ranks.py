"""Ranks of endpoints with their uncertainty, and rank correlations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from examgen.errors import StatisticsError
from examgen.statistics.bootstrap import Replicates
from examgen.statistics.estimate import Estimate, check_probability, not_estimable


def rank_intervals(replicates: Replicates, endpoints: Sequence[str], *, level: float = 0.95) -> pd.DataFrame:
    """Rank of each endpoint (1 is best), its percentile interval and its chance of being first.

    Columns endpoint, rank, low, high, first, method, n, seed, note. Ties share the better rank; in the draws
    the low limit takes the better and the high limit the worse rank of a tie, so ties widen. An endpoint
    without a scored item has no rank. `first` splits ties evenly.
    """
    check_probability("level", level, open_ends=True)
    if len(endpoints) != replicates.observed.size:
        raise StatisticsError(f"{len(endpoints)} names for {replicates.observed.size} endpoints")
    known = np.flatnonzero(~np.isnan(replicates.observed))
    draws = replicates.values[:, known]
    draws = draws[~np.isnan(draws).any(axis=1)]
    shaky = bool(replicates.note) or draws.shape[0] < 2 or not known.size
    rows: list[dict[str, object]] = []
    observed = stats.rankdata(-replicates.observed[known], method="min")
    if not shaky:
        best, worst = (stats.rankdata(-draws, method=tie, axis=1) for tie in ("min", "max"))
        top = draws == draws.max(axis=1, keepdims=True)
        first = (top / top.sum(axis=1, keepdims=True)).mean(axis=0)
    for column, name in enumerate(endpoints):
        row: dict[str, object] = {"endpoint": name, "rank": None, "low": None, "high": None, "first": None}
        where = np.flatnonzero(known == column)
        if where.size:
            place = int(where[0])
            row["rank"] = int(observed[place])
            if not shaky:
                row["low"] = int(np.quantile(best[:, place], (1 - level) / 2, method="lower"))
                row["high"] = int(np.quantile(worst[:, place], (1 + level) / 2, method="higher"))
                row["first"] = float(first[place])
        note = replicates.note if where.size else "no scored item"
        row |= {"method": f"ranks, {replicates.method}, percentile {level:.0%}"}
        rows.append(row | {"n": int(replicates.n[column]), "seed": replicates.seed, "note": note})
    whole = {"rank": "Int64", "low": "Int64", "high": "Int64", "first": "Float64"}
    return pd.DataFrame(rows).astype(whole) if rows else pd.DataFrame(rows)


def rank_correlation(
    first: ArrayLike, second: ArrayLike, *, coefficient: Literal["spearman", "kendall"] = "spearman"
) -> Estimate:
    """Rank correlation of two vectors, pairs with nan left out; the coefficient is named in `method`.

    Interval: Fisher z with Fieller's standard error (sqrt(1.06/(n-3)) for Spearman, sqrt(.437/(n-4)) for
    Kendall), 95 %; none with fewer than five pairs or at a coefficient of 1. Constant input: not estimable.
    """
    one, two = (np.asarray(values, dtype=np.float64).ravel() for values in (first, second))
    if one.shape != two.shape:
        raise StatisticsError(f"vectors of {one.size} and {two.size} values cannot be correlated")
    seen = ~(np.isnan(one) | np.isnan(two))
    one, two = one[seen], two[seen]
    name = {"spearman": "Spearman rank correlation", "kendall": "Kendall tau-b"}[coefficient]
    if one.size < 2 or np.ptp(one) == 0 or np.ptp(two) == 0:
        return not_estimable(name, "needs two values that differ on both sides", n=int(one.size))
    result = stats.spearmanr(one, two) if coefficient == "spearman" else stats.kendalltau(one, two)
    value = float(np.clip(result.statistic, -1.0, 1.0))
    if one.size < 5 or abs(value) > 1 - 1e-12:
        note = "no interval with fewer than five pairs" if one.size < 5 else "no interval at the limit"
        return Estimate(value, None, None, name, int(one.size), None, note)
    error = np.sqrt(1.06 / (one.size - 3)) if coefficient == "spearman" else np.sqrt(0.437 / (one.size - 4))
    low, high = np.tanh(np.arctanh(value) + np.array([-1, 1]) * stats.norm.ppf(0.975) * error)
    return Estimate(value, float(low), float(high), f"{name}, Fisher z 95%", int(one.size))
