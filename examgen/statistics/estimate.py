"""What every statistic returns: a value with its interval and its recipe."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from examgen.errors import StatisticsError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, its interval, and how it was obtained.

    `value` is None when the data cannot give the number; `note` then says why. `low` and `high` are None
    when no interval is claimed (an exact calculation has no sampling error). `n` counts the units the
    value rests on (items, pairs, respondents: the method says which); `seed` is None where nothing is random.
    A NaN or an infinity is refused: it would be a number nobody can read.
    """

    value: float | None
    low: float | None
    high: float | None
    method: str
    n: int
    seed: int | None = None
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("value", "low", "high"):
            number = getattr(self, name)
            if number is not None and not math.isfinite(number):
                raise StatisticsError(
                    f"{self.method}: {name} is {number}; use None with a note for what is not estimable"
                )

    @property
    def estimable(self) -> bool:
        """True when there is a value."""
        return self.value is not None

    def as_row(self) -> dict[str, float | int | str | None]:
        """The seven fields as a table row."""
        return asdict(self)


def not_estimable(method: str, note: str, *, n: int = 0, seed: int | None = None) -> Estimate:
    """An Estimate without a value, and the reason."""
    return Estimate(None, None, None, method, n, seed, note)


def check_probability(name: str, value: float, *, open_ends: bool = False) -> float:
    """Return `value` as a float when it lies in [0, 1] (or (0, 1)); raise StatisticsError otherwise."""
    number = float(value)
    inside = 0.0 < number < 1.0 if open_ends else 0.0 <= number <= 1.0
    if not inside:
        raise StatisticsError(f"{name} must lie {'strictly ' if open_ends else ''}between 0 and 1, not {value}")
    return number


def score_matrix(scores: ArrayLike, *, allow_vector: bool = False) -> FloatArray:
    """Check a score matrix, (n_items, n_endpoints): 1 right, 0 wrong, nan missing; return it as float64.

    With `allow_vector` a vector of items becomes a matrix with one endpoint.
    """
    matrix = np.asarray(scores, dtype=np.float64)
    if allow_vector and matrix.ndim == 1:
        matrix = matrix[:, None]
    if matrix.ndim != 2:
        raise StatisticsError(f"scores must be items x endpoints, not an array of shape {matrix.shape}")
    seen = matrix[~np.isnan(matrix)]
    if seen.size and (seen.min() < 0.0 or seen.max() > 1.0):
        raise StatisticsError("scores must be 0 (wrong), 1 (right) or nan (missing)")
    return matrix


def cluster_codes(clusters: ArrayLike, n_items: int) -> IntArray:
    """Number the clusters 0..G-1 in sorted order of their labels; `clusters` has one label an item."""
    labels = np.asarray(clusters)
    if labels.shape != (n_items,):
        raise StatisticsError(f"clusters must hold one label for each of {n_items} items, not {labels.shape}")
    if labels.dtype == object:
        if any(label is None or label != label for label in labels):
            raise StatisticsError("every item needs a cluster label; some are missing")
        labels = labels.astype(str)
    elif labels.dtype.kind == "f" and np.isnan(labels).any():
        raise StatisticsError("every item needs a cluster label; some are missing")
    _, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64).reshape(n_items)
