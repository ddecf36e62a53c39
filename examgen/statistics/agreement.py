"""Agreement of reviewers: Cohen's kappa, Fleiss' kappa, Gwet's AC1, with jackknife intervals over items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy import stats

from examgen.errors import StatisticsError
from examgen.statistics.estimate import Estimate, FloatArray, check_probability, not_estimable

Ratings = Sequence[Sequence[str | None]]
"""(n_items, n_raters): a category, None where a rater did not rate the item."""


def percent_agreement(ratings: Ratings, *, level: float = 0.95) -> Estimate:
    """Mean over items of the share of agreeing pairs of raters; items with fewer than two ratings left out."""
    return _jackknife(ratings, "percent agreement", _observed, level)


def cohen_kappa(ratings: Ratings, *, level: float = 0.95) -> Estimate:
    """Cohen's kappa of exactly two raters; items one of them did not rate are left out (Cohen 1960).

    Not estimable when both use one and the same category throughout: chance agreement is then 1.
    """
    if any(len(row) != 2 for row in ratings):
        raise StatisticsError("Cohen's kappa is for exactly two raters; use fleiss_kappa or gwet_ac1")
    categories = _categories(ratings)
    place = {name: column for column, name in enumerate(categories)}
    pairs = [(place[a], place[b]) for a, b in ratings if a is not None and b is not None]
    table = np.zeros((len(categories), len(categories)))
    for first, second in pairs:
        table[first, second] += 1
    shape = table.shape
    cells = [np.bincount([i * shape[1] + j], minlength=table.size).astype(float) for i, j in sorted(set(pairs))]
    weights = [table[i, j] for i, j in sorted(set(pairs))]
    return _jackknife_rows(cells, weights, "Cohen's kappa", partial(_cohen, shape=shape), level)


def fleiss_kappa(ratings: Ratings, *, level: float = 0.95) -> Estimate:
    """Fleiss' kappa (1971), for any number of raters an item; items with fewer than two ratings left out.

    Not estimable when all ratings fall in one category.
    """
    return _jackknife(ratings, "Fleiss' kappa", _fleiss, level)


def gwet_ac1(ratings: Ratings, *, level: float = 0.95) -> Estimate:
    """Gwet's AC1 (2008): stable where nearly everything falls in one category and kappa collapses.

    Categories are those that occur; with a single one AC1 is not defined and agreement is perfect (see note).
    """
    return _jackknife(ratings, "Gwet's AC1", _gwet, level)


def _cohen(total: FloatArray, _: float, shape: tuple[int, int]) -> float | None:
    table = total.reshape(shape) / total.sum()
    chance = float(table.sum(axis=1) @ table.sum(axis=0))
    return None if chance >= 1 - 1e-12 else (float(np.trace(table)) - chance) / (1 - chance)


def _observed(counts: FloatArray, weights: FloatArray) -> float | None:
    raters = counts.sum(axis=1)
    agree = ((counts * (counts - 1)).sum(axis=1)) / (raters * (raters - 1))
    return float(weights @ agree / weights.sum())


def _fleiss(counts: FloatArray, weights: FloatArray) -> float | None:
    share = weights @ counts / (weights @ counts).sum()
    chance = float((share**2).sum())
    agree = _observed(counts, weights)
    return None if agree is None or chance >= 1 - 1e-12 else (agree - chance) / (1 - chance)


def _gwet(counts: FloatArray, weights: FloatArray) -> float | None:
    share = weights @ (counts / counts.sum(axis=1, keepdims=True)) / weights.sum()
    if share.size < 2:
        return None
    chance = float((share * (1 - share)).sum()) / (share.size - 1)
    agree = _observed(counts, weights)
    return None if agree is None else (agree - chance) / (1 - chance)


def _jackknife(
    ratings: Ratings, name: str, coefficient: Callable[[FloatArray, FloatArray], float | None], level: float
) -> Estimate:
    """Rows of category counts, equal rows merged with their weights, so that the jackknife is cheap."""
    categories = _categories(ratings)
    place = {category: column for column, category in enumerate(categories)}
    rows = np.zeros((len(ratings), len(categories)))
    for index, given in enumerate(ratings):
        for category in given:
            if category is not None:
                rows[index, place[category]] += 1
    rows = rows[rows.sum(axis=1) >= 2]
    check_probability("level", level, open_ends=True)
    if not rows.size:
        return not_estimable(name, "no item has two ratings")
    counts, weights = np.unique(rows, axis=0, return_counts=True)

    def without(index: int | None) -> float | None:
        left = weights.astype(np.float64)
        if index is not None:
            left[index] -= 1
        return coefficient(counts[left > 0], left[left > 0]) if left.sum() else None

    return _interval(without, weights.tolist(), name, level)


def _jackknife_rows(
    cells: list[FloatArray],
    weights: list[float],
    name: str,
    coefficient: Callable[[FloatArray, float], float | None],
    level: float,
) -> Estimate:
    check_probability("level", level, open_ends=True)
    if not cells:
        return not_estimable(name, "no item rated by both")
    total = np.sum([cell * weight for cell, weight in zip(cells, weights, strict=True)], axis=0)

    def without(index: int | None) -> float | None:
        left = total if index is None else total - cells[index]
        return coefficient(left, 0.0) if left.sum() > 0 else None

    return _interval(without, weights, name, level)


def _interval(
    without: Callable[[int | None], float | None], weights: Sequence[float], name: str, level: float
) -> Estimate:
    n = round(sum(weights))
    value = without(None)
    if value is None:
        return not_estimable(name, "all ratings fall in one category: agreement is complete, chance too", n=n)
    left_out = [without(index) for index in range(len(weights))]
    known = [(x, w) for x, w in zip(left_out, weights, strict=True) if x is not None]
    if n < 3 or len(known) < len(left_out):
        return Estimate(value, None, None, name, n, None, "too few items for an interval")
    drops, w = np.array([x for x, _ in known]), np.array([weight for _, weight in known])
    centre = float(w @ drops / w.sum())
    error = float(np.sqrt((n - 1) / n * (w @ (drops - centre) ** 2)))
    if error < 1e-12:
        return Estimate(value, None, None, name, n, None, "no variation between items: no interval")
    half = float(stats.t.ppf((1 + level) / 2, n - 1)) * error
    low, high = max(-1.0, value - half), min(1.0, value + half)
    return Estimate(value, low, high, f"{name}, jackknife over items {level:.0%}", n)


def _categories(ratings: Ratings) -> list[str]:
    return sorted({category for row in ratings for category in row if category is not None})
