"""A balanced ridge-logistic selector fitted once per left-out fold, all folds at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]

STEPS = 60
SHARED_STEPS = 20
"""Steps that all folds take together; folds that have not settled by then are fitted one by one."""
TOLERANCE = 1e-7


@dataclass(frozen=True)
class Design:
    """Rows (options) with their features and folds.

    `features` (rows, p) are the same in every fold; `varying` (rows, folds, q) differ by fold, because what
    they are computed from is fitted without it, and `typical` (rows, q) are those of the whole bank. `fold`
    gives the fold of each row.
    """

    features: Array
    fold: NDArray[np.int64]
    n_folds: int
    varying: Array | None = None
    typical: Array | None = None

    @property
    def whole(self) -> Array:
        """(rows, p + q): the features with the typical values of the varying ones."""
        return self.features if self.typical is None else np.hstack([self.features, self.typical])

    def of_fold(self, fold: int) -> Array:
        """(rows, p + q): the features as they are when this fold is left out."""
        return self.features if self.varying is None else np.hstack([self.features, self.varying[:, fold]])


def sample_weights(target: Array, training: Array) -> Array:
    """scikit-learn's "balanced" weights n / (2 n_class), 0 outside `training`; `training` (rows, folds) of 0 and 1."""
    total = training.sum(axis=0)
    positive = target @ training
    with_key = total / np.maximum(2.0 * positive, 1.0)
    without = total / np.maximum(2.0 * (total - positive), 1.0)
    weights: Array = training * np.where(target[:, None] > 0, with_key, without)
    return weights


def fit(features: Array, target: Array, strength: float = 0.5) -> tuple[Array, float]:
    """Standardised balanced ridge-logistic coefficients and intercept, in units of the raw features.

    Minimises |w|^2 / 2 + C sum_i s_i log(1 + exp(-y_i f_i)) on features divided by their standard deviation
    (a constant one is left alone), C = `strength`, intercept free: scikit-learn's LogisticRegression after a
    StandardScaler, by Newton steps.
    """
    mean, scale = features.mean(axis=0), _scale(features.std(axis=0))
    inner = np.hstack([np.ones((features.shape[0], 1)), (features - mean) / scale])
    weight = sample_weights(target, np.ones((target.size, 1)))[:, 0]
    ridge = np.eye(inner.shape[1])
    ridge[0, 0] = 0.0
    beta = np.zeros(inner.shape[1])
    for _ in range(STEPS):
        chance = expit(inner @ beta)
        slope = ridge @ beta + strength * (inner.T @ (weight * (chance - target)))
        curve = ridge + strength * ((inner.T * (weight * chance * (1 - chance))) @ inner)
        step = np.linalg.solve(curve + 1e-10 * np.eye(beta.size), slope)
        beta = beta - step
        if np.abs(step).max() < TOLERANCE:
            break
    raw = beta[1:] / scale
    return raw, float(beta[0] - mean @ raw)


def _scale(deviation: Array) -> Array:
    return np.where(deviation > 1e-12, deviation, 1.0)


def held_out_scores(design: Design, target: Array, strength: float = 0.5, tolerance: float = TOLERANCE) -> Array:
    """Score of each row by the selector fitted on all other folds, (rows,).

    All folds move at once from the fit of the whole bank. Their slopes are exact; their curvature is that of
    the whole minus the fold's own part, which costs one pass instead of one a fold and leaves the solution
    unchanged (only the number of steps). A fold that does not settle so gets a Newton fit of its own.
    """
    training = np.ones((target.size, design.n_folds))
    training[np.arange(target.size), design.fold] = 0.0
    weight = sample_weights(target, training)
    mean, scale = _moments(design, training)
    raw, intercept = fit(design.whole, target, strength)
    beta = np.vstack([intercept + mean.T @ raw, scale * raw[:, None]])
    inverse = _inverse_curvature(design, target, raw, intercept, mean, scale, strength)
    p = design.features.shape[1]
    for _ in range(SHARED_STEPS):
        error = weight * (expit(_scores(design, beta, mean, scale)) - target[:, None])
        total = error.sum(axis=0)
        slope = design.features.T @ error
        if design.varying is not None:
            slope = np.vstack([slope, np.einsum("rf,rfq->qf", error, design.varying)])
        slope = (slope - mean * total) / scale
        gradient = np.vstack([strength * total, strength * slope + beta[1:]])
        step = np.einsum("fij,jf->if", inverse, gradient)
        beta = beta - step
        if np.abs(step).max() < tolerance:
            break
    own = beta[1:, :] / scale
    bias = beta[0] - (mean * own).sum(axis=0)
    for fold in np.flatnonzero(~(np.abs(step).max(axis=0) < 100 * tolerance)):
        kept = design.fold != fold
        own[:, fold], bias[fold] = fit(design.of_fold(int(fold))[kept], target[kept], strength)
    scores: Array = (design.features * own[:p, design.fold].T).sum(axis=1) + bias[design.fold]
    if design.varying is not None:
        here = design.varying[np.arange(target.size), design.fold]
        scores = scores + (here * own[p:, design.fold].T).sum(axis=1)
    return scores


def _scores(design: Design, beta: Array, mean: Array, scale: Array) -> Array:
    """(rows, folds): linear score of every row under the selector of every fold."""
    own = beta[1:] / scale
    p = design.features.shape[1]
    scores: Array = design.features @ own[:p] + (beta[0] - (mean * own).sum(axis=0))
    if design.varying is not None:
        scores = scores + np.einsum("rfq,qf->rf", design.varying, own[p:])
    return scores


def _moments(design: Design, training: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of each feature over the training rows of each fold, (p + q, folds) each."""
    n = training.sum(axis=0)
    first, second = design.features.T @ training, (design.features**2).T @ training
    if design.varying is not None:
        first = np.vstack([first, np.einsum("rf,rfq->qf", training, design.varying)])
        second = np.vstack([second, np.einsum("rf,rfq->qf", training, design.varying**2)])
    mean = first / n
    return mean, _scale(np.sqrt(np.maximum(second / n - mean**2, 0.0)))


def _inverse_curvature(
    design: Design, target: Array, raw: Array, intercept: float, mean: Array, scale: Array, strength: float
) -> Array:
    """(folds, 1+p, 1+p): inverse of each fold's curvature at the fit of the whole bank, in its own scale."""
    whole = design.whole
    chance = expit(whole @ raw + intercept)
    weight = sample_weights(target, np.ones((target.size, 1)))[:, 0] * chance * (1 - chance)
    inner = np.hstack([np.ones((whole.shape[0], 1)), whole])
    ranked = np.argsort(design.fold, kind="stable")
    edges = np.searchsorted(design.fold[ranked], np.arange(design.n_folds + 1))
    parts = np.empty((design.n_folds, inner.shape[1], inner.shape[1]))
    for fold in range(design.n_folds):
        rows = ranked[edges[fold] : edges[fold + 1]]
        parts[fold] = (inner[rows].T * weight[rows]) @ inner[rows]
    curve = parts.sum(axis=0) - parts
    change = np.zeros_like(parts)
    change[:, 0, 0] = 1.0
    diagonal = np.arange(1, inner.shape[1])
    change[:, diagonal, diagonal] = (1.0 / scale).T
    change[:, 1:, 0] = -(mean / scale).T
    ridge = np.eye(inner.shape[1])
    ridge[0, 0] = 0.0
    curve = ridge + strength * (change @ curve @ change.transpose(0, 2, 1))
    inverse: Array = np.linalg.inv(curve + 1e-10 * np.eye(inner.shape[1]))
    return inverse
