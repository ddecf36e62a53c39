"""Differential item functioning between two groups of respondents: Mantel-Haenszel over score bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from examgen.errors import StatisticsError
from examgen.statistics.estimate import FloatArray, score_matrix

MINIMUM_GROUP = 20
"""Fewer respondents in a group: item-level DIF is not estimable; use blocks of items."""


@dataclass(frozen=True, slots=True)
class MantelHaenszel:
    """Common odds ratio over strata (reference right : focal right), log-limits, ETS delta and its class.

    `odds_ratio`, `low`, `high`, `delta`, `chi2`, `p` and `size` are None when not estimable. `delta` is
    -2.35 ln(odds ratio): negative when the item is harder for the focal group at the same score. `size`: A
    negligible (|delta| < 1 or not significant), B, C (|delta| >= 1.5 and significantly above 1).
    """

    odds_ratio: float | None
    low: float | None
    high: float | None
    delta: float | None
    chi2: float | None
    p: float | None
    size: str | None
    n: int
    method: str = "Mantel-Haenszel, continuity-corrected, Robins-Breslow-Greenland limits 95%"
    note: str = ""


def mantel_haenszel(tables: ArrayLike) -> MantelHaenszel:
    """From 2 x 2 tables (n_strata, 2, 2): [[reference right, reference wrong], [focal right, focal wrong]].

    Strata with one respondent or none are dropped. Equals statsmodels StratifiedTable. Source: Holland &
    Thayer 1988.
    """
    cells = np.asarray(tables, dtype=np.float64)
    if cells.ndim != 3 or cells.shape[1:] != (2, 2) or (cells < 0).any():
        raise StatisticsError("tables must be counts of shape (n_strata, 2, 2)")
    cells = cells[cells.sum(axis=(1, 2)) > 1]
    a, b, c, d = cells[:, 0, 0], cells[:, 0, 1], cells[:, 1, 0], cells[:, 1, 1]
    total = cells.sum(axis=(1, 2))
    n = int(total.sum())
    if not total.size:
        return _undefined(n, "no stratum with two respondents")
    row, column = a + b, a + c
    variance = float((row * (total - row) * column * (total - column) / (total**2 * (total - 1))).sum())
    r, s = a * d / total, b * c / total
    if variance <= 0:
        return _undefined(n, "the groups or the outcome do not vary within strata")
    gap = max(0.0, abs(float((a - row * column / total).sum())) - 0.5)
    chi2 = gap * gap / variance
    p = float(stats.chi2.sf(chi2, 1))
    if r.sum() == 0 or s.sum() == 0:
        bound = "infinite" if s.sum() == 0 else "zero"
        return MantelHaenszel(None, None, None, None, chi2, p, None, n, note=f"the odds ratio is {bound}")
    odds = float(r.sum() / s.sum())
    error = _log_error(a, b, c, d, total)
    half = float(stats.norm.ppf(0.975)) * error
    delta = -2.35 * float(np.log(odds))
    return MantelHaenszel(
        odds, odds * float(np.exp(-half)), odds * float(np.exp(half)), delta, chi2, p, _ets(delta, p, error), n
    )


def dif_table(
    scores: ArrayLike,
    focal: Sequence[bool],
    item_ids: Sequence[str] | None = None,
    *,
    bands: int = 5,
    minimum_group: int = MINIMUM_GROUP,
) -> pd.DataFrame:
    """Mantel-Haenszel of each item (or block: give block scores as items), strata are bands of the total score.

    `scores` (n_items, n_respondents): 1, 0, nan; `focal` marks the respondents of the focal group. The total includes
    the item itself. With fewer than `minimum_group` respondents in a group no item is estimable. Columns item_id,
    odds_ratio, low, high, delta, chi2, p, size, n, note.
    """
    matrix, marked = score_matrix(scores), np.asarray(focal, dtype=bool)
    ids = [str(i) for i in range(len(matrix))] if item_ids is None else [str(i) for i in item_ids]
    if marked.shape != (matrix.shape[1],) or len(ids) != len(matrix):
        raise StatisticsError("focal marks every respondent, item_ids every item")
    if bands < 1:
        raise StatisticsError(f"bands must be at least 1, not {bands}")
    smaller = int(min(marked.sum(), (~marked).sum()))
    rows = []
    strata = _bands(matrix, bands) if smaller >= minimum_group else np.zeros(0)
    for identifier, right in zip(ids, matrix, strict=True):
        if smaller < minimum_group:
            found = _undefined(0, f"{smaller} respondents in the smaller group, {minimum_group} needed")
        else:
            found = mantel_haenszel(_tables(right, marked, strata, bands))
        rows.append((
            identifier, found.odds_ratio, found.low, found.high, found.delta, found.chi2, found.p, found.size,
            found.n, found.note,
        ))  # fmt: skip
    names = ["item_id", "odds_ratio", "low", "high", "delta", "chi2", "p", "size", "n", "note"]
    return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[1:7], "Float64"))


def _bands(matrix: FloatArray, bands: int) -> FloatArray:
    """Equal-frequency bands of the share right, 0..bands-1 (equal scores stay together)."""
    seen = np.maximum((~np.isnan(matrix)).sum(axis=0), 1)
    share = np.nansum(matrix, axis=0) / seen
    edges = np.quantile(share, np.arange(1, bands) / bands)
    return np.asarray(np.searchsorted(edges, share, side="right"), dtype=np.float64)


def _tables(right: FloatArray, focal: np.ndarray, strata: FloatArray, bands: int) -> FloatArray:
    tables = np.zeros((bands, 2, 2))
    for band in range(bands):
        for group in (0, 1):
            seen = right[(strata == band) & (focal == bool(group)) & ~np.isnan(right)]
            tables[band, group] = seen.sum(), seen.size - seen.sum()
    return tables


def _log_error(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, total: FloatArray) -> float:
    """Standard error of the log odds ratio (Robins, Breslow & Greenland 1986)."""
    p, q, r, s = (a + d) / total, (b + c) / total, a * d / total, b * c / total
    up, down = r.sum(), s.sum()
    parts = (p * r).sum() / (2 * up**2) + (p * s + q * r).sum() / (2 * up * down) + (q * s).sum() / (2 * down**2)
    return float(np.sqrt(parts))


def _ets(delta: float, p: float, error: float) -> str:
    size = abs(delta)
    if size < 1.0 or p >= 0.05:
        return "A"
    above_one = (size - 1.0) / (2.35 * error) > float(stats.norm.ppf(0.95)) if error > 0 else True
    return "C" if size >= 1.5 and above_one else "B"


def _undefined(n: int, note: str) -> MantelHaenszel:
    return MantelHaenszel(None, None, None, None, None, None, None, n, note=note)
