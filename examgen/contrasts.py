"""Differences between endpoints, paired by item."""

from __future__ import annotations

from typing import Any

from examgen.accuracy import plain, resampled
from examgen.result_rows import Row, number, result
from examgen.scores import Answers
from examgen.statistics.bootstrap import Replicates
from examgen.statistics.estimate import Estimate
from examgen.statistics.paired import compare_pairs
from examgen.study import Statistics

_CONTRASTS = {
    "gain": "difference of accuracy, first minus second", "p_exact": "exact McNemar P", "p_midp": "mid-p McNemar P",
    "p_holm": "exact McNemar P, Holm", "cluster_p": "clustered t P", "cluster_p_holm": "clustered t P, Holm",
    "sign_flip_p": "cluster sign-flip P", "first_only": "items only the first is right on",
    "second_only": "items only the second is right on", "minimum_gain": "minimum detectable difference",
    "items_needed": "items needed",
}


def contrast_rows(answers: Answers, settings: Statistics, drawn: Replicates | None = None) -> list[Row]:
    """Rows of `contrasts`: every pair of primary endpoints, and every primary endpoint against every baseline.

    The two are separate families for Holm. Endpoints of the writer's own model stay out of both. `drawn` is
    `resampled` over construction batches, where it was computed already.
    """
    primary = [answers.names[column] for column in answers.columns("primary")]
    baselines = [answers.names[column] for column in answers.columns("baseline")]
    inner = [(one, two) for place, one in enumerate(primary) for two in primary[place + 1 :]]
    outer = [(one, two) for one in primary for two in baselines]
    drawn = drawn or resampled(answers, settings, "construction_batch")
    rows: list[Row] = []
    for scope, pairs in (("primary endpoints", inner), ("primary against baselines", outer)):
        if not pairs:
            continue
        frame = compare_pairs(
            answers.scores, answers.names, pairs=pairs, clusters=answers.labels("topic"), level=settings.confidence
        )
        for row in frame.to_dict("records"):
            rows += _pair_rows(row, scope, drawn, answers.names, settings)
    return rows


def _pair_rows(
    row: dict[Any, Any], scope: str, drawn: Replicates, names: list[str], settings: Statistics
) -> list[Row]:
    labels = {"endpoint_a": str(row["first"]), "endpoint_b": str(row["second"]), "scope": scope}
    n = int(row["n"])
    level = f"{settings.confidence:.0%}"
    found = []
    for column, statistic in _CONTRASTS.items():
        value = plain(row[column])
        note = str(row["note"] or "") if value is not None else str(row["note"] or "") or "not defined for this pair"
        if column == "gain":
            limits = plain(row["gain_low"]), plain(row["gain_high"])
            estimate = Estimate(value, *limits, f"Tango score interval, {level}", n, None, str(row["verdict"]))
            found.append(result(statistic, estimate, **labels))
        else:
            found.append(number(statistic, value, f"paired items, {statistic}", n, note, **labels))
    first, second = names.index(labels["endpoint_a"]), names.index(labels["endpoint_b"])
    clustered = Estimate(
        plain(row["gain"]), plain(row["cluster_low"]), plain(row["cluster_high"]),
        f"clustered t interval over topics, {level}", n, None, "" if n else "no item scored for both",
    )
    joint = drawn.difference(first, second, level=settings.confidence)
    return [
        *found, result("difference, topics resampled", clustered, **labels),
        result("difference, joint bootstrap", joint, **labels),
    ]
