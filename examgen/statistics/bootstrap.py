"""Resampling all endpoints at once: the paper's hierarchical bootstrap, by clusters only, or items only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from examgen.errors import StatisticsError
from examgen.statistics.estimate import (
    Estimate,
    FloatArray,
    IntArray,
    check_probability,
    cluster_codes,
    not_estimable,
    score_matrix,
)

_CACHED = 50_000  # replicates x items counted at once: the counts stay in the processor's cache
_CELLS = 6_000_000  # replicates x items multiplied at once: 24 MB


@dataclass(frozen=True)
class Replicates:
    """Bootstrap accuracies of all endpoints on the same draws.

    `values` (replicates, n_endpoints), nan where a draw held no scored item of an endpoint; `observed` the
    accuracies of the data, (n_endpoints,), nan without any; `n` scored items per endpoint. Because the draws are
    joint, differences and ranks of endpoints may be taken within a row.
    """

    values: FloatArray
    observed: FloatArray
    n: IntArray
    method: str
    seed: int
    note: str = ""

    def interval(self, endpoint: int, *, level: float = 0.95) -> Estimate:
        """Percentile interval of one endpoint's accuracy (its column number)."""
        return self._percentiles(self.observed[endpoint], self.values[:, endpoint], int(self.n[endpoint]), level)

    def difference(self, first: int, second: int, *, level: float = 0.95) -> Estimate:
        """Percentile interval of the accuracy of `first` minus that of `second`, on joint draws."""
        return self._percentiles(
            self.observed[first] - self.observed[second],
            self.values[:, first] - self.values[:, second],
            int(min(self.n[first], self.n[second])),
            level,
        )

    def _percentiles(self, observed: float, values: FloatArray, n: int, level: float) -> Estimate:
        check_probability("level", level, open_ends=True)
        method = f"{self.method}, percentile {level:.0%}"
        if np.isnan(observed):
            return not_estimable(method, "no scored item", n=n, seed=self.seed)
        usable = values[~np.isnan(values)]
        if self.note or usable.size < 2:
            note = self.note or "the draws hold no scored item"
            return Estimate(float(observed), None, None, method, n, self.seed, note)
        if usable.max() - usable.min() < 1e-12:
            note = "every draw gives the same value: resampling shows no uncertainty here"
            return Estimate(float(observed), None, None, method, n, self.seed, note)
        low, high = np.quantile(usable, [(1 - level) / 2, (1 + level) / 2])
        return Estimate(float(observed), float(low), float(high), method, n, self.seed)


def hierarchical_bootstrap(
    scores: ArrayLike, batches: ArrayLike, *, replicates: int = 4000, seed: int = 0
) -> Replicates:
    """The MS-Exam-Gen bootstrap: draw K of the K batches with replacement, then items within each drawn batch.

    `scores` (n_items, n_endpoints) or (n_items,): 1, 0, nan; `batches` a label an item. A batch drawn w times
    gives w n_k items drawn from its n_k; the accuracy is the mean over all drawn items (random denominator).
    It counts the item noise twice, which happens to repair the undercoverage of few clusters; the project's
    default interval is `clustered_t`. One batch: values, but no interval. Same seed, same draws, whatever the
    number of endpoints.
    """
    matrix, codes = score_matrix(scores, allow_vector=True), cluster_codes(batches, len(np.asarray(scores)))
    rng = _generator(replicates, seed)
    groups = int(codes.max()) + 1 if codes.size else 0
    right, seen = _empty_sums(matrix, replicates)
    times = _cluster_draws(rng, groups, replicates)
    for group in range(groups):
        _add_draws(rng, matrix[codes == group], times[:, group], right, seen)
    note = "one batch: no variation between batches to resample" if groups < 2 else ""
    method = f"hierarchical bootstrap, {replicates} replicates over {groups} batches then items"
    return _replicates(matrix, right, seen, method, seed, note)


