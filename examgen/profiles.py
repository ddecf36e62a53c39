"""Profiles: accuracy in the cells of crossed axes, with counts, intervals and a smallest cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from examgen.result_rows import Row, result
from examgen.scores import Answers
from examgen.statistics.accuracy import accuracy_by
from examgen.statistics.estimate import Estimate

SMALLEST_CELL = 5
MOST_CELLS = 600
"""A crossing with more cells than this is a list of items, not a profile."""
BASIC_AXES = ("topic", "stratum", "question_type")


def profile_rows(
    answers: Answers, axes: Sequence[str], *, smallest: int = SMALLEST_CELL, level: float = 0.95
) -> list[Row]:
    """Rows of `profiles` for one crossing, such as ("topic", "stratum"): Wilson intervals within a cell.

    A cell with fewer than `smallest` scored items is there with its count and no number. Items without a level
    on some axis are left out.
    """
    columns = [answers.labels(axis) for axis in axes]
    kept = np.array([all(values) for values in zip(*columns, strict=True)], dtype=bool)
    cells = np.array([" × ".join(values) for values in zip(*columns, strict=True)], dtype=object)
    if not kept.any():
        return []
    frame = accuracy_by(answers.mean_scores[kept], answers.names, cells[kept], minimum=smallest, level=level)
    rows = []
    for row in frame.astype(object).where(frame.notna(), None).to_dict("records"):
        estimate = Estimate(row["value"], row["low"], row["high"], row["method"], int(row["n"]), None, row["note"])
        rows.append(
            result("accuracy", estimate, endpoint_id=row["endpoint"], axes=" × ".join(axes), cell=row["group"])
        )
    return rows


def crossings(answers: Answers) -> list[tuple[str, ...]]:
    """The pairs of axes worth crossing: two or more levels each, not too many cells, none determining the other."""
    names = [*BASIC_AXES, *answers.axis_names]
    levels = {name: {label for label in answers.labels(name) if label} for name in names}
    useful = [name for name in names if len(levels[name]) > 1]
    return [
        pair for pair in combinations(useful, 2) if len(levels[pair[0]]) * len(levels[pair[1]]) <= MOST_CELLS
    ]
