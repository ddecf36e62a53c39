"""Does an endpoint answer the content or the place? Stability, score changes and tests over cyclic option orders."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examgen.result_rows import Row, number, result, unknown
from examgen.scores import Answers
from examgen.statistics.estimate import Estimate
from examgen.statistics.multiplicity import holm
from examgen.statistics.order import (
    MISSING,
    OrderTest,
    cochran_q,
    order_stability,
    position_test,
    recall_by_position,
)
from examgen.statistics.ranks import rank_correlation

Array = NDArray[Any]

PERMUTATIONS = 2_000
STATISTICS = (
    "strict stability", "pairwise stability", "mean score change", "largest score change", "position test P",
    "position test P, Holm", "Cochran's Q P", "Cochran's Q P, Holm", "spread of recall by key place",
)
_METHOD = "cyclic option orders, answers mapped back to content"


def answers_by_order(answers: Answers, column: int) -> tuple[Array, Array, Array]:
    """Items asked in two or more orders of one endpoint: places, content chosen and correctness.

    (n,), (n, orders) with -1 for no answer, (n, orders) of 1, 0, nan. Lowest repeat only.
    """
    mine = np.flatnonzero((answers.endpoint == column) & ~answers.stemless)
    mine = mine[np.argsort(answers.repeat[mine], kind="stable")[::-1]]  # the lowest repeat is written last
    if not mine.size:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0))
    width = max(int(answers.order[mine].max()) + 1, int(answers.n_options.max()))
    chosen = np.full((len(answers.items), width), MISSING, dtype=np.int64)
    right = np.full((len(answers.items), width), np.nan)
    asked = np.zeros((len(answers.items), width), dtype=bool)
    where = answers.item[mine], answers.order[mine]
    chosen[where] = answers.choice[mine]
    right[where] = np.where(answers.correct[mine] >= 0, answers.correct[mine], np.nan)
    asked[where] = True
    several = np.flatnonzero(asked.sum(axis=1) > 1)
    return several, chosen[several], right[several]


def option_order_rows(answers: Answers, seed: int = 0) -> list[Row]:
    """Rows of `option_order` for each endpoint and for the panel; "not estimable" without a second order."""
    rows: list[Row] = []
    tests: dict[str, tuple[OrderTest, OrderTest]] = {}
    scores: dict[str, Array] = {}
    for column, name in enumerate(answers.names):
        places, chosen, right = answers_by_order(answers, column)
        if not places.size:
            rows += [
                unknown(s, _METHOD, "asked in one option order only", endpoint_id=name, scope="pilot")
                for s in STATISTICS
            ]
            continue
        scope = "bank" if places.size == len(answers.items) else "pilot"
        labels = {"endpoint_id": name, "scope": scope}
        options = answers.n_options[places].astype(np.int64)
        rows += _stability_rows(chosen, options, labels)
        by_order = _order_scores(right)
        scores[name] = by_order
        rows += _change_rows(by_order, places.size, labels)
        place = _by_key_place(right, answers.keys[places], options)
        spread = recall_by_position(place)[1]
        note = "standard deviation of accuracy over the places of the key" if spread is not None else "a place is empty"
        rows.append(number(STATISTICS[8], spread, _METHOD, places.size, note, **labels))
        rotated = _as_rotations(chosen, options)
        preference = position_test(rotated, options, permutations=PERMUTATIONS, seed=seed)
        tests[name] = preference, _q(place, options)
        for statistic, test in ((STATISTICS[4], tests[name][0]), (STATISTICS[6], tests[name][1])):
            rows.append(_test_row(statistic, test, labels))
    return rows + _holm_rows(tests, rows) + _panel_rows(scores)


def _stability_rows(chosen: Array, options: Array, labels: dict[str, str]) -> list[Row]:
    found = order_stability(chosen[:, : int(options.max())], options)
    size = int(found["n"] or 0)
    note = f"{found['unread']} answers unread, {found['changed']} items changed"
    return [
        number("strict stability", found["strict"], f"{_METHOD}; an unread answer is unstable", size, note, **labels),
        number("pairwise stability", found["pairwise"], f"{_METHOD}; readable pairs", size, note, **labels),
    ]


def _order_scores(right: Array) -> Array:
    """Accuracy under each order that has a resolved answer, nan elsewhere."""
    seen = ~np.isnan(right)
    total = np.nansum(right, axis=0)
    scores: Array = np.divide(total, seen.sum(axis=0), out=np.full(total.shape, np.nan), where=seen.any(axis=0))
    return scores


def _change_rows(by_order: Array, size: int, labels: dict[str, str]) -> list[Row]:
    changes = np.abs(by_order[1:] - by_order[0]) if by_order.size else np.zeros(0)
    changes = changes[~np.isnan(changes)]
    rows = []
    for name, reduce in (("mean score change", np.mean), ("largest score change", np.max)):
        value = float(reduce(changes)) if changes.size else None
        note = f"{changes.size} other orders against the bank's own" if changes.size else "no second order was resolved"
        rows.append(number(name, value, f"{_METHOD}; absolute difference of accuracy", size, note, **labels))
    return rows


def _as_rotations(chosen: Array, options: Array) -> Array:
    """Columns as `position_test` counts rotations: ours shows option s at place s - order, its at s + order."""
    width = int(options.max())
    turned = np.full((chosen.shape[0], width), MISSING, dtype=np.int64)
    for order in range(min(chosen.shape[1], width)):
        fits = order < options
        turned[np.flatnonzero(fits), (-order) % options[fits]] = chosen[fits, order]
    return turned


def _by_key_place(right: Array, keys: Array, options: Array) -> Array:
    """(n, places): correctness by the place at which the key stood, nan where it never stood or was unresolved."""
    width = int(options.max())
    table = np.full((right.shape[0], width), np.nan)
    for order in range(min(right.shape[1], width)):
        fits = order < options
        table[np.flatnonzero(fits), (keys[fits].astype(np.int64) - order) % options[fits]] = right[fits, order]
    return table


def _q(place: Array, options: Array) -> OrderTest:
    """Cochran's Q on the items with the commonest number of options."""
    common = int(np.bincount(options).argmax())
    return cochran_q(place[options == common][:, :common])


