"""Items whose key is at risk: endpoints that agree on one and the same wrong option."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examgen.difficulty import FEWEST_PRIMARY, too_few
from examgen.records import NOT_RECORDED
from examgen.result_rows import Row, number, unknown
from examgen.scores import Answers

Array = NDArray[Any]

MAJORITY = "majority same wrong option"
STRICT = "all families same wrong option"
REMOVAL_NOTE = (
    "removing a queue can only raise the mean score of a panel that is right on half of the items or more: most "
    "endpoints miss its items by construction"
)
STATED = "a queue sets priorities for review, it does not decide"


def votes(choices: Array, keys: Array, options: int) -> tuple[Array, Array]:
    """The wrong option most endpoints chose and how many did, (n_items,) each; -1 and 0 where none did.

    `choices` (n_items, n_endpoints) bank places, -1 = no vote. Among equals the first option in the bank's order.
    """
    counts = np.stack([(choices == place).sum(axis=1) for place in range(options)], axis=1)
    counts[np.arange(len(keys)), keys] = 0
    option = counts.argmax(axis=1)
    most = counts.max(axis=1, initial=0)
    return np.where(most > 0, option, -1), most


def majority_queue(answers: Answers) -> tuple[Array, Array, Array]:
    """In the queue or not, option and votes: at least half of the primary endpoints + 1 chose one wrong option."""
    columns = answers.columns("primary")
    option, most = votes(answers.choices[:, columns], answers.keys, int(answers.n_options.max(initial=1)))
    return most >= len(columns) // 2 + 1, option, most


def families(answers: Answers) -> dict[str, list[int]]:
    """Columns of the primary endpoints by family; an endpoint without a recorded family is its own."""
    found: dict[str, list[int]] = {}
    for column in answers.columns("primary"):
        row = answers.endpoints[column]
        name = row.family if row.family not in ("", NOT_RECORDED) else row.endpoint_id
        found.setdefault(name, []).append(column)
    return dict(sorted(found.items()))


def family_votes(answers: Answers, groups: Sequence[Sequence[int]]) -> Array:
    """(n_items, n_families): the option more than half of a family's endpoints chose, -1 when there is none."""
    width = int(answers.n_options.max(initial=1))
    chosen = np.full((len(answers.items), len(groups)), -1, dtype=np.int16)
    for place, columns in enumerate(groups):
        part = answers.choices[:, list(columns)]
        for option in range(width):
            chosen[(part == option).sum(axis=1) * 2 > len(columns), place] = option
    return chosen


def strict_queue(answers: Answers, names: Sequence[str] | None = None) -> tuple[Array, Array, Array]:
    """In the queue or not, option and votes: every prespecified family (default: all) chose the same wrong option."""
    groups = families(answers)
    chosen = family_votes(answers, [groups[name] for name in (names or list(groups))])
    option, most = votes(chosen, answers.keys, int(answers.n_options.max(initial=1)))
    return (most == chosen.shape[1]) & (most > 0), option, most


def estimable(answers: Answers, queue: str) -> str:
    """Why a queue cannot be formed; empty when it can."""
    primary = len(answers.columns("primary"))
    if primary < FEWEST_PRIMARY:
        return too_few(primary)
    kinds = len(families(answers))
    if queue == STRICT and kinds < FEWEST_PRIMARY:
        return f"{kinds} families among the primary endpoints: at least {FEWEST_PRIMARY} are needed"
    return ""


def queues(answers: Answers) -> dict[str, tuple[Array, Array, Array]]:
    """The queues that can be formed, by name."""
    found = {}
    for name, build in ((MAJORITY, majority_queue), (STRICT, strict_queue)):
        if not estimable(answers, name):
            found[name] = build(answers)
    return found


def key_risk_rows(answers: Answers) -> list[Row]:
    """Rows of `key_risk`, a review list: item, the option chosen instead, the votes and the evidence."""
    rows = []
    seen = (answers.choices[:, answers.columns("primary")] >= 0).sum(axis=1)
    for name, (inside, option, most) in queues(answers).items():
        for place in np.flatnonzero(inside):
            item = answers.items[int(place)]
            rows.append(
                {
                    "item_id": item.item_id, "queue": name, "option": int(option[place]), "votes": int(most[place]),
                    "seen": int(seen[place]), "stem": item.stem, "key_text": item.options[item.key],
                    "chosen_text": item.options[int(option[place])],
                    "quotes": " | ".join(evidence.quote for evidence in item.evidence), "note": STATED,
                }
            )
    return rows


def removal_rows(answers: Answers) -> list[Row]:
    """Rows of `accuracy`: how far each endpoint's score moves when a queue is taken out (share of items)."""
    rows = []
    formed = queues(answers)
    method = "accuracy without the queue minus accuracy with it"
    for queue in (MAJORITY, STRICT):
        for column, name in enumerate(answers.names):
            labels = {"endpoint_id": name, "axis": "without queue", "level": queue}
            if queue not in formed:
                rows.append(unknown("accuracy change", method, estimable(answers, queue), **labels))
                continue
            inside = formed[queue][0]
            score = answers.scores[:, column]
            known = ~np.isnan(score)
            kept = known & ~inside
            if not kept.any():
                rows.append(unknown("accuracy change", method, "no item is left", **labels))
                continue
            change = float(score[kept].mean() - score[known].mean())
            note = f"{int(inside.sum())} items in the queue; {REMOVAL_NOTE}"
            rows.append(number("accuracy change", change, method, int(kept.sum()), note, **labels))
    return rows
