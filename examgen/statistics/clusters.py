"""Items nested in topics: clustered standard errors, t intervals, sign-flip test, design effects."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from examgen.errors import StatisticsError
from examgen.statistics.estimate import (
    Estimate,
    FloatArray,
    IntArray,
    check_probability,
    cluster_codes,
    not_estimable,
)
from examgen.statistics.intervals import tango, wilson_mean


def clustered_se(values: ArrayLike, clusters: ArrayLike) -> float | None:
    """Standard error of a mean over items in clusters: sqrt(sum_g (sum_i (x_ig - mean))^2) / n.

    `values` (n_items,), nan left out; `clusters` a label each. None with no item. This is Miller 2024,
    appendix A (statsmodels OLS with cluster covariance, no correction); it carries no small-sample factor.
    """
    seen, codes = _observed(values, clusters)
    if seen.size == 0:
        return None
    sums = np.bincount(codes, weights=seen - seen.mean())
    return float(np.sqrt((sums**2).sum()) / seen.size)


def clustered_t(values: ArrayLike, clusters: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean with a t interval on G - 1 degrees of freedom, G clusters: the default interval of the project.

    SE as in `clustered_se` times sqrt(G/(G-1)). `values` may be scores (an accuracy) or paired differences
    (a gain). The population meant: more topics like these, not only these items. Undefined with G < 2.
    Limits are cut to [-1, 1], to [0, 1] when no value is negative.
    """
    check_probability("level", level, open_ends=True)
    seen, codes = _observed(values, clusters)
    method = f"clustered t interval (G-1 df), {level:.0%}"
    if seen.size == 0:
        return not_estimable(method, "no item observed")
    mean, groups = float(seen.mean()), int(codes.max()) + 1
    if groups < 2:
        note = "one cluster: its variation between clusters cannot be estimated"
        return Estimate(mean, None, None, method, int(seen.size), None, note)
    sums = np.bincount(codes, weights=seen - mean)
    error = math.sqrt(float((sums**2).sum()) * groups / (groups - 1)) / seen.size
    if error < 1e-12:
        return _without_variation(seen, groups, level)
    half = float(stats.t.ppf(0.5 + level / 2, groups - 1)) * error
    bottom = -1.0 if seen.min() < 0 else 0.0
    return Estimate(
        mean, max(bottom, mean - half), min(1.0, mean + half), method, int(seen.size), None, f"{groups} clusters"
    )


def _without_variation(seen: FloatArray, groups: int, level: float) -> Estimate:
    """The interval of independent items, for clusters that do not differ: a design effect of 1 is the least assumed."""
    whole = bool(np.isin(seen, (-1.0, 0.0, 1.0)).all())
    if seen.min() >= 0:
        found = wilson_mean(float(seen.mean()), int(seen.size), level=level)
    elif whole:
        found = tango(int((seen == 1).sum()), int((seen == -1).sum()), int(seen.size), level=level)
    else:
        found = item_t(seen, level=level)
    note = f"{groups} clusters with equal means: items taken as independent"
    return Estimate(found.value, found.low, found.high, f"{found.method}, no variation between clusters", found.n,
                    None, f"{note}; {found.note}".removesuffix("; "))


