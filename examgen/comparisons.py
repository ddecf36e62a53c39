"""Every pair of endpoints in explicit columns: all that a paired comparison can honestly say, by stratum and tier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from examgen.planned_contrasts import family
from examgen.result_rows import Row
from examgen.scores import Answers
from examgen.sizing_section import Sizing
from examgen.statistics.discordance import Discordance
from examgen.statistics.interaction import Interaction, interaction_test
from examgen.statistics.intervals import tango_limits
from examgen.statistics.mcnemar import mcnemar_p
from examgen.statistics.multiplicity import holm
from examgen.statistics.nested import Increment, nested_increments
from examgen.statistics.paired import compare_pairs
from examgen.statistics.sizing import discordance_floor
from examgen.study import Statistics

Pair = tuple[str, str]
PERMUTATIONS = 2000
"""Of each interaction test, beside its normal test."""
_COLUMNS = (
    "n", "both_right", "first_only", "second_only", "both_wrong", "gain", "gain_low", "gain_high", "p_exact", "p_midp",
    "p_holm", "cluster_low", "cluster_high", "cluster_p", "cluster_p_holm", "sign_flip_p", "design_effect",
    "minimum_gain", "power_planned", "planning_alpha", "items_needed", "items_for", "verdict", "note",
)  # fmt: skip
_WHOLE = {"n", "both_right", "first_only", "second_only", "both_wrong", "items_needed"}
_WORDS = {"items_for", "verdict", "note"}


def families(answers: Answers) -> dict[str, list[Pair]]:
    """The pairs that are tested, by family: Holm's correction runs within one."""
    primary = [answers.names[column] for column in answers.columns("primary")]
    baselines = [answers.names[column] for column in answers.columns("baseline")]
    found = {
        "primary endpoints": list(combinations(primary, 2)),
        "primary against baselines": [(one, two) for one in primary for two in baselines],
        "nested configurations": _nested_pairs(answers),
    }
    return {name: pairs for name, pairs in found.items() if pairs}


def _nested_pairs(answers: Answers) -> list[Pair]:
    """Each arm against every configuration it contains; what an arm adds to is the second."""
    after = {row.endpoint_id: row.after for row in answers.endpoints}
    pairs = []
    for name in after:
        inner = after[name]
        while inner in after:
            pairs.append((name, inner))
            inner = after[inner]
    return pairs


def planned_pairs(sizing: Sizing | None, pairs: Sequence[Pair]) -> dict[Pair, tuple[str, Discordance]]:
    """The declared contrast each pair was sized for: by its endpoints, or the only one declared without any.

    A pair in the other direction gets the mirrored table.
    """
    found: dict[Pair, tuple[str, Discordance]] = {}
    declared = [] if sizing is None else family(sizing)
    general = [one for one in declared if one.endpoints is None]
    if len(general) == 1:
        table = general[0].contrast.discordance
        found = dict.fromkeys(pairs, (general[0].contrast.name, table))
    for one in declared:
        if one.endpoints is None:
            continue
        (first, second), table = one.endpoints, one.contrast.discordance
        if (first, second) in pairs:
            found[first, second] = (one.contrast.name, table)
        elif (second, first) in pairs:
            found[second, first] = (one.contrast.name, Discordance(table.p_c, table.p_b, table.source))
    return found


def comparison_rows(
    answers: Answers, settings: Statistics, sizing: Sizing | None = None, tiers: Mapping[str, str] | None = None
) -> tuple[list[Row], list[Row]]:
    """Rows of `pair_comparisons` and of `pair_interactions`.

    Overall rows hold every column; rows by stratum and by tier hold the tests, with Holm over the pairs of that
    level. `tiers` (item id -> tier) replaces the tiers the bank was locked with.
    """
    axes = {"stratum": answers.labels("stratum"), "tier": _tier_labels(answers, tiers)}
    alpha = sizing.alpha if sizing else 0.05
    comparisons: list[Row] = []
    interactions: list[Row] = []
    for name, pairs in families(answers).items():
        comparisons += _overall(answers, settings, sizing, name, pairs)
        for axis, labels in axes.items():
            split, tests = _by_level(answers, settings, alpha, name, pairs, axis, labels)
            comparisons += split
            interactions += tests
    return comparisons, interactions


