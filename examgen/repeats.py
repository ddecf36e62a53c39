"""The same question asked again in the same order: how far an endpoint repeats itself."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examgen.result_rows import Row, number, result, unknown
from examgen.scores import Answers
from examgen.statistics.estimate import Estimate
from examgen.statistics.intervals import wilson

STATISTICS = ("same answer in all repeats", "same answer in pairs of repeats", "accuracy over repeats")


def repeat_rows(answers: Answers, level: float = 0.95) -> list[Row]:
    """Rows of `reliability` for each endpoint that was asked more than once, scope its name.

    same answer in all repeats: share of items, Wilson; an unread answer is another answer.
    same answer in pairs of repeats: mean over items of the share of readable pairs that agree.
    accuracy over repeats: mean of the repeats' accuracies, with the lowest and the highest as limits.
    """
    rows: list[Row] = []
    for column, name in enumerate(answers.names):
        places, chosen, right = answers.repeated(column)
        if places.size:
            rows += _endpoint_rows(name, chosen, right, level)
    if not rows:
        why = "every item was asked once an order: set panel.repeats to measure it"
        return [unknown(name, "repeats in the same order", why, scope="repeats") for name in STATISTICS]
    return rows


def _endpoint_rows(name: str, chosen: NDArray[Any], right: NDArray[Any], level: float) -> list[Row]:
    n, repeats = chosen.shape
    how = f"{repeats} repeats in the same order"
    same = (chosen == chosen[:, :1]).all(axis=1) & (chosen[:, 0] >= 0)
    strict = wilson(int(same.sum()), n, level=level)
    told = Estimate(strict.value, strict.low, strict.high, f"{how}; {strict.method}", n)
    rows = [result(STATISTICS[0], told, scope=name)]
    agree, pairs = np.zeros(n), np.zeros(n)
    for one, two in combinations(range(repeats), 2):
        readable = (chosen[:, one] >= 0) & (chosen[:, two] >= 0)
        pairs += readable
        agree += readable & (chosen[:, one] == chosen[:, two])
    known = pairs > 0
    share = float((agree[known] / pairs[known]).mean()) if known.any() else None
    rows.append(number(STATISTICS[1], share, how, int(known.sum()), "" if known.any() else "no readable pair",
                       scope=name))  # fmt: skip
    each = [float(np.nanmean(column)) for column in right.T if not np.isnan(column).all()]
    method = f"{how}: mean, lowest and highest of the repeats"
    if not each:
        return [*rows, unknown(STATISTICS[2], method, "no row was resolved", n, scope=name)]
    return [*rows, result(STATISTICS[2], Estimate(float(np.mean(each)), min(each), max(each), method, n), scope=name)]
