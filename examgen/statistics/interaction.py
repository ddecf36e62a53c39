"""Whether a paired gain differs between strata, tiers or any other partition of the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from examgen.errors import StatisticsError
from examgen.statistics.estimate import IntArray, score_matrix
from examgen.statistics.intervals import tango
from examgen.statistics.mcnemar import mcnemar_p

Table = tuple[int, int, int]
"""b (first arm only right), c (second only), n (items) of one stratum."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """Test that the gain is the same in all strata.

    `statistic` is z (signed, first minus second stratum) for two strata and a chi-square on `df` degrees of
    freedom for more; `p` is None where the normal test is undefined (`note` says why). `difference` is the
    difference of the two gains with its interval, None for more than two strata. `p_permutation` comes from
    permuting the strata among the items with the tables' totals fixed; None when not asked for.
    """

    statistic: float | None
    df: int
    p: float | None
    difference: float | None
    low: float | None
    high: float | None
    p_permutation: float | None
    method: str
    n: int
    seed: int | None = None
    note: str = ""


def interaction_test(
    tables: Sequence[Table], *, level: float = 0.95, permutations: int = 0, seed: int = 0
) -> Interaction:
    """Normal test of equal paired gains over independent strata; with two, z of the difference of gains.

    The variance of a gain is ((b + c) - (b - c)^2/n) / n^2. With more strata the inverse-variance weighted
    chi-square on k - 1 degrees of freedom. Small tables make the normal test rough: ask for permutations.
    """
    counts = _check_tables(tables)
    b, c, n = counts.T
    gains = (b - c) / n
    variances = ((b + c) - (b - c) ** 2 / n) / n.astype(np.float64) ** 2
    total, two = int(n.sum()), len(counts) == 2
    method = "z test of the difference of two paired gains" if two else "chi-square test of equal paired gains"
    statistic = _statistic(gains[None, :], variances[None, :])[0]
    simulated = _permuted_p(counts, permutations, seed) if permutations else None
    chosen_seed = seed if permutations else None
    difference = float(gains[0] - gains[1]) if two else None
    if np.isnan(statistic):
        note = "some stratum's gain has no variance: the normal test is undefined"
        return Interaction(
            None, len(counts) - 1, None, difference, None, None, simulated, method, total, chosen_seed, note
        )
    p = float(2 * stats.norm.sf(abs(statistic)) if two else stats.chi2.sf(statistic, len(counts) - 1))
    low = high = None
    if difference is not None:
        half = float(stats.norm.ppf(0.5 + level / 2) * np.sqrt(variances.sum()))
        low, high = difference - half, difference + half
    return Interaction(
        float(statistic), len(counts) - 1, p, difference, low, high, simulated, method, total, chosen_seed
    )


def compare_strata(
    first: ArrayLike,
    second: ArrayLike,
    strata: ArrayLike,
    *,
    level: float = 0.95,
    permutations: int = 0,
    seed: int = 0,
) -> tuple[pd.DataFrame, Interaction | None]:
    """A pair of arms stratum by stratum, and the interaction test (None with fewer than two strata).

    Vectors (n_items,): scores of both arms and a stratum label each; items missing in one arm are left out.
    Columns: stratum, n, first_right, second_right, first_only, second_only, gain, gain_low, gain_high (Tango),
    p_exact. Strata without an item are absent.
    """
    scores = score_matrix(np.column_stack([np.asarray(first, float), np.asarray(second, float)]))
    labels = np.asarray(strata).astype(str)
    if labels.shape != (scores.shape[0],):
        raise StatisticsError("strata must hold one label an item")
    seen = ~np.isnan(scores).any(axis=1)
    rows, tables = [], []
    for label in sorted(set(labels[seen])):
        one, two = scores[seen & (labels == label)].T
        b, c, n = int(((one == 1) & (two == 0)).sum()), int(((one == 0) & (two == 1)).sum()), one.size
        gain = tango(b, c, n, level=level)
        rows.append((label, n, int(one.sum()), int(two.sum()), b, c, gain.value, gain.low, gain.high, mcnemar_p(b, c)))
        tables.append((b, c, n))
    names = "stratum n first_right second_right first_only second_only gain gain_low gain_high p_exact"
    frame = pd.DataFrame(rows, columns=names.split())
    if len(tables) < 2:
        return frame, None
    return frame, interaction_test(tables, level=level, permutations=permutations, seed=seed)


def _check_tables(tables: Sequence[Table]) -> IntArray:
    counts = np.asarray(tables, dtype=np.int64)
    if counts.ndim != 2 or counts.shape[1] != 3 or len(counts) < 2:
        raise StatisticsError("an interaction needs two strata or more, each (b, c, n)")
    if counts.min() < 0 or (counts[:, 0] + counts[:, 1] > counts[:, 2]).any() or (counts[:, 2] == 0).any():
        raise StatisticsError("in each stratum b + c is at most n, and n at least 1")
    return counts


def _statistic(gains: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """z for two strata, chi-square for more; one row a table; nan where undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if gains.shape[1] == 2:
            return np.asarray((gains[:, 0] - gains[:, 1]) / np.sqrt(variances.sum(axis=1)))
        weights = 1.0 / variances
        centre = (weights * gains).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
        return np.asarray((weights * (gains - centre) ** 2).sum(axis=1))


def _permuted_p(counts: IntArray, permutations: int, seed: int) -> float:
    """Share of random assignments of items to strata at least as far apart; the observed one counts.

    Distance: the variance-weighted spread of gains about the common gain, with the pooled variance of an
    item's difference, so that it is defined for every table.
    """
    rng = np.random.default_rng(seed)
    sizes = counts[:, 2].astype(np.float64)
    wins, losses = int(counts[:, 0].sum()), int(counts[:, 1].sum())
    left = np.tile([wins, losses, int(sizes.sum()) - wins - losses], (permutations, 1))
    gains = np.empty((permutations, len(counts)))
    for stratum, size in enumerate(counts[:, 2]):
        # a stratum is a draw without replacement from what is left: first its wins, then its losses among the rest
        won = rng.hypergeometric(left[:, 0], left[:, 1] + left[:, 2], size)
        lost = rng.hypergeometric(left[:, 1], left[:, 2], size - won)
        gains[:, stratum] = (won - lost) / size
        left = left - np.column_stack([won, lost, size - won - lost])
    common = (wins - losses) / sizes.sum()
    observed = (counts[:, 0] - counts[:, 1]) / sizes
    reach = float((sizes * (observed - common) ** 2).sum())
    spread = (sizes * (gains - common) ** 2).sum(axis=1)
    return float((1 + (spread >= reach * (1 - 1e-12)).sum()) / (permutations + 1))
