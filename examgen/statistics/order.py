"""Option order: does an endpoint answer the content or the position?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from examgen.errors import StatisticsError
from examgen.statistics.estimate import FloatArray, IntArray

MISSING = -1
"""How an answer that could not be read is written in an array of answers."""


@dataclass(frozen=True, slots=True)
class OrderTest:
    """A test over option orders. `statistic` and `p` are None where the test is not defined (`note`).

    `n` is the number of items that entered; `df` is None for permutation tests.
    """

    statistic: float | None
    df: int | None
    p: float | None
    method: str
    n: int
    seed: int | None = None
    note: str = ""


def cochran_q(correct: ArrayLike) -> OrderTest:
    """Cochran's Q: is an item equally often right wherever the key stands?

    `correct` (n_items, k): 1, 0, nan, columns by position of the key (each cyclic order puts it elsewhere). An item
    with a missing cell is dropped. No item changes: P = 1. Equals statsmodels `cochrans_q`. Items with other
    numbers of options are tested apart.
    """
    cells = np.asarray(correct, dtype=np.float64)
    if cells.ndim != 2:
        raise StatisticsError(f"correct must be items x positions, not of shape {cells.shape}")
    complete = cells[~np.isnan(cells).any(axis=1)]
    n, k = complete.shape
    method = "Cochran's Q over key positions"
    if n == 0 or k < 2:
        return OrderTest(None, None, None, method, n, None, "needs two positions and one complete item")
    rows, columns = complete.sum(axis=1), complete.sum(axis=0)
    spread = float((rows * (k - rows)).sum())
    if spread == 0:
        return OrderTest(0.0, k - 1, 1.0, method, n, None, "no item changes over positions")
    q = (k - 1) * k * float(((columns - columns.mean()) ** 2).sum()) / spread
    return OrderTest(q, k - 1, float(stats.chi2.sf(q, k - 1)), method, n)


def position_test(
    answers: ArrayLike, options: ArrayLike | None = None, *, permutations: int = 2000, seed: int = 0
) -> OrderTest:
    """Stratified permutation test of a preference for positions.

    `answers` (n_items, k): the option chosen (its number in the unrotated item, 0..k-1) under order r, the r-th
    cyclic rotation, which shows option s at position (s + r) mod k; MISSING where unread. Under the null an
    item's answers are exchangeable over its orders, so they are permuted within items. Statistic: chi-square of
    the positions chosen against equal shares, summed over numbers of options (`options` (n_items,), default k).
    P counts the observed arrangement. A responder that always picks the same content has P = 1. (A chi-square
    table is invalid here: a stable responder yields exactly uniform positions.)
    """
    chosen, counts = _check_answers(answers, options)
    rng = np.random.default_rng(seed)
    observed, drawn, used = 0.0, np.zeros(permutations), 0
    for k in np.unique(counts):
        block = chosen[counts == k][:, :k]
        seen = block != MISSING
        block, seen = block[seen.any(axis=1)], seen[seen.any(axis=1)]
        if not block.size:
            continue
        used += block.shape[0]
        observed += _position_spread(block, np.tile(np.arange(k), (block.shape[0], 1)), seen, int(k))
        slots = np.argsort(~seen, axis=1, kind="stable")
        packed = np.take_along_axis(block, slots, axis=1)
        kept = np.take_along_axis(seen, slots, axis=1)
        for turn in range(permutations):
            keys = np.where(kept, rng.random(block.shape), 2.0)
            shuffled = np.take_along_axis(packed, np.argsort(keys, axis=1), axis=1)
            drawn[turn] += _position_spread(shuffled, slots, kept, int(k))
    method = f"stratified permutation of chosen positions, {permutations} permutations"
    if used == 0:
        return OrderTest(None, None, None, method, 0, seed, "no readable answer")
    p = float((1 + (drawn >= observed - 1e-9).sum()) / (permutations + 1))
    return OrderTest(observed, None, p, method, used, seed)


def order_stability(answers: ArrayLike, options: ArrayLike | None = None) -> dict[str, float | int | None]:
    """How often the content chosen stays the same over orders, for one endpoint; arguments as `position_test`.

    strict: share of items answered alike and readably in all their orders (an unread answer is unstable);
    pairwise: mean over items of the share of pairs of readable orders that agree (None without such a pair);
    changed: items with two different readable answers; unread: answers that could not be read; n: items.
    """
    chosen, counts = _check_answers(answers, options)
    strict, pairwise, changed, unread = 0, [], 0, 0
    for row, k in zip(chosen, counts, strict=True):
        given = row[:k]
        known = given[given != MISSING]
        unread += int(k - known.size)
        same = np.unique(known).size == 1
        strict += bool(same and known.size == k)
        changed += bool(np.unique(known).size > 1)
        if known.size > 1:
            tallies = np.bincount(known)
            pairwise.append(float((tallies * (tallies - 1)).sum() / (known.size * (known.size - 1))))
    n = chosen.shape[0]
    return {
        "strict": strict / n if n else None,
        "pairwise": float(np.mean(pairwise)) if pairwise else None,
        "changed": changed, "unread": unread, "n": n,
    }  # fmt: skip


def recall_by_position(correct: ArrayLike) -> tuple[list[float | None], float | None]:
    """Accuracy with the key at each position, and its standard deviation over positions (RStd).

    `correct` (n_items, k): 1, 0, nan, columns by key position. A position without an answer is None, and then
    so is the deviation. The size of the effect that `cochran_q` tests.
    """
    cells = np.asarray(correct, dtype=np.float64)
    if cells.ndim != 2:
        raise StatisticsError(f"correct must be items x positions, not of shape {cells.shape}")
    seen = ~np.isnan(cells)
    recall = [
        float(np.nansum(cells[:, j]) / seen[:, j].sum()) if seen[:, j].any() else None for j in range(cells.shape[1])
    ]
    known = [value for value in recall if value is not None]
    return recall, float(np.std(known)) if known and len(known) == len(recall) else None


def score_changes(correct: ArrayLike, endpoints: Sequence[str]) -> pd.DataFrame:
    """Score of each endpoint under each order, and how far it moves.

    `correct` (n_endpoints, n_items, n_orders): 1, 0, nan. A row an endpoint: endpoint, lowest, highest, spread
    (largest minus smallest accuracy over orders, in shares), largest_change (largest absolute change from the
    first order), mean_change (mean of those changes). Missing where an order has no readable answer.
    """
    cube = np.asarray(correct, dtype=np.float64)
    if cube.ndim != 3 or cube.shape[0] != len(endpoints):
        raise StatisticsError(f"correct must be endpoints x items x orders, not of shape {cube.shape}")
    rows = []
    for name, cells in zip(endpoints, cube, strict=True):
        seen = ~np.isnan(cells)
        if not cells.size or not seen.any(axis=0).all():
            rows.append((name, None, None, None, None, None))
            continue
        recall = np.nansum(cells, axis=0) / seen.sum(axis=0)
        moved = np.abs(recall[1:] - recall[0]) if recall.size > 1 else np.zeros(1)
        rows.append((name, recall.min(), recall.max(), np.ptp(recall), moved.max(), moved.mean()))
    names = ["endpoint", "lowest", "highest", "spread", "largest_change", "mean_change"]
    return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[1:], "Float64"))


def _check_answers(answers: ArrayLike, options: ArrayLike | None) -> tuple[IntArray, IntArray]:
    chosen = np.asarray(answers)
    if chosen.ndim != 2 or chosen.dtype.kind not in "iu":
        raise StatisticsError("answers must be whole numbers, items x orders, -1 where unread")
    chosen = chosen.astype(np.int64)
    n, width = chosen.shape
    counts = np.full(n, width) if options is None else np.asarray(options, dtype=np.int64)
    if counts.shape != (n,) or (n and (counts.min() < 1 or counts.max() > width)):
        raise StatisticsError("options is the number of options of each item, at most the number of columns")
    inside = np.arange(width) < counts[:, None]
    if ((chosen < MISSING) | (chosen >= counts[:, None]))[inside].any():
        raise StatisticsError("an answer is an option number of its item, or -1")
    return chosen, counts.astype(np.int64)


def _position_spread(answers: IntArray, orders: IntArray, seen: np.ndarray, k: int) -> float:
    """Chi-square of the positions chosen against equal shares."""
    positions = ((answers + orders) % k)[seen]
    tallies: FloatArray = np.bincount(positions, minlength=k).astype(np.float64)
    expected = positions.size / k
    return float(((tallies - expected) ** 2).sum() / expected)