def item_t(values: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Mean of independent items with a t interval on n - 1 degrees of freedom, for values that are not 0 or 1.

    Limits are cut as in `clustered_t`. No interval with fewer than two items or without variation.
    """
    check_probability("level", level, open_ends=True)
    seen = np.asarray(values, dtype=np.float64).ravel()
    seen = seen[~np.isnan(seen)]
    method = f"t interval over items, {level:.0%}"
    if not seen.size:
        return not_estimable(method, "no item observed")
    mean, n = float(seen.mean()), int(seen.size)
    spread = float(seen.std(ddof=1)) if n > 1 else 0.0
    if spread < 1e-12:
        return Estimate(mean, None, None, method, n, None, "no variation between items: no interval")
    half = float(stats.t.ppf(0.5 + level / 2, n - 1)) * spread / math.sqrt(n)
    bottom = -1.0 if seen.min() < 0 else 0.0
    return Estimate(mean, max(bottom, mean - half), min(1.0, mean + half), method, n)


def clustered_p(differences: ArrayLike, clusters: ArrayLike) -> float | None:
    """Two-sided P of the clustered t test that the mean paired difference is 0; None with G < 2.

    No variation between cluster sums: P is 1 when the mean is 0, otherwise not defined (None).
    """
    seen, codes = _observed(differences, clusters)
    if seen.size == 0:
        return None
    groups = int(codes.max()) + 1
    if groups < 2:
        return None
    mean = float(seen.mean())
    spread = float((np.bincount(codes, weights=seen - mean) ** 2).sum())
    error = math.sqrt(spread * groups / (groups - 1)) / seen.size
    if error < 1e-15:
        return 1.0 if abs(mean) < 1e-15 else None
    return float(2 * stats.t.sf(abs(mean) / error, groups - 1))


def sign_flip_p(differences: ArrayLike, clusters: ArrayLike) -> float:
    """Exact two-sided P of the cluster sign-flip test: each cluster's net difference is as likely negative.

    `differences` (n_items,) of -1, 0, 1, nan left out. The distribution of the total over all 2^G sign
    patterns comes by convolution, O(G x total), without simulation. With G clusters P is at least 2/2^G
    (five never reach .05). 1 when every cluster nets 0.
    """
    seen, codes = _observed(differences, clusters)
    if seen.size == 0:
        return 1.0
    sums = np.bincount(codes, weights=seen)
    whole = np.rint(sums).astype(np.int64)
    if np.abs(sums - whole).max() > 1e-9:
        raise StatisticsError("the exact sign-flip test needs whole differences (-1, 0, 1)")
    steps = np.abs(whole[whole != 0])
    if steps.size == 0:
        return 1.0
    total = int(steps.sum())
    chance = np.zeros(2 * total + 1)
    chance[total] = 1.0
    for step in steps:
        up, down = np.zeros_like(chance), np.zeros_like(chance)
        up[step:], down[:-step] = chance[:-step], chance[step:]
        chance = 0.5 * (up + down)
    reach = abs(int(whole.sum()))
    if reach == 0:
        return 1.0
    return float(min(1.0, 2.0 * chance[total + reach :].sum()))


def design_effect(sizes: Sequence[int] | IntArray, icc: float) -> float:
    """1 + (sum m^2 / sum m - 1) icc for clusters of `sizes` items and an intraclass correlation.

    Below 1 it is set to 1: nobody plans on a negative correlation.
    """
    counts = np.asarray(sizes, dtype=np.float64)
    if counts.size == 0 or counts.min() < 0 or counts.sum() == 0:
        raise StatisticsError("cluster sizes are positive counts")
    if not -1.0 <= icc <= 1.0:
        raise StatisticsError(f"an intraclass correlation lies between -1 and 1, not {icc}")
    return float(max(1.0, 1.0 + ((counts**2).sum() / counts.sum() - 1.0) * icc))


def intraclass_correlation(values: ArrayLike, clusters: ArrayLike) -> Estimate:
    """One-way ANOVA intraclass correlation of item values within clusters; may be negative.

    n is the number of items, the note holds the number of clusters. Not estimable with one cluster, with
    one item a cluster, or without variation.
    """
    seen, codes = _observed(values, clusters)
    method = "intraclass correlation, one-way ANOVA"
    sizes = np.bincount(codes).astype(np.float64) if codes.size else np.zeros(0)
    groups, n = sizes.size, float(seen.size)
    if groups < 2 or n <= groups:
        return not_estimable(method, "needs two clusters, and one with two items", n=int(n))
    means = np.bincount(codes, weights=seen) / sizes
    between = float((sizes * (means - seen.mean()) ** 2).sum()) / (groups - 1)
    within = float(((seen - means[codes]) ** 2).sum()) / (n - groups)
    typical = (n - float((sizes**2).sum()) / n) / (groups - 1)
    spread = between + (typical - 1.0) * within
    if spread <= 0:
        return not_estimable(method, "all values are equal", n=int(n))
    return Estimate((between - within) / spread, None, None, method, int(n), None, f"{groups} clusters")


def observed_design_effect(values: ArrayLike, clusters: ArrayLike) -> Estimate:
    """Clustered variance of the mean over the variance of n independent items.

    Both with their small-sample factor. For paired differences it is often near 1 where a single
    endpoint's is large: topics are hard for both.
    """
    seen, codes = _observed(values, clusters)
    method = "design effect: clustered over independent variance"
    groups = int(codes.max()) + 1 if codes.size else 0
    if groups < 2:
        return not_estimable(method, "needs two clusters", n=int(seen.size))
    independent = float(seen.var(ddof=1)) / seen.size if seen.size > 1 else 0.0
    if independent <= 0:
        return not_estimable(method, "all values are equal", n=int(seen.size))
    sums = np.bincount(codes, weights=seen - seen.mean())
    clustered = float((sums**2).sum()) * groups / (groups - 1) / seen.size**2
    return Estimate(clustered / independent, None, None, method, int(seen.size), None, f"{groups} clusters")


def _observed(values: ArrayLike, clusters: ArrayLike) -> tuple[FloatArray, IntArray]:
    """The values that are not missing, and their clusters renumbered without gaps."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise StatisticsError(f"values must be one number an item, not of shape {numbers.shape}")
    codes = cluster_codes(clusters, numbers.size)
    keep = ~np.isnan(numbers)
    _, dense = np.unique(codes[keep], return_inverse=True)
    return numbers[keep], dense.astype(np.int64)