def _tier_labels(answers: Answers, tiers: Mapping[str, str] | None) -> Any:
    if not tiers:
        return answers.labels("tier")
    return np.array([tiers.get(item.item_id, item.tier) for item in answers.items], dtype=object)


def _overall(
    answers: Answers, settings: Statistics, sizing: Sizing | None, name: str, pairs: Sequence[Pair]
) -> list[Row]:
    plans = planned_pairs(sizing, pairs)
    alpha, power = (sizing.alpha, sizing.power) if sizing else (0.05, 0.8)
    frame = compare_pairs(
        answers.scores, answers.names, pairs=list(pairs), clusters=answers.labels("topic"),
        planned={pair: table for pair, (_, table) in plans.items()}, alpha=alpha, power=power,
        level=settings.confidence,
    )  # fmt: skip
    topics = len(set(answers.labels("topic")))
    rows = []
    for found in frame.to_dict("records"):
        pair = (str(found["first"]), str(found["second"]))
        row: Row = {"family": name, "axis": "overall", "level": "all", "first": pair[0], "second": pair[1]}
        row |= {column: _plain(column, found[column]) for column in _COLUMNS}
        row |= {
            "clusters": topics, "planned": plans[pair][0] if pair in plans else "",
            "observed_effect_power": _plain("power_observed", found["power_observed"]),
        }  # fmt: skip
        rows.append(row)
    return rows


def _by_level(
    answers: Answers, settings: Statistics, alpha: float, name: str, pairs: Sequence[Pair], axis: str, labels: Any
) -> tuple[list[Row], list[Row]]:
    """Rows of every pair at every level of an axis, and the interaction test of every pair."""
    places = {endpoint: column for column, endpoint in enumerate(answers.names)}
    levels = sorted(set(labels))
    tables = np.array([
        [_table(answers.scores[labels == level][:, [places[one], places[two]]]) for level in levels]
        for one, two in pairs
    ]).reshape(len(pairs), len(levels), 4)  # fmt: skip
    rows: list[Row] = []
    for place, level in enumerate(levels):
        rows += _level_rows(tables[:, place], pairs, alpha, settings.confidence, {
            "family": name, "axis": axis, "level": level or "not recorded"
        })  # fmt: skip
    tests: list[Row] = []
    for (first, second), found in zip(pairs, tables, strict=True):
        seen = [place for place in range(len(levels)) if found[place].sum()]
        strata = [(int(found[i, 1]), int(found[i, 2]), int(found[i].sum())) for i in seen]
        test = None
        if len(strata) > 1:
            test = interaction_test(
                strata, level=settings.confidence, permutations=PERMUTATIONS, seed=settings.seed
            )
        label: Row = {"family": name, "axis": axis, "first": first, "second": second}
        tests.append(label | _interaction_row(test, [levels[i] for i in seen]))
    for row, p in zip(tests, holm([row["p"] for row in tests]), strict=True):
        row["p_holm"] = p
    return rows, tests


def _table(scores: np.ndarray) -> tuple[int, int, int, int]:
    """Both right, first only, second only, both wrong of two columns; items missing in one are left out."""
    one, two = scores[~np.isnan(scores).any(axis=1)].T == 1
    return int((one & two).sum()), int((one & ~two).sum()), int((~one & two).sum()), int((~one & ~two).sum())