def cluster_bootstrap(scores: ArrayLike, clusters: ArrayLike, *, replicates: int = 4000, seed: int = 0) -> Replicates:
    """Draw clusters with replacement and keep their items as they are. Arguments as `hierarchical_bootstrap`."""
    matrix, codes = score_matrix(scores, allow_vector=True), cluster_codes(clusters, len(np.asarray(scores)))
    rng = _generator(replicates, seed)
    groups = int(codes.max()) + 1 if codes.size else 0
    member = np.zeros((groups, codes.size))
    member[codes, np.arange(codes.size)] = 1.0
    times = _cluster_draws(rng, groups, replicates)
    right = times @ (member @ np.nan_to_num(matrix))
    seen = times @ (member @ (~np.isnan(matrix)).astype(np.float64))
    note = "one cluster: nothing to resample" if groups < 2 else ""
    method = f"cluster bootstrap, {replicates} replicates over {groups} clusters"
    return _replicates(matrix, right, seen, method, seed, note)


def item_bootstrap(scores: ArrayLike, *, replicates: int = 4000, seed: int = 0) -> Replicates:
    """Draw items as if independent: valid for these items only, and far too narrow for new topics."""
    matrix = score_matrix(scores, allow_vector=True)
    rng = _generator(replicates, seed)
    right, seen = _empty_sums(matrix, replicates)
    if matrix.shape[0]:
        _add_draws(rng, matrix, np.ones(replicates, dtype=np.int64), right, seen)
    return _replicates(matrix, right, seen, f"item bootstrap, {replicates} replicates", seed, "")


def _cluster_draws(rng: np.random.Generator, groups: int, replicates: int) -> IntArray:
    """How often each cluster is drawn in each replicate, (replicates, groups); rows sum to `groups`."""
    if groups == 0:
        return np.zeros((replicates, 0), dtype=np.int64)
    return rng.multinomial(groups, np.full(groups, 1 / groups), size=replicates)


def _add_draws(
    rng: np.random.Generator, block: FloatArray, times: IntArray, right: FloatArray, seen: FloatArray
) -> None:
    """Draw times[r] x n items of one block in replicate r and add their sums: counts, then one product."""
    size = block.shape[0]
    missing = np.isnan(block)
    known = np.nan_to_num(block).astype(np.float32)
    present = (~missing).astype(np.float32) if missing.any() else None
    step, inner = max(1, _CELLS // size), max(1, _CACHED // size)
    for start in range(0, times.size, step):
        rows = slice(start, min(start + step, times.size))
        part = times[rows]
        weights = np.empty((part.size, size), dtype=np.float32)
        for row in range(0, part.size, inner):
            weights[row : row + inner] = _draw_counts(rng, part[row : row + inner], size)
        right[rows] += weights @ known
        seen[rows] += (part * size)[:, None] if present is None else weights @ present


def _draw_counts(rng: np.random.Generator, times: IntArray, size: int) -> IntArray:
    """How often each of `size` items is drawn when replicate r draws times[r] x size of them."""
    narrow = np.uint16 if size <= 65_535 else np.int64
    drawn = rng.integers(0, size, size=int(times.sum()) * size, dtype=narrow)
    cell = np.repeat(np.arange(times.size) * size, times * size)
    cell += drawn
    return np.bincount(cell, minlength=times.size * size).reshape(times.size, size)


def _empty_sums(matrix: FloatArray, replicates: int) -> tuple[FloatArray, FloatArray]:
    shape = (replicates, matrix.shape[1])
    return np.zeros(shape), np.zeros(shape)


def _generator(replicates: int, seed: int) -> np.random.Generator:
    if replicates < 1:
        raise StatisticsError(f"replicates must be at least 1, not {replicates}")
    return np.random.default_rng(seed)


def _replicates(
    matrix: FloatArray, right: FloatArray, seen: FloatArray, method: str, seed: int, note: str
) -> Replicates:
    n = (~np.isnan(matrix)).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = np.nansum(matrix, axis=0) / n
        values = right / seen
    return Replicates(values, observed, n.astype(np.int64), method, seed, note)
