"""Exact search against a naive twin, with ties and barred rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from examgen.nearest import exact, ranked, recall


def unit(seed: int, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    values = np.random.default_rng(seed).normal(size=shape)
    return np.asarray(values / np.linalg.norm(values, axis=-1, keepdims=True), dtype=np.float32)


def naive(vectors: npt.NDArray[np.float32], query: npt.NDArray[np.float32], k: int, barred: set[int]) -> list[int]:
    rows = [n for n in range(len(vectors)) if n not in barred]
    return sorted(
        rows, key=lambda n: (round(1.0 - float(np.dot(vectors[n].astype(float), query.astype(float))), 6), n)
    )[:k]


def test_same_rows_as_sorting_everything() -> None:
    vectors = unit(1, (400, 16))
    vectors[100:120] = vectors[5]
    barred = np.zeros(400, dtype=bool)
    barred[[5, 7, 300]] = True
    for seed in range(20):
        query = vectors[5] if seed == 0 else unit(seed, (16,))
        for k in (1, 3, 30, 1000):
            assert [row for _, row in exact(vectors, query, k)] == naive(vectors, query, k, set())
            assert [row for _, row in exact(vectors, query, k, barred)] == naive(vectors, query, k, {5, 7, 300})


def test_ties_go_by_row() -> None:
    vectors = np.repeat(unit(2, (1, 8)), 50, axis=0)
    assert [row for _, row in exact(vectors, vectors[0], 10)] == list(range(10))
    assert ranked(vectors, vectors[0], np.array([9, 3, 7]), 2) == [(0.0, 3), (0.0, 7)]


def test_nothing_left_and_nothing_there() -> None:
    vectors = unit(3, (4, 8))
    assert exact(vectors, vectors[0], 3, np.ones(4, dtype=bool)) == []
    assert exact(vectors[:0], unit(4, (8,)), 3) == []


def test_recall_counts_what_was_proposed() -> None:
    vectors = unit(5, (300, 8))
    whole = recall(vectors, lambda query, k: np.array([row for _, row in exact(vectors, query, k)]), 30, 20)
    half = recall(vectors, lambda query, k: np.array([row for _, row in exact(vectors, query, k // 2)]), 30, 20)
    assert whole == 1.0
    assert half == 0.5