def _level_rows(
    tables: np.ndarray, pairs: Sequence[Pair], alpha: float, confidence: float, label: Row
) -> list[Row]:
    """The pairs at one level that answered an item of it; Holm over them, the verdict in words."""
    told = [place for place in range(len(pairs)) if tables[place].sum()]
    if not told:
        return []
    both, b, c, none = tables[told].T
    n = both + b + c + none
    low, high = tango_limits(b, c, n, level=confidence)
    exact = [mcnemar_p(int(x), int(y)) for x, y in zip(b, c, strict=True)]
    floor = discordance_floor(alpha / len(told))
    rows = []
    for i, (place, p) in enumerate(zip(told, holm(exact), strict=True)):
        resolved = p is not None and p < alpha
        short = int(b[i] + c[i]) < floor
        note = f"fewer than {floor} discordant items: no outcome would have been significant" if short else ""
        rows.append(label | {
            "first": pairs[place][0], "second": pairs[place][1], "n": int(n[i]), "both_right": int(both[i]),
            "first_only": int(b[i]), "second_only": int(c[i]), "both_wrong": int(none[i]),
            "gain": float((b[i] - c[i]) / n[i]), "gain_low": float(low[i]), "gain_high": float(high[i]),
            "p_exact": exact[i], "p_midp": mcnemar_p(int(b[i]), int(c[i]), "midp"), "p_holm": p,
            "verdict": "resolved" if resolved else "underpowered" if short else "unresolved",
            "planning_alpha": alpha / len(told), "note": "" if resolved else note, "planned": "", "items_for": "",
        })  # fmt: skip
    return rows


def _interaction_row(test: Interaction | None, levels: Sequence[str]) -> Row:
    row: Row = {"levels": ", ".join(str(level) or "not recorded" for level in levels)}
    if test is None:
        method = "test of equal paired gains"
        reason = "fewer than two levels have items answered by both"
        return row | {"method": method, "note": reason, "p": None, "n": None}
    return row | {
        "test_statistic": test.statistic, "df": test.df, "p": test.p, "p_permutation": test.p_permutation,
        "difference": test.difference, "low": test.low, "high": test.high, "n": test.n, "seed": test.seed,
        "method": test.method, "note": test.note,
    }  # fmt: skip


def increment_rows(answers: Answers, nested: Sequence[str], settings: Statistics) -> list[Row]:
    """Rows of `increments`: what each part added to a system fixed and broke, and the whole from first to last.

    `nested` are endpoints in the order in which parts were added; fewer than two known ones give no rows.
    """
    places = {endpoint: column for column, endpoint in enumerate(answers.names)}
    arms = [name for name in nested if name in places]
    if len(arms) < 2:
        return []
    missing = [name for name in nested if name not in places]
    note = f"not in this evaluation: {', '.join(missing)}" if missing else ""
    scores = answers.scores[:, [places[name] for name in arms]]
    if not (~np.isnan(scores).any(axis=1)).any():
        return []
    steps = nested_increments(scores, arms, [item.item_id for item in answers.items], level=settings.confidence)
    return [_increment_row(step, " → ".join(arms), note) for step in steps]


def _increment_row(step: Increment, system: str, note: str) -> Row:
    return {
        "system": system, "before": step.before, "after": step.after, "n": step.n, "before_right": step.before_right,
        "after_right": step.after_right, "fixed": len(step.fixed), "broken": len(step.broken),
        "changed": len(step.fixed) + len(step.broken), "gain": step.gain.value, "gain_low": step.gain.low,
        "gain_high": step.gain.high, "p_exact": step.p_exact, "p_midp": step.p_midp, "p_holm": step.p_holm,
        "fixed_items": sorted(step.fixed), "broken_items": sorted(step.broken), "note": note,
    }  # fmt: skip


def _plain(column: str, value: Any) -> Any:
    """A cell of a frame as the table wants it; None for missing."""
    if column in _WORDS:
        return str(value or "")
    if value is None or pd.isna(value):
        return None
    return int(value) if column in _WHOLE else float(value)
