"""Accuracy of endpoints: the interval of choice, and what unresolved rows could change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from examgen.errors import StatisticsError
from examgen.statistics.bootstrap import cluster_bootstrap, hierarchical_bootstrap, item_bootstrap
from examgen.statistics.clusters import clustered_t
from examgen.statistics.estimate import Estimate, cluster_codes, not_estimable, score_matrix
from examgen.statistics.intervals import wilson, wilson_mean

Method = Literal["clustered t", "hierarchical bootstrap", "cluster bootstrap", "item bootstrap", "wilson"]


@dataclass(frozen=True, slots=True)
class AccuracyThreeWays:
    """One endpoint's accuracy with its unresolved items left out, as wrong, and as right: the bounds.

    `excluded` has an interval; `as_wrong` and `as_right` bound what the unresolved rows can do. With no
    unresolved row the three agree.
    """

    excluded: Estimate
    as_wrong: Estimate
    as_right: Estimate
    unresolved: int


def accuracy_intervals(
    scores: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    method: Method = "clustered t",
    level: float = 0.95,
    replicates: int = 4000,
    seed: int = 0,
) -> list[Estimate]:
    """Accuracy of each endpoint with an interval, in column order; nan (unresolved) left out.

    `scores` (n_items, n_endpoints). All methods but "wilson" and "item bootstrap" need `clusters` (topics or
    construction batches) and speak of new topics like these; those two speak of these items only.
    """
    matrix = score_matrix(scores, allow_vector=True)
    columns = range(matrix.shape[1])
    if method == "wilson":
        return [_wilson(matrix[:, column], level) for column in columns]
    if method == "item bootstrap":
        drawn = item_bootstrap(matrix, replicates=replicates, seed=seed)
        return [drawn.interval(column, level=level) for column in columns]
    if clusters is None:
        raise StatisticsError(f"{method} needs the clusters (topics or batches); without them ask for wilson")
    codes = cluster_codes(clusters, matrix.shape[0])
    if method == "clustered t":
        return [clustered_t(matrix[:, column], codes, level=level) for column in columns]
    if method not in ("hierarchical bootstrap", "cluster bootstrap"):
        raise StatisticsError(f"{method!r} is not an interval of accuracy")
    resample = hierarchical_bootstrap if method == "hierarchical bootstrap" else cluster_bootstrap
    drawn = resample(matrix, codes, replicates=replicates, seed=seed)
    return [drawn.interval(column, level=level) for column in columns]


def accuracy_three_ways(
    scores: ArrayLike, clusters: ArrayLike | None = None, *, bounds: tuple[ArrayLike, ArrayLike] | None = None,
    level: float = 0.95,
) -> AccuracyThreeWays:
    """One endpoint's scores (n_items,): 1, 0, nan for unresolved. Clustered t with clusters, else Wilson.

    `bounds` are the scores with unresolved repeats as wrong and as right, where a score is a mean over repeats.
    """
    vector = np.asarray(scores, dtype=np.float64).ravel()
    lost = np.isnan(vector)
    given = bounds or (np.where(lost, 0.0, vector), np.where(lost, 1.0, vector))
    worst, best = (np.asarray(side, dtype=np.float64).ravel() for side in given)

    def interval(values: np.ndarray) -> Estimate:
        chosen: Method = "wilson" if clusters is None else "clustered t"
        return accuracy_intervals(values, clusters, method=chosen, level=level)[0]

    return AccuracyThreeWays(
        interval(vector),
        interval(worst),
        interval(best),
        int(lost.sum()),
    )


def accuracy_by(
    scores: ArrayLike,
    endpoints: Sequence[str],
    groups: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    minimum: int = 1,
    level: float = 0.95,
) -> pd.DataFrame:
    """Accuracy of each endpoint in each group of items (topic, stratum, difficulty bin, any axis).

    Columns group, endpoint and the fields of Estimate. Clustered t where `clusters` are given and the group
    holds two or more, Wilson otherwise. A cell with fewer than `minimum` scored items is not estimable.
    """
    matrix = score_matrix(scores)
    labels = np.asarray(groups).astype(str)
    if labels.shape != (matrix.shape[0],) or len(endpoints) != matrix.shape[1]:
        raise StatisticsError("groups are one label an item, endpoints one name a column")
    codes = None if clusters is None else cluster_codes(clusters, matrix.shape[0])
    rows = []
    for label in sorted(set(labels)):
        inside = labels == label
        for column, endpoint in enumerate(endpoints):
            values = matrix[inside, column]
            n = int((~np.isnan(values)).sum())
            if n < max(1, minimum):
                found = not_estimable("accuracy", f"fewer than {max(1, minimum)} scored items", n=n)
            elif codes is not None and np.unique(codes[inside][~np.isnan(values)]).size > 1:
                found = clustered_t(values, codes[inside], level=level)
            else:
                found = _wilson(values, level)
            rows.append({"group": label, "endpoint": endpoint} | found.as_row())
    frame = pd.DataFrame(rows)
    return frame.astype({"value": "Float64", "low": "Float64", "high": "Float64", "seed": "Int64"}) if rows else frame


def _wilson(values: np.ndarray, level: float) -> Estimate:
    """Wilson's interval; of scores between 0 and 1 (means over repeats) a conservative one, and the method says so."""
    seen = values[~np.isnan(values)]
    if np.isin(seen, (0.0, 1.0)).all():
        return wilson(int(seen.sum()), seen.size, level=level)
    found = wilson_mean(float(seen.mean()), seen.size, level=level)
    return Estimate(found.value, found.low, found.high, f"{found.method}, on means over repeats", found.n)
