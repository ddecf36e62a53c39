"""Several tests at once: Holm and Bonferroni, after the data and when planning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from examgen.errors import StatisticsError
from examgen.statistics.estimate import check_probability

Correction = Literal["holm", "bonferroni", "none"]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjusted P values, in the order given.

    None (not estimable) stays None and is not counted in the family. Source: Holm 1979; equals
    statsmodels `multipletests(method="holm")`.
    """
    known = _known(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for rank, (index, p) in enumerate(sorted(known, key=lambda pair: pair[1])):
        running = max(running, (len(known) - rank) * p)
        adjusted[index] = min(1.0, running)
    return adjusted


def bonferroni(p_values: Sequence[float | None]) -> list[float | None]:
    """P values times the size of the family, at most 1; None stays None and is not counted."""
    known = _known(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    for index, p in known:
        adjusted[index] = min(1.0, len(known) * p)
    return adjusted


def planning_alpha(alpha: float, contrasts: int, correction: Correction = "holm") -> float:
    """The level a contrast is planned at so that it is resolved whatever its place in the family.

    Holm compares the smallest P with alpha/m, the largest with alpha; which place a contrast takes is not
    known beforehand, so Holm and Bonferroni share the safe planning bound alpha/m.
    """
    check_probability("alpha", alpha, open_ends=True)
    if contrasts < 1:
        raise StatisticsError(f"a family holds at least one contrast, not {contrasts}")
    if correction not in ("holm", "bonferroni", "none"):
        raise StatisticsError(f"correction is holm, bonferroni or none, not {correction!r}")
    return alpha if correction == "none" else alpha / contrasts


def _known(p_values: Sequence[float | None]) -> list[tuple[int, float]]:
    known = [(index, float(p)) for index, p in enumerate(p_values) if p is not None]
    for _, p in known:
        if np.isnan(p) or not 0.0 <= p <= 1.0:
            raise StatisticsError(f"a P value lies between 0 and 1, not {p}; give None for not estimable")
    return known
