"""What the sections on planned contrasts, groups of items, nested arms, tiers and the abstention probe show."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from examgen.records import BankItem
from examgen.report.numbers import (
    NOT_ESTIMABLE,
    Row,
    decimal,
    every,
    interval,
    p_value,
    percent,
    points,
    whole,
)
from examgen.statistics.sizing import discordance_floor

Results = Mapping[str, Sequence[Row]]
MOST_PAIRS = 30
MOST_ITEMS = 12
"""Items named for each side of a step; the table `increments` has all."""
VERDICTS = {
    "resolved": "a difference was found",
    "unresolved": "no difference was found, and one may be there",
    "underpowered": "these items could hardly have found the difference",
}


def comparisons(results: Results, bank: Sequence[BankItem], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Everything the template of these sections needs."""
    pairs = every(results["pair_comparisons"], axis="overall")
    return {
        "told": verdict_sentence(pairs), "pairs": [_pair(row) for row in pairs[:MOST_PAIRS]], "count": len(pairs),
        "planned": " or ".join(dict.fromkeys(row["planned"] for row in pairs if row["planned"])),
        "notes": pair_notes(pairs[:MOST_PAIRS]),
        "smallest": smallest_gains(results["sizing"]), "groups": group_table(results), "levels": level_notes(results),
        "systems": systems(results, bank), "tiers": tiers(bank, manifest), "probe": probe_table(results),
        "stops": [
            (row["endpoint_id"], percent(row["value"]), percent(row["high"]), whole(row["n"]))
            for row in every(results.get("abstention", ()), statistic="hard-stop violations")
            if row["value"] is not None
        ],
    }  # fmt: skip


def verdict_sentence(pairs: Sequence[Row]) -> str:
    """How many pairs got which verdict, each with what it means; empty without pairs."""
    counts = Counter(row["verdict"] for row in pairs)
    told = [f"{counts[name]} {name} ({meaning})" for name, meaning in VERDICTS.items() if counts[name]]
    return f"Of {len(pairs)} pairs: {'; '.join(told)}." if told else ""


def _pair(row: Row) -> dict[str, Any]:
    planned = row["planned"]
    return {
        "family": row["family"], "first": row["first"], "second": row["second"],
        "gain": points(row["gain"]), "limits": _points(row, "gain_low", "gain_high"),
        "split": f"{whole(row['first_only'])} / {whole(row['second_only'])}",
        "exact": p_value(row["p_exact"]), "midp": p_value(row["p_midp"]), "holm": p_value(row["p_holm"]),
        "clustered": p_value(row["cluster_p_holm"]), "flip": p_value(row["sign_flip_p"]),
        "effect": decimal(row["design_effect"], 2), "least": points(row["minimum_gain"]),
        "power": percent(row["power_planned"]) if planned else "–",
        "needed": f"{whole(row['items_needed'])}{'' if planned else ' *'}" if row["items_needed"] else NOT_ESTIMABLE,
        "verdict": row["verdict"],
    }  # fmt: skip


