"""Two banks asked of one panel: accuracy by stratum side by side. Their items are disjoint, so nothing is paired."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from examgen.accuracy import plain
from examgen.records import STRATA
from examgen.result_rows import Row, result
from examgen.scores import Answers
from examgen.statistics.accuracy import accuracy_by
from examgen.statistics.estimate import Estimate

AXIS = "bank and stratum"
DISJOINT = "disjoint items: compare by their intervals, not by pairs"


def beside_rows(banks: Mapping[str, Answers], level: float = 0.95) -> list[Row]:
    """Rows of `accuracy` by bank and stratum, for the endpoints that all banks were asked of.

    Axis "bank and stratum", levels such as "this bank: easy" and "this bank: all"; intervals are clustered by topic.
    """
    shared = set.intersection(*(set(answers.names) for answers in banks.values())) if banks else set()
    rows: list[Row] = []
    for name, answers in banks.items():
        columns = [place for place, endpoint in enumerate(answers.names) if endpoint in shared]
        names, scores = [answers.names[place] for place in columns], answers.mean_scores[:, columns]
        strata, topics = answers.labels("stratum"), answers.labels("topic")
        for stratum in (*STRATA, "all"):
            inside = strata == strata if stratum == "all" else strata == stratum
            if not inside.any() or not names:
                continue
            groups = [f"{name}: {stratum}"] * int(inside.sum())
            frame = accuracy_by(scores[inside], names, groups, clusters=topics[inside], level=level)
            rows += [_row(found) for found in frame.to_dict("records")]
    return rows


def _row(found: dict[Any, Any]) -> Row:
    value, low, high = (plain(found[name]) for name in ("value", "low", "high"))
    note = "; ".join(part for part in (str(found["note"] or ""), DISJOINT) if part)
    estimate = Estimate(value, low, high, str(found["method"]), int(found["n"]), None, note)
    return result("accuracy", estimate, endpoint_id=str(found["endpoint"]), axis=AXIS, level=str(found["group"]))
