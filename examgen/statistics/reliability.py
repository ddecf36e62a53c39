"""Classical item analysis: KR-20, item-rest discrimination, distractors, split-panel reliability.

Here the endpoints are the respondents. A dozen endpoints are a small and hardly random sample of respondents:
what they cannot support is marked insufficient, not decorated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from examgen.errors import StatisticsError
from examgen.statistics.estimate import Estimate, FloatArray, check_probability, not_estimable, score_matrix

SUFFICIENT_RESPONDENTS = 30
"""Below this many respondents the standard error of an item's r is .18 or more: shown, not acted upon."""


def kr20(scores: ArrayLike, *, level: float = 0.95) -> Estimate:
    """KR-20 (Cronbach's alpha of right/wrong items) with Feldt's F interval.

    `scores` (n_items, n_respondents): 1, 0, nan; a respondent with a missing item is left out. n is the number of
    respondents used. Not estimable with fewer than two items or respondents, or when all totals are equal.
    Source: Kuder & Richardson 1937; Feldt 1965; equals R CTT.
    """
    check_probability("level", level, open_ends=True)
    matrix = score_matrix(scores)
    complete, dropped = _complete(matrix)
    items, n = complete.shape
    method = f"KR-20, Feldt interval {level:.0%}"
    if items < 2 or n < 2:
        return not_estimable(method, "needs two items and two complete respondents", n=n)
    total = float(complete.sum(axis=0).var(ddof=1))
    if total <= 1e-15:
        return not_estimable(method, "all respondents have the same total", n=n)
    value = items / (items - 1) * (1 - float(complete.var(axis=1, ddof=1).sum()) / total)
    tails = stats.f.ppf([(1 + level) / 2, (1 - level) / 2], n - 1, (n - 1) * (items - 1))
    low, high = (1 - (1 - value) * tail for tail in tails)
    notes = [f"{dropped} respondents with missing items left out"] if dropped else []
    if n < SUFFICIENT_RESPONDENTS:
        notes.append(f"{n} respondents: describes this panel, not a population of systems")
    return Estimate(value, float(low), float(high), method, n, None, "; ".join(notes))


def item_statistics(scores: ArrayLike, item_ids: Sequence[str] | None = None) -> pd.DataFrame:
    """A row an item: share right, item-rest correlation, alpha without it, and whether r may be acted on.

    `scores` as in `kr20`. Columns item_id, n, right (share), item_rest (correlation with the total of the other
    items, missing for a constant item or rest), item_rest_low, item_rest_high (Fisher z, 95 %), alpha_if_deleted
    (missing with fewer than three items), sufficient (at least SUFFICIENT_RESPONDENTS). Equals R CTT.
    """
    matrix = score_matrix(scores)
    ids = [str(i) for i in range(len(matrix))] if item_ids is None else [str(i) for i in item_ids]
    if len(ids) != len(matrix):
        raise StatisticsError(f"{len(ids)} item ids for {len(matrix)} items")
    complete, _ = _complete(matrix)
    items, n = complete.shape
    names = ["item_rest", "item_rest_low", "item_rest_high", "alpha_if_deleted"]
    frame = pd.DataFrame({"item_id": ids, "n": n})
    with np.errstate(invalid="ignore", divide="ignore"):
        counted = (~np.isnan(matrix)).sum(axis=1)
        frame["right"] = _nullable(np.nansum(matrix, axis=1) / counted)
        columns = _item_rest(complete) if items > 1 and n > 1 else [np.full(items, np.nan)] * 4
    for name, values in zip(names, columns, strict=True):
        frame[name] = _nullable(values)
    frame["sufficient"] = n >= SUFFICIENT_RESPONDENTS
    return frame


