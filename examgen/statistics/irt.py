"""Item response models by marginal maximum likelihood: the two-parameter logistic and the Rasch model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import optimize, special

from examgen.errors import StatisticsError
from examgen.statistics.estimate import FloatArray, score_matrix

MINIMUM_RESPONDENTS = 200
"""Fewer respondents do not identify slopes in practice; a dozen endpoints certainly do not."""


@dataclass(frozen=True)
class ItemResponseFit:
    """A fitted model: P(right) = 1/(1 + exp(-a (theta - b))), theta standard normal.

    `items`: a (slope), b (difficulty), a_se, b_se, in the order of the rows of scores; empty when not estimable. Items
    everybody got right or wrong are listed without values. `loglik` is the marginal log-likelihood, None when not
    estimable; `n` respondents; `note` says why nothing was fitted, or what to know.
    """

    items: pd.DataFrame
    loglik: float | None
    n: int
    converged: bool
    method: str
    note: str = ""


def fit_2pl(scores: ArrayLike, *, nodes: int = 61, minimum_respondents: int = MINIMUM_RESPONDENTS) -> ItemResponseFit:
    """Two-parameter logistic model, Gauss-Hermite quadrature over `nodes`, L-BFGS on response patterns.

    `scores` (n_items, n_respondents): 1, 0, nan (missing at random). With models as items and questions as respondents
    (the transposed matrix) it is well identified: thousands of respondents. Reproduces the published fits of LSAT6
    (log-likelihood -2466.653) and LSAT7 (-2658.805, ltm and mirt). Source: Bock & Lieberman 1970.
    """
    return _fit(score_matrix(scores), nodes, minimum_respondents, common_slope=False)


def fit_rasch(scores: ArrayLike, *, nodes: int = 61, minimum_respondents: int = MINIMUM_RESPONDENTS) -> ItemResponseFit:
    """One common slope (the Rasch model with theta standard normal); otherwise as `fit_2pl`."""
    return _fit(score_matrix(scores), nodes, minimum_respondents, common_slope=True)


def ability(scores: ArrayLike, fit: ItemResponseFit, *, nodes: int = 61) -> pd.DataFrame:
    """Expected a posteriori theta of each respondent and its standard deviation: columns theta, se, n (items seen).

    `scores` (n_items, n_respondents), the items of `fit` in its order; items without a slope play no part.
    """
    matrix = score_matrix(scores)
    if len(fit.items) != matrix.shape[0] or fit.loglik is None:
        raise StatisticsError("ability needs a fit of these very items")
    usable = fit.items["a"].notna().to_numpy()
    slope = fit.items.loc[usable, "a"].to_numpy(dtype=float)
    start = -slope * fit.items.loc[usable, "b"].to_numpy(dtype=float)
    theta, weight = _quadrature(nodes)
    block = matrix[usable]
    log_p = _log_likelihoods(block.T, slope, start, theta) + np.log(weight)
    posterior = np.exp(log_p - special.logsumexp(log_p, axis=1, keepdims=True))
    mean = posterior @ theta
    spread = np.sqrt(np.maximum(posterior @ theta**2 - mean**2, 0.0))
    return pd.DataFrame({"theta": mean, "se": spread, "n": (~np.isnan(block)).sum(axis=0)})


def _fit(matrix: FloatArray, nodes: int, minimum: int, *, common_slope: bool) -> ItemResponseFit:
    if nodes < 5:
        raise StatisticsError(f"at least 5 quadrature nodes, not {nodes}")
    method = f"{'Rasch' if common_slope else '2PL'}, marginal maximum likelihood, {nodes} nodes"
    matrix = matrix[:, (~np.isnan(matrix)).any(axis=0)]
    items, n = matrix.shape
    empty = pd.DataFrame({name: pd.Series([None] * items, dtype="Float64") for name in ("a", "b", "a_se", "b_se")})
    if n < minimum:
        note = f"not estimable: {n} respondents, {minimum} needed"
        return ItemResponseFit(empty, None, n, False, method, note)
    seen = ~np.isnan(matrix)
    share = np.nansum(matrix, axis=1) / np.maximum(seen.sum(axis=1), 1)
    usable = (share > 0) & (share < 1)
    if usable.sum() < (2 if common_slope else 3):
        return ItemResponseFit(empty, None, n, False, method, "not estimable: too few items that vary")
    patterns, counts = np.unique(np.nan_to_num(matrix[usable].T, nan=-1.0), axis=0, return_counts=True)
    patterns = np.where(patterns < 0, np.nan, patterns)
    model = _Likelihood(patterns, counts.astype(np.float64), *_quadrature(nodes), common_slope)
    start = np.concatenate([np.ones(1 if common_slope else int(usable.sum())), special.logit(share[usable])])
    found = optimize.minimize(
        model.negative, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-3}
    )
    frame = empty.copy()
    values = model.item_table(found.x)
    for column, name in enumerate(("a", "b", "a_se", "b_se")):
        frame.loc[usable, name] = pd.array([_finite(x) for x in values[:, column]], dtype="Float64")
    left = int((~usable).sum())
    note = f"{left} items without variation left out" if left else ""
    if not found.success:
        note = "; ".join(part for part in (note, "the search did not converge") if part)
    return ItemResponseFit(frame, -float(found.fun), n, bool(found.success), method, note)


class _Likelihood:
    """Marginal likelihood of response patterns and its gradient, in slopes a and intercepts d = -a b."""

    def __init__(
        self, patterns: FloatArray, counts: FloatArray, theta: FloatArray, weight: FloatArray, common_slope: bool
    ) -> None:
        self.patterns, self.counts, self.theta = patterns, counts, theta
        self.log_weight, self.common = np.log(weight), common_slope
        self.known = np.nan_to_num(patterns)
        self.seen = (~np.isnan(patterns)).astype(np.float64)
        self.items = patterns.shape[1]

    def split(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        slope = np.repeat(parameters[:1], self.items) if self.common else parameters[: self.items]
        return slope, parameters[-self.items :]

    def scores(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log-likelihood of each pattern, and its gradient (patterns, parameters)."""
        slope, start = self.split(parameters)
        log_p = _log_likelihoods(self.patterns, slope, start, self.theta) + self.log_weight
        marginal = special.logsumexp(log_p, axis=1)
        posterior = np.exp(log_p - marginal[:, None])
        right = special.expit(np.outer(self.theta, slope) + start)
        by_start = self.known - self.seen * (posterior @ right)
        mean = posterior @ self.theta
        by_slope = self.known * mean[:, None] - self.seen * (posterior @ (self.theta[:, None] * right))
        if self.common:
            by_slope = by_slope.sum(axis=1, keepdims=True)
        return marginal, np.hstack([by_slope, by_start])

    def negative(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        marginal, gradient = self.scores(parameters)
        return -float(self.counts @ marginal), -(self.counts @ gradient)

    def item_table(self, parameters: FloatArray) -> FloatArray:
        """a, b and their standard errors (outer product of the patterns' gradients; delta method for b)."""
        slope, start = self.split(parameters)
        _, gradient = self.scores(parameters)
        covariance = np.linalg.pinv((gradient * self.counts[:, None]).T @ gradient)
        rows = np.full((self.items, 4), np.nan)
        for item in range(self.items):
            i, j = (0, 1 + item) if self.common else (item, self.items + item)
            a, d = slope[item], start[item]
            rows[item, 0], rows[item, 2] = a, np.sqrt(max(covariance[i, i], 0.0))
            if abs(a) > 1e-6:
                tangent = np.array([d / a**2, -1.0 / a])
                block = covariance[np.ix_([i, j], [i, j])]
                rows[item, 1], rows[item, 3] = -d / a, np.sqrt(max(tangent @ block @ tangent, 0.0))
        return rows


def _log_likelihoods(patterns: FloatArray, slope: FloatArray, start: FloatArray, theta: FloatArray) -> FloatArray:
    """log P(pattern | theta), (patterns, nodes); missing answers drop out."""
    logits = np.outer(theta, slope) + start
    known, seen = np.nan_to_num(patterns), (~np.isnan(patterns)).astype(np.float64)
    return np.asarray(known @ logits.T - seen @ np.logaddexp(0.0, logits).T)


def _quadrature(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Gauss-Hermite nodes and weights for a standard normal."""
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    return points, weights / weights.sum()


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
