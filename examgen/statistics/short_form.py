"""A short form: the fewest items that keep the ranking, with the error it makes on endpoints it never saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from examgen.errors import StatisticsError
from examgen.statistics.estimate import FloatArray, IntArray, score_matrix

_HELD_OUT = ["endpoint", "full", "short", "mean_error", "largest_error", "rank_full", "rank_short"]


@dataclass(frozen=True)
class ShortForm:
    """The chosen items, their weights, and what they can be trusted with.

    `items`: row numbers; `weights`: one an item, summing to 1 (a short score is the weighted mean); both empty when not
    estimable. `agreement`: Kendall tau-b of the short with the full scores of the endpoints it was chosen on.
    `held_out`: a row an endpoint, predicted by forms chosen without it: endpoint, full, short (mean over draws),
    mean_error, largest_error (absolute, over draws), rank_full, rank_short. `mean_error`, `largest_error`: over all of
    them; `held_out_agreement`: tau of the held-out short scores with the full ones. `random_error`: mean absolute
    error of plain random forms of that size, the yardstick. None when not estimable (`note`).
    """

    items: tuple[int, ...]
    weights: tuple[float, ...]
    agreement: float | None
    held_out: pd.DataFrame
    held_out_agreement: float | None
    mean_error: float | None
    largest_error: float | None
    random_error: float | None
    n: int
    seed: int
    method: str
    note: str = ""


def short_form(
    scores: ArrayLike,
    endpoints: Sequence[str],
    *,
    agreement: float = 0.9,
    largest: int = 1000,
    draws: int = 30,
    seed: int = 0,
) -> ShortForm:
    """Fewest items whose weighted score keeps the ranking: median Kendall tau over `draws` forms >= `agreement`.

    `scores` (n_items, n_endpoints) of 1, 0, nan; items missing for an endpoint are not eligible. Items are
    stratified by how many endpoints get them right, allocated by Neyman's rule (few from strata where all
    agree), drawn at random within, and weighted by stratum size. The size, up to `largest`, is found to
    about 4 %. Needs five endpoints
    whose scores are not all equal. (Choosing items greedily to match the scores looks better on the endpoints
    it has seen and does worse than random forms on the next one.)
    """
    matrix = score_matrix(scores)
    method = f"stratified short form, median Kendall tau >= {agreement:g} over {draws} draws"
    if len(endpoints) != matrix.shape[1]:
        raise StatisticsError(f"{len(endpoints)} names for {matrix.shape[1]} endpoints")
    if not -1 <= agreement <= 1 or largest < 1 or draws < 1:
        raise StatisticsError("agreement lies in [-1, 1]; largest and draws are at least 1")
    eligible = np.flatnonzero(~np.isnan(matrix).any(axis=1))
    block = matrix[eligible]
    n, panel = block.shape
    full = block.mean(axis=0) if n else np.zeros(panel)
    if panel < 5 or n < 2 or np.ptp(full) == 0:
        return _nothing(n, seed, method, "needs five endpoints with different scores, and two complete items")
    found = _smallest(block, full, agreement, min(largest, n), draws, seed)
    if found is None:
        return _nothing(n, seed, method, f"no form of {min(largest, n)} items or fewer reaches the agreement")
    rows, weights, tau = found
    table, held_tau = _held_out(block, endpoints, rows.size, draws, seed)
    rng = np.random.default_rng([seed, 2])
    plain = np.array([block[rng.choice(n, rows.size, replace=False)].mean(axis=0) for _ in range(draws)])
    return ShortForm(
        tuple(int(i) for i in eligible[rows]), tuple(float(w) for w in weights), tau, table, held_tau,
        float(table["mean_error"].mean()), float(table["largest_error"].max()),
        float(np.abs(plain - full).mean()), n, seed, method,
    )  # fmt: skip


def _smallest(
    block: FloatArray, full: FloatArray, agreement: float, largest: int, draws: int, seed: int
) -> tuple[IntArray, FloatArray, float] | None:
    """The first draw that reaches the agreement, at the smallest size where the median draw does."""
    strata = _strata(block)

    def attempt(size: int) -> tuple[IntArray, FloatArray, float] | None:
        rng, share = np.random.default_rng([seed, 0, size]), _allocation(strata, size)
        forms = [_draw(strata, share, rng) for _ in range(draws)]
        taus = [_tau(weights @ block[rows], full) for rows, weights in forms]
        if np.median(taus) < agreement - 1e-12:
            return None
        best = next(i for i, tau in enumerate(taus) if tau >= agreement - 1e-12)
        return *forms[best], taus[best]

    failed, size = 0, min(int(strata.max()) + 1, largest)
    found = attempt(size)
    while found is None and size < largest:
        failed, size = size, min(largest, max(size + 1, round(size * 1.3)))
        found = attempt(size)
    while found is not None and size - failed > max(1, size // 25):  # refine to about 4 %
        middle = (failed + size) // 2
        smaller = attempt(middle) if middle > 0 else None
        if smaller is None:
            failed = middle
        else:
            found, size = smaller, middle
    return found


def _strata(block: FloatArray, most: int = 15) -> IntArray:
    """Number the strata of items by share right: each count its own stratum up to `most`, then bins."""
    panel = block.shape[1]
    right = np.rint(block.sum(axis=1)).astype(np.int64)
    if panel >= most:
        inner = 1 + (right - 1) * (most - 2) // (panel - 1)
        right = np.where(right == 0, 0, np.where(right == panel, most - 1, inner))
    _, dense = np.unique(right, return_inverse=True)
    return dense.astype(np.int64)


def _allocation(strata: IntArray, size: int) -> IntArray:
    """Neyman's allocation: items from each stratum, at least one, at most all, `size` in total where possible."""
    counts = np.bincount(strata)
    ease = (np.arange(counts.size) + 0.5) / counts.size
    want = counts * np.sqrt(ease * (1 - ease))
    low, high = 0.0, 2.0 * size / float(want.min())
    for _ in range(60):  # the common factor at which the clipped shares fill the form
        middle = (low + high) / 2
        if np.clip(middle * want, 1, counts).sum() < size:
            low = middle
        else:
            high = middle
    exact = np.clip(low * want, 1, counts)
    share: IntArray = np.floor(exact + 1e-9).astype(np.int64)
    for stratum in np.argsort(-(exact - share), kind="stable")[: max(0, size - int(share.sum()))]:
        share[stratum] += int(share[stratum] < counts[stratum])
    return share


