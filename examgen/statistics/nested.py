"""Nested configurations of one system: what each added component fixed and what it broke."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from examgen.errors import StatisticsError
from examgen.statistics.estimate import Estimate, FloatArray, score_matrix
from examgen.statistics.intervals import tango
from examgen.statistics.mcnemar import mcnemar_p
from examgen.statistics.multiplicity import holm


@dataclass(frozen=True, slots=True)
class Increment:
    """One step from `before` to `after`.

    `fixed`: items wrong before and right after (b); `broken`: right before and wrong after (c), as given in
    `item_ids`. `gain` is (fixed - broken)/n with its Tango interval. P values are exact and mid-p McNemar,
    `p_holm` over all rows of the analysis, the total included.
    """

    before: str
    after: str
    n: int
    before_right: int
    after_right: int
    fixed: tuple[str, ...]
    broken: tuple[str, ...]
    gain: Estimate
    p_exact: float
    p_midp: float
    p_holm: float


def nested_increments(
    scores: ArrayLike,
    arms: Sequence[str],
    item_ids: Sequence[str] | None = None,
    *,
    level: float = 0.95,
) -> list[Increment]:
    """Steps between consecutive arms and, with three arms or more, the total from first to last.

    `scores` (n_items, n_arms), columns in nesting order (backbone, + orchestration, + verifier): 1, 0, nan.
    Items missing in any arm are left out of all, so that the steps add up to the total exactly.
    """
    matrix, names = score_matrix(scores), list(arms)
    if len(names) != matrix.shape[1] or len(names) < 2 or len(set(names)) != len(names):
        raise StatisticsError("nested arms need two columns of scores or more, each with its own name")
    ids = [str(i) for i in range(matrix.shape[0])] if item_ids is None else [str(i) for i in item_ids]
    if len(ids) != matrix.shape[0]:
        raise StatisticsError(f"{len(ids)} item ids for {matrix.shape[0]} items")
    complete = np.asarray(~np.isnan(matrix).any(axis=1))
    kept = [identifier for identifier, ok in zip(ids, complete.tolist(), strict=True) if ok]
    steps = [(i, i + 1) for i in range(len(names) - 1)]
    if len(names) > 2:
        steps.append((0, len(names) - 1))
    drafts = [_step(matrix[complete], kept, names, i, j, level) for i, j in steps]
    adjusted = holm([draft.p_exact for draft in drafts])
    return [
        Increment(
            draft.before, draft.after, draft.n, draft.before_right, draft.after_right, draft.fixed,
            draft.broken, draft.gain, draft.p_exact, draft.p_midp, float(p if p is not None else 1.0),
        )
        for draft, p in zip(drafts, adjusted, strict=True)
    ]  # fmt: skip


def increment_table(increments: Sequence[Increment]) -> pd.DataFrame:
    """The increments as rows: before, after, n, before_right, after_right, fixed, broken (counts), gain..."""
    rows = [
        {
            "before": step.before, "after": step.after, "n": step.n, "before_right": step.before_right,
            "after_right": step.after_right, "fixed": len(step.fixed), "broken": len(step.broken),
            "changed": len(step.fixed) + len(step.broken), "gain": step.gain.value,
            "gain_low": step.gain.low, "gain_high": step.gain.high, "p_exact": step.p_exact,
            "p_midp": step.p_midp, "p_holm": step.p_holm,
        }
        for step in increments
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    return frame.astype({"gain": "Float64", "gain_low": "Float64", "gain_high": "Float64"}) if rows else frame


def _step(matrix: FloatArray, ids: list[str], names: list[str], i: int, j: int, level: float) -> Increment:
    before, after = matrix[:, i], matrix[:, j]
    fixed = tuple(ids[k] for k in np.flatnonzero((before == 0) & (after == 1)))
    broken = tuple(ids[k] for k in np.flatnonzero((before == 1) & (after == 0)))
    b, c = len(fixed), len(broken)
    return Increment(
        names[i], names[j], len(ids), int((before == 1).sum()), int((after == 1).sum()), fixed, broken,
        tango(b, c, len(ids), level=level), mcnemar_p(b, c), mcnemar_p(b, c, "midp"), 1.0,
    )  # fmt: skip