def _test_row(statistic: str, test: OrderTest, labels: dict[str, str]) -> Row:
    detail = "" if test.statistic is None else f"statistic {test.statistic:.2f}"
    note = "; ".join(part for part in (detail, test.note) if part)
    return result(statistic, Estimate(test.p, None, None, test.method, test.n, test.seed, note), **labels)


def _holm_rows(tests: dict[str, tuple[OrderTest, OrderTest]], rows: list[Row]) -> list[Row]:
    """The two P values of each endpoint, adjusted over endpoints."""
    scope = {row["endpoint_id"]: row["scope"] for row in rows}
    found = []
    for place, statistic in ((0, STATISTICS[5]), (1, STATISTICS[7])):
        adjusted = holm([pair[place].p for pair in tests.values()])
        for (name, pair), p in zip(tests.items(), adjusted, strict=True):
            note = "" if p is not None else pair[place].note
            method = f"{pair[place].method}, Holm over {len(tests)} endpoints"
            found.append(number(statistic, p, method, pair[place].n, note, endpoint_id=name, scope=scope[name]))
    return found


def _panel_rows(scores: dict[str, Array]) -> list[Row]:
    """Mean and largest change over the panel, and the rank correlation of endpoints between orders."""
    labels = {"endpoint_id": "all", "scope": "panel"}
    names = ("mean score change", "largest score change", "lowest rank correlation between orders")
    if not scores:
        return [unknown(name, _METHOD, "asked in one option order only", **labels) for name in names]
    width = min(values.size for values in scores.values())
    grid = np.array([values[:width] for values in scores.values()])
    grid = grid[:, ~np.isnan(grid).any(axis=0)]
    size = len(scores)
    if grid.shape[1] < 2:
        return [unknown(name, _METHOD, "no two orders resolved for every endpoint", size, **labels) for name in names]
    moved = np.abs(grid[:, 1:] - grid[:, :1])
    rows = [
        number(names[0], float(moved.mean()), f"{_METHOD}; mean over endpoints and other orders", size, **labels),
        number(names[1], float(moved.max()), f"{_METHOD}; over endpoints and other orders", size, **labels),
    ]
    found = [rank_correlation(grid[:, one], grid[:, two]) for one, two in combinations(range(grid.shape[1]), 2)]
    known = [estimate for estimate in found if estimate.value is not None]
    if not known:
        return [*rows, unknown(names[2], "Spearman over endpoints", found[0].note, size, **labels)]
    lowest = min(known, key=lambda estimate: estimate.value or 0.0)
    return [*rows, result(names[2], lowest, **labels)]