def _draw(strata: IntArray, share: IntArray, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Rows and weights of one form: `share` items at random from each stratum, weighted by its size."""
    order = np.argsort(strata + rng.random(strata.size))
    counts = np.bincount(strata)
    starts = np.cumsum(counts) - counts
    place = np.arange(strata.size) - np.repeat(starts, counts)
    taken = place < np.repeat(share, counts)
    rows = order[taken]
    return rows, (counts / share / strata.size)[strata[rows]]


def _tau(short: FloatArray, full: FloatArray) -> float:
    return float(stats.kendalltau(short, full).statistic) if np.ptp(short) > 1e-12 else -1.0


def _held_out(
    block: FloatArray, endpoints: Sequence[str], size: int, draws: int, seed: int
) -> tuple[pd.DataFrame, float]:
    """Each endpoint predicted by `draws` forms chosen without it; tau of the mean predictions."""
    full, rows, predicted = block.mean(axis=0), [], []
    for column, name in enumerate(endpoints):
        rng = np.random.default_rng([seed, 1, column])
        strata = _strata(np.delete(block, column, axis=1))
        share, ranks, values = _allocation(strata, size), [], []
        for _ in range(draws):
            chosen, weights = _draw(strata, share, rng)
            short = weights @ block[chosen]
            values.append(short[column])
            ranks.append(int((np.delete(short, column) > short[column]).sum()) + 1)
        errors = np.abs(np.array(values) - full[column])
        predicted.append(float(values[0]))
        rank = int((full > full[column]).sum()) + 1
        mean = float(np.mean(values))
        rows.append((name, full[column], mean, errors.mean(), errors.max(), rank, float(np.mean(ranks))))
    return pd.DataFrame(rows, columns=_HELD_OUT), _tau(np.array(predicted), full)


def _nothing(n: int, seed: int, method: str, note: str) -> ShortForm:
    return ShortForm((), (), None, pd.DataFrame(columns=_HELD_OUT), None, None, None, None, n, seed, method, note)
