"""Limitations that the data themselves show, as sentences generated from the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from examgen.difficulty import FEWEST_PRIMARY
from examgen.records import BankItem, Coverage, EndpointRow
from examgen.report.numbers import Row, every, find, p_value, percent, value_of
from examgen.study import Study

Results = Mapping[str, Sequence[Row]]


def limitations(
    study: Study, manifest: Mapping[str, Any], bank: Sequence[BankItem], coverage: Sequence[Coverage],
    results: Results, endpoints: Sequence[EndpointRow],
) -> list[str]:
    """What a reader must know before using a number of this report; each sentence has its reason in a table."""
    return [
        *_cue_limits(results), *_panel_limits(results, endpoints), *_bank_limits(manifest, bank, coverage),
        *_power_limits(study, results, len(bank)), *_screen_limits(study, manifest),
        str(manifest.get("notice", "Built from documents by a program. Not a clinically certified examination.")),
    ]


def _cue_limits(results: Results) -> list[str]:
    found = []
    for row in every(results["cue_probe"], statistic="selector accuracy", bank="this bank"):
        p = value_of(results["cue_probe"], bank="this bank", features=row["features"], statistic="permutation P")
        null = find(
            results["cue_probe"], bank="this bank", features=row["features"], statistic="accuracy with keys at random"
        )
        if row["value"] is None or p is None or null is None:
            found.append(f"Cues from {row['features']} were not measured: {row['note'] or 'no permutation null'}.")
        elif p < 0.05:
            found.append(
                f"Residual cues above the permutation null: from {row['features']} alone a selector finds "
                f"{percent(row['value'])}% of the keys, {percent(null['value'])}% when keys are drawn at random "
                f"(P {p_value(p).replace('&lt;', 'below') if p < 0.001 else '= ' + p_value(p)})."
            )
        else:
            found.append(
                f"No cue above the permutation null was found in {row['features']} ({percent(row['value'])}% of keys, "
                f"P = {p_value(p)}); cues of meaning, which these features cannot see, are not excluded."
            )
    return found


def _panel_limits(results: Results, endpoints: Sequence[EndpointRow]) -> list[str]:
    found = []
    primary = [row.endpoint_id for row in endpoints if row.role == "primary"]
    if len(primary) < FEWEST_PRIMARY:
        found.append(
            f"The panel has {len(primary)} primary endpoint{'' if len(primary) == 1 else 's'}. Empirical difficulty, "
            f"key-risk queues and item analysis need at least {FEWEST_PRIMARY} and are not estimable here."
        )
    chance = next((row["value"] for row in results["cue_probe"] if row["statistic"] == "chance"), None)
    near = []
    for name in primary:
        row = find(results["accuracy"], endpoint_id=name, axis="overall", statistic="accuracy")
        if row and row["low"] is not None and chance is not None and row["low"] <= chance <= row["high"]:
            near.append(name)
    if near:
        found.append(
            f"The interval of {_listed(near)} holds chance ({percent(chance)}%): on this bank its answers cannot be "
            "told from guessing, so differences between topics or strata within it are noise."
        )
    lost = [row for row in every(results["accuracy"], axis="overall", statistic="unresolved") if row["value"]]
    if lost:
        worst = max(lost, key=lambda row: (row["value"], row["endpoint_id"]))
        found.append(
            f"Unresolved rows: {len(lost)} of the endpoints have some, at most {percent(worst['value'])}% "
            f"({worst['endpoint_id']}); they are left out of accuracies, counted as wrong beside them, and bounded."
        )
    if any(row.role == "construction_overlap" for row in endpoints):
        names = [row.endpoint_id for row in endpoints if row.role == "construction_overlap"]
        found.append(f"{_listed(names)} took part in writing the items and is left out of every panel statistic.")
    if not any(row["value"] is not None for row in every(results["option_order"], statistic="strict stability")):
        found.append("Items were asked in one option order only: preferences for a position were not measured.")
    return found


def _bank_limits(
    manifest: Mapping[str, Any], bank: Sequence[BankItem], coverage: Sequence[Coverage]
) -> list[str]:
    found = []
    if any(str(writer).startswith("rules") for writer in manifest.get("writers", ())):
        found.append(
            "Items were written by rules that vary critical facts of a statement, not by a person or a language model: "
            "they test statements of the documents, and their wording is narrower than an examiner's."
        )
    missing = [row.concept for row in coverage if not row.covered]
    if missing:
        found.append(f"{len(missing)} of {len(coverage)} checklist concepts are not covered: {_listed(missing, 8)}.")
    bare = [row.concept for row in coverage if row.covered and row.items == 0]
    if bare:
        found.append(f"The subtopics of {len(bare)} covered checklist concepts have no item: {_listed(bare, 8)}.")
    short = manifest.get("shortfalls") or []
    if short:
        lacking = sum(row["wanted"] - row["locked"] for row in short)
        found.append(
            f"{len(short)} combinations of subtopic and stratum got fewer items than asked for ({lacking} in all): "
            "counts by stratum are unequal, and averages over the bank weigh the well-served topics more."
        )
    flagged = sum(bool(item.flags) for item in bank)
    if flagged:
        found.append(f"{flagged} of {len(bank)} locked items carry a flag of the audits (tier B).")
    topics = len({item.topic for item in bank})
    if topics < 10:
        found.append(f"Only {topics} topics: intervals that resample topics are wide, and uncertain themselves.")
    return found


def _power_limits(study: Study, results: Results, items: int) -> list[str]:
    needed = value_of(results["sizing"], contrast="all", statistic="items needed")
    found = []
    if needed is not None and items < needed:
        found.append(
            f"The bank holds {items} items; the declared contrasts need {needed:,.0f} "
            f"(power {study.sizing.power:.0%}). A difference that is not resolved is no evidence of equality."
        )
    return found


def _screen_limits(study: Study, manifest: Mapping[str, Any]) -> list[str]:
    review = manifest.get("facts", {}).get("review")
    if review:
        people = len({*review["reviewers"], *(name for one in review.get("earlier", []) for name in one["reviewers"])})
        items = review["items_reviewed"] + sum(one["items_reviewed"] for one in review.get("earlier", []))
        reviewed = f"Reviewers ({people}) decided on {items} items; nobody reviewed the others."
    else:
        reviewed = "No person has reviewed the keys."
    if not manifest.get("facts"):
        return [f"How the items were written, audited and screened is not recorded with this bank. {reviewed}"]
    if study.screen.method == "rules":
        fresh = study.screen.context == "fresh"
        seen = "the item's own and freshly searched passages" if fresh else "the stored passages"
        return [f"Consistency was screened by rules against {seen}. {reviewed}"]
    if not study.screen.second_endpoint:
        return [f"Consistency was screened by one model family. {reviewed}"]
    return [reviewed]


def _listed(names: Sequence[str], most: int = 6) -> str:
    shown = [str(name) for name in names[:most]]
    rest = len(names) - len(shown)
    if rest:
        return f"{', '.join(shown)} and {rest} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else "none"