def pair_notes(pairs: Sequence[Row]) -> list[tuple[str, str]]:
    """Cautions of the pairs, each with the pairs it holds for."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in pairs:
        for note in filter(None, (row["note"] or "").split("; ")):
            found[note].append(f"{row['first']} − {row['second']}")
    return [(note, ", ".join(names)) for note, names in found.items()]


def _points(row: Row, low: str, high: str) -> str:
    return NOT_ESTIMABLE if row[low] is None or row[high] is None else f"{points(row[low])} to {points(row[high])}"


def smallest_gains(sizing: Sequence[Row]) -> list[tuple[str, str]]:
    """For any pair: the share of items that go the other way, and the smallest gain this bank then detects."""
    rows = every(sizing, contrast="any pair", statistic="minimum detectable difference")
    return [(row["scope"].split()[0].removesuffix("%"), points(row["value"])) for row in rows]


def group_table(results: Results) -> list[dict[str, str]]:
    """Pairs by stratum and by tier: the gain at each level and the test that it is the same at all."""
    gains: dict[tuple[str, ...], dict[str, Row]] = defaultdict(dict)
    for row in results["pair_comparisons"]:
        if row["axis"] != "overall":
            gains[row["family"], row["axis"], row["first"], row["second"]][row["level"]] = row
    table = []
    for test in results["pair_interactions"]:
        if test["p"] is None:
            continue
        mine = gains[test["family"], test["axis"], test["first"], test["second"]]
        levels = [mine[level] for level in test["levels"].split(", ") if level in mine]
        table.append({
            "family": test["family"], "axis": test["axis"], "pair": f"{test['first']} − {test['second']}",
            "gains": "; ".join(
                f"{row['level']} {points(row['gain'])} of {row['n']} ({row['first_only']}/{row['second_only']})"
                for row in levels
            ),
            "p": p_value(test["p"]), "holm": p_value(test["p_holm"]), "permutation": p_value(test["p_permutation"]),
            "difference": points(test["difference"]) if test["difference"] is not None else "–",
            "limits": "–" if test["difference"] is None else _points(test, "low", "high"),
            "verdict": "differs" if test["p_holm"] is not None and test["p_holm"] < 0.05 else "unresolved",
        })  # fmt: skip
    return table


def level_notes(results: Results) -> str:
    """How many comparisons within groups could not have been significant whatever the answers; empty when none."""
    within = [row for row in results["pair_comparisons"] if row["axis"] != "overall"]
    short = sum(row["verdict"] == "underpowered" for row in within)
    if not short:
        return ""
    return (
        f"{short} of {len(within)} comparisons within a stratum or tier are underpowered: too few items told the two "
        "apart for any outcome to be significant. They say nothing of equality."
    )


def systems(results: Results, bank: Sequence[BankItem]) -> list[dict[str, Any]]:
    """Each system with nested configurations: its steps, and the questions each step fixed and broke.

    A step that changed fewer items than any outcome needs to be significant is underpowered.
    """
    stems = {item.item_id: item.stem for item in bank}
    found: dict[str, dict[str, Any]] = {}
    for row in results["increments"]:
        system = found.setdefault(row["system"], {"name": row["system"], "steps": [], "notes": []})
        system["steps"].append(_step(row, stems))
        system["floor"] = discordance_floor(0.05 / len(system["steps"]))
        if row["note"] and row["note"] not in system["notes"]:
            system["notes"].append(row["note"])
    for system in found.values():
        for step in system["steps"]:
            if step["verdict"] != "resolved" and step["changed"] < system["floor"]:
                step["verdict"] = "underpowered"
    return list(found.values())


def _step(row: Row, stems: Mapping[str, str]) -> dict[str, Any]:
    resolved = row["p_holm"] is not None and row["p_holm"] < 0.05
    costs = [row.get(name) for name in ("calls_before", "calls_after", "cost_before", "cost_after")]
    return {
        "before": row["before"], "after": row["after"], "n": whole(row["n"]),
        "right": f"{whole(row['before_right'])} to {whole(row['after_right'])}",
        "fixed": whole(row["fixed"]), "broken": whole(row["broken"]), "gain": points(row["gain"]),
        "limits": _points(row, "gain_low", "gain_high"), "exact": p_value(row["p_exact"]),
        "holm": p_value(row["p_holm"]),
        "calls": "not recorded" if costs[0] is None or costs[1] is None else f"{whole(costs[0])} to {whole(costs[1])}",
        "cost": "unknown" if costs[2] is None or costs[3] is None else f"{costs[2]:,.4g} to {costs[3]:,.4g}",
        "verdict": "resolved" if resolved else "unresolved", "changed": row["changed"],
        "items": [
            (name, len(found), [stems.get(item, item) for item in found[:MOST_ITEMS]])
            for name in ("fixed", "broken")
            for found in [row[f"{name}_items"] or ()]
        ],
    }  # fmt: skip


def tiers(bank: Sequence[BankItem], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Tiers of the bank: their counts, the keys they rest on, and when they were fixed."""
    note = manifest.get("key_release") or {}
    counts = note.get("counts") or dict(sorted(Counter(item.tier or "not recorded" for item in bank).items()))
    return {
        "counts": counts, "reasons": note.get("reasons") or {},
        "sources": ", ".join(f"{name} ({kind})" for name, kind in (note.get("sources") or {}).items()),
        "model_only": bool(note) and "human" not in (note.get("sources") or {}).values(),
        "keys": (note.get("rule") or {}).get("unanimous_keys"), "fixed": note.get("fixed", ""),
        "hash": note.get("tier_hash") or manifest.get("tier_hash") or "",
        "agreement": percent((note.get("agreement") or {}).get("percent_agreement")),
        "ac1": decimal((note.get("agreement") or {}).get("gwet_ac1")),
    }  # fmt: skip


_PROBE = (
    "abstention on the probe", "forced commitment on the probe", "over-abstention on answerable items",
    "coverage of answerable items", "accuracy where answered",
)  # fmt: skip


def probe_table(results: Results) -> dict[str, Any]:
    """The abstention probe, a line an endpoint; without lines, the reason, or "" where there is no probe at all."""
    rows = results.get("abstention", ())
    lines = []
    for name in dict.fromkeys(row["endpoint_id"] for row in rows):
        mine = {row["statistic"]: row for row in every(rows, endpoint_id=name)}
        if "separation" not in mine:
            continue
        lines.append({
            "endpoint": name, "cells": [interval(mine.get(statistic), 0) for statistic in _PROBE],
            "n": [whole(mine[statistic]["n"]) if statistic in mine else "" for statistic in (_PROBE[0], _PROBE[2])],
            "separation": points(mine["separation"]["value"]), "unresolved": whole(mine["unresolved"]["value"]),
        })  # fmt: skip
    unknown = [row["note"] for row in rows if row["statistic"] == _PROBE[0] and row["value"] is None]
    reason = unknown[0] if unknown and not lines else ""
    return {"lines": lines, "reason": reason}