def distractor_functioning(
    answers: Sequence[Sequence[str | None]],
    keys: Sequence[str],
    options: Sequence[Sequence[str]],
    *,
    minimum_share: float = 0.05,
    item_ids: Sequence[str] | None = None,
) -> pd.DataFrame:
    """A row an item and option: how often chosen, and by which respondents.

    `answers` (n_items, n_respondents) letters, None where unread; `keys` and `options` per item. Columns item_id,
    option, key (bool), chosen, n, share (of readable answers, missing without any), rest_correlation (choosing it
    with the number right on the other items, missing when constant), functioning (a distractor chosen by
    `minimum_share` or more; missing for the key and without answers), sufficient. An answer that is no option of
    its item counts as unread.
    """
    ids = [str(i) for i in range(len(keys))] if item_ids is None else [str(i) for i in item_ids]
    if not len(answers) == len(keys) == len(options) == len(ids):
        raise StatisticsError("answers, keys, options and ids must speak of the same items")
    panel = len(answers[0]) if len(answers) else 0
    right = np.array([[given == key for given in row] for row, key in zip(answers, keys, strict=True)], dtype=float)
    total = right.sum(axis=0) if len(answers) else np.zeros(0)
    rows = []
    for index, (row, key, letters) in enumerate(zip(answers, keys, options, strict=True)):
        if len(row) != panel:
            raise StatisticsError(f"item {ids[index]} has {len(row)} answers for {panel} respondents")
        read = np.array([given in letters for given in row], dtype=bool)
        rest, n = (total - right[index])[read], int(read.sum())
        for letter in letters:
            picked = np.array([given == letter for given in row])[read].astype(float)
            share = float(picked.mean()) if n else None
            functioning = None if letter == key or share is None else share >= minimum_share
            rows.append((ids[index], letter, letter == key, int(picked.sum()), n, share, _r(picked, rest), functioning))
    names = ["item_id", "option", "key", "chosen", "n", "share", "rest_correlation", "functioning"]
    frame = pd.DataFrame(rows, columns=names)
    frame = frame.astype({"share": "Float64", "rest_correlation": "Float64", "functioning": "boolean"})
    frame["sufficient"] = panel >= SUFFICIENT_RESPONDENTS
    return frame


def split_panel_reliability(scores: ArrayLike, *, splits: int = 200, seed: int = 0) -> Estimate:
    """How well the difficulty of items (share of misses) is reproduced by another panel of this size.

    Mean over random halves of the panel of the correlation of miss rates, stepped up by Spearman-Brown; low and
    high are the 2.5 and 97.5 % points over splits (the choice of halves, not sampling of systems). `scores`
    (n_items, n_endpoints). n is the number of items. Needs four endpoints.
    """
    matrix = score_matrix(scores)
    method = f"split-panel reliability, Spearman-Brown, {splits} splits"
    n, panel = matrix.shape
    if panel < 4:
        return not_estimable(method, "needs four endpoints", n=n, seed=seed)
    rng, found = np.random.default_rng(seed), []
    for _ in range(splits):
        mixed = rng.permutation(panel)
        with np.errstate(invalid="ignore"):
            halves = [_miss_rates(matrix[:, part]) for part in (mixed[: panel // 2], mixed[panel // 2 :])]
        seen = ~np.isnan(halves[0]) & ~np.isnan(halves[1])
        r = _r(halves[0][seen], halves[1][seen])
        if r is not None and r > -1:
            found.append(2 * r / (1 + r))
    if not found:
        return not_estimable(method, "misses do not vary over items", n=n, seed=seed)
    low, high = np.quantile(found, [0.025, 0.975])
    return Estimate(float(np.mean(found)), float(low), float(high), method, n, seed)


def _complete(matrix: FloatArray) -> tuple[FloatArray, int]:
    """The respondents without a missing item, and how many were dropped."""
    keep = ~np.isnan(matrix).any(axis=0)
    return matrix[:, keep], int((~keep).sum())


def _item_rest(complete: FloatArray) -> list[FloatArray]:
    """r, its limits, and alpha if deleted, from covariances with the total: var(T - x) = v_T + v_x - 2 cov."""
    items, n = complete.shape
    total = complete.sum(axis=0)
    variance = complete.var(axis=1, ddof=1)
    covariance = ((complete - complete.mean(axis=1, keepdims=True)) @ (total - total.mean())) / (n - 1)
    rest = total.var(ddof=1) + variance - 2 * covariance
    tiny = (variance < 1e-12) | (rest < 1e-12)
    r = np.where(tiny, np.nan, (covariance - variance) / np.sqrt(np.where(tiny, 1.0, variance * rest)))
    low, high = np.full(items, np.nan), np.full(items, np.nan)
    if n > 3:
        z = np.arctanh(np.clip(r, -1 + 1e-12, 1 - 1e-12))
        half = stats.norm.ppf(0.975) / np.sqrt(n - 3)
        low, high = np.tanh(z - half), np.tanh(z + half)
    deleted = np.full(items, np.nan)
    if items > 2:
        k = items - 1
        spread = np.where(rest < 1e-12, np.nan, rest)
        deleted = k / (k - 1) * (1 - (variance.sum() - variance) / spread)
    return [r, low, high, deleted]


def _miss_rates(block: FloatArray) -> FloatArray:
    seen = (~np.isnan(block)).sum(axis=1)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(seen > 0, np.nansum(1 - block, axis=1) / np.maximum(seen, 1), np.nan))


def _r(one: FloatArray, two: FloatArray) -> float | None:
    if one.size < 2 or np.ptp(one) < 1e-12 or np.ptp(two) < 1e-12:
        return None
    return float(np.corrcoef(one, two)[0, 1])


def _nullable(values: FloatArray) -> pd.Series:
    return pd.Series([None if np.isnan(x) else float(x) for x in values], dtype="Float64")
