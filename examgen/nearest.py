"""The nearest vectors to a query, exactly, with ties broken the same way in every run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

DECIMALS = 6
"""Distances are rounded before they are compared: the last bits of a product depend on how it was grouped."""

Rows = npt.NDArray[np.int64]


def ranked(
    vectors: npt.NDArray[np.float32], query: npt.NDArray[np.float32], rows: Rows, k: int
) -> list[tuple[float, int]]:
    """The k of these rows that are nearest: (cosine distance, row), by distance in float64, then by row.

    `vectors` (n, d) and `query` (d) have length 1, so that the cosine distance is one minus their product.
    """
    products = (vectors[rows].astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    distances = np.round(1.0 - products, DECIMALS) + 0.0
    order = np.lexsort((rows, distances))[:k]
    return [(float(distances[place]), int(rows[place])) for place in order]


def exact(
    vectors: npt.NDArray[np.float32], query: npt.NDArray[np.float32], k: int,
    barred: npt.NDArray[np.bool_] | None = None,
) -> list[tuple[float, int]]:
    """The k nearest of all rows that are not barred, as `ranked` gives them; fewer when there are fewer."""
    scores = vectors @ query
    if barred is not None:
        scores = np.where(barred, -np.inf, scores)
    wanted = min(k, int(np.isfinite(scores).sum()))
    if wanted <= 0:
        return []
    # All that come within rounding of the k-th stay in, so that ties go by row and not by chance of the partition.
    edge = np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
    return ranked(vectors, query, np.flatnonzero(scores >= edge - 1e-5), wanted)


def recall(
    vectors: npt.NDArray[np.float32], propose: Callable[[npt.NDArray[np.float32], int], Rows], k: int, sample: int
) -> float:
    """Share of the exact k nearest among the rows `propose(query, k)` gives; queries are evenly spaced vectors."""
    if not len(vectors):
        return 1.0
    k = min(k, len(vectors))
    places = np.unique(np.linspace(0, len(vectors) - 1, min(sample, len(vectors))).astype(np.int64))
    hits = 0
    for place in places:
        query = np.array(vectors[place])
        scores = vectors @ query
        edge = np.partition(scores, len(scores) - k)[len(scores) - k]
        # Vectors that tie with the k-th are as right as it.
        hits += int((scores[propose(query, k)] >= edge - 1e-6).sum())
    return hits / (k * len(places))
