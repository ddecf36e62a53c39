"""The review round trip: what people should look at, what they decided, and the release that follows from it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from examgen.errors import InputError
from examgen.ids import canonical_json, digest, item_id, seed_of
from examgen.locking import account
from examgen.records import LETTERS, BankItem, Decision, FunnelRow, ReviewRow, ReviewVerdict
from examgen.result_rows import Row

VERDICTS: tuple[str, ...] = get_args(ReviewVerdict)
SAMPLE = "adjudication sample"


@dataclass(frozen=True)
class Release:
    """A bank after review: the items that stay, the account of all, and what the manifest says of the review."""

    items: list[BankItem]
    funnel: list[FunnelRow]
    facts: dict[str, Any]


def review_rows(
    bank: Sequence[BankItem], results: Mapping[str, Sequence[Row]], *, sample_per_cell: int = 1
) -> list[ReviewRow]:
    """The items of the key-risk and difficulty queues, and a sample by topic × difficulty bin, in the bank's order.

    The sample is drawn by item id among items that are in no queue, so that a reviewer also sees ordinary ones.
    """
    reasons: dict[str, list[str]] = defaultdict(list)
    instead: dict[str, str] = {}
    items = {item.item_id: item for item in bank}
    for row in results["key_risk"]:
        reasons[row["item_id"]].append(row["queue"])
        letter = LETTERS[row["option"]]
        instead.setdefault(row["item_id"], f"{letter}, {row['votes']} of {row['seen']}")
    cells: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in results["item_difficulty"]:
        if row["queue"] not in ("", "not estimable"):
            reasons[row["item_id"]].append(row["queue"])
        elif row["item_id"] not in reasons:
            cells[row["topic"], row["bin"]].append(row["item_id"])
    for names in cells.values():
        for name in sorted(names, key=lambda name: seed_of("adjudication", name))[:sample_per_cell]:
            reasons[name].append(SAMPLE)
    return [_row(items[name], reasons[name], instead.get(name, "")) for name in items if name in reasons]


def _row(item: BankItem, reasons: Sequence[str], instead: str) -> ReviewRow:
    options = "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, item.options, strict=False))
    return ReviewRow(
        item_id=item.item_id, reason="; ".join(reasons), topic=item.topic, stratum=item.stratum, stem=item.stem,
        options=options, key=item.key_letter, chosen_instead=instead,
        evidence="\n".join(evidence.quote for evidence in item.evidence),
    )


def decisions_of(rows: Iterable[Mapping[str, Any]], place: str = "decisions") -> list[Decision]:
    """Decisions from filled-in rows; rows left blank are skipped, anything unreadable is an `InputError` with its row.

    A row needs item_id, decision and reviewer; correct_letter and comment are optional.
    """
    found: dict[tuple[str, str], Decision] = {}
    for number, row in enumerate(rows, start=2):
        said = " ".join(str(row.get("decision") or "").lower().replace("_", " ").split())
        if not said:
            continue
        name, reviewer = str(row.get("item_id") or "").strip(), str(row.get("reviewer") or "").strip()
        if said not in VERDICTS:
            raise InputError(f"{place}, row {number}: decision {said!r} is none of {', '.join(VERDICTS)}")
        if not name or not reviewer:
            raise InputError(f"{place}, row {number}: a decision needs item_id and reviewer")
        letter = str(row.get("correct_letter") or "").strip().upper()
        if letter and (len(letter) > 1 or letter not in LETTERS):
            raise InputError(f"{place}, row {number}: correct_letter {letter!r} is no letter of an option")
        decision = Decision.model_validate(
            {"item_id": name, "reviewer": reviewer, "decision": said, "correct_letter": letter,
             "comment": str(row.get("comment") or "").strip()}
        )
        if (name, reviewer) in found and found[name, reviewer] != decision:
            raise InputError(f"{place}, row {number}: {reviewer} decided twice and differently on item {name}")
        found[name, reviewer] = decision
    return [found[key] for key in sorted(found)]


def merged(files: Iterable[Sequence[Decision]]) -> list[Decision]:
    """Decisions of several files as one list; `InputError` where a reviewer says two different things of one item."""
    found: dict[tuple[str, str], Decision] = {}
    for decision in (decision for decisions in files for decision in decisions):
        key = (decision.item_id, decision.reviewer)
        if found.setdefault(key, decision) != decision:
            raise InputError(
                f"decisions: {decision.reviewer} decided twice and differently on item {decision.item_id}: "
                "leave one of the two out"
            )
    return [found[key] for key in sorted(found)]


def settle(decisions: Sequence[Decision]) -> tuple[str, str]:
    """The verdict on one item: what more than half of its reviewers say, otherwise "disputed"; and the letter that
    all who call the key wrong agree on, or nothing."""
    tally = Counter(decision.decision for decision in decisions)
    verdict, most = tally.most_common(1)[0]
    if 2 * most <= len(decisions):
        return "disputed", ""
    letters = {decision.correct_letter for decision in decisions if decision.decision == "wrong key"}
    return verdict, letters.pop() if verdict == "wrong key" and len(letters) == 1 else ""


def release(bank: Sequence[BankItem], decisions: Sequence[Decision]) -> Release:
    """The bank that follows from the decisions.

    Accepted and unreviewed items stay; a disputed one stays with the flag "review: disputed" (tier B); ambiguous
    and flawed ones leave; a wrong key is corrected where the reviewers name the same letter (the item gets the id of
    its new key), otherwise the item leaves. Decisions on items that are not in the bank are an `InputError`.
    """
    by_item: dict[str, list[Decision]] = defaultdict(list)
    for decision in decisions:
        by_item[decision.item_id].append(decision)
    unknown = sorted(set(by_item) - {item.item_id for item in bank})
    if unknown:
        raise InputError(f"decisions: item {unknown[0]} is not in this bank ({len(unknown)} such): review its own bank")
    kept, seen = [], []
    for item in bank:
        verdict, letter = settle(by_item[item.item_id]) if item.item_id in by_item else ("not reviewed", "")
        changed = _applied(item, verdict, letter)
        outcome = "accepted" if changed is not None else "rejected"
        reason = "" if verdict in ("accept", "not reviewed") else f"review: {verdict}"
        if verdict == "wrong key" and changed is not None:
            reason = "review: key corrected"
        seen.append((item.stratum, (outcome, reason)))
        if changed is not None:
            kept.append(changed)
    facts = {
        "review": {
            "decisions": digest("decisions", canonical_json([d.model_dump(mode="json") for d in decisions])),
            "reviewers": sorted({decision.reviewer for decision in decisions}),
            "items_reviewed": len(by_item),
            "verdicts": dict(sorted(Counter(settle(group)[0] for group in by_item.values()).items())),
        }
    }
    return Release(kept, account("review", seen), facts)


def _applied(item: BankItem, verdict: str, letter: str) -> BankItem | None:
    """The item as it stands after the verdict, None when it leaves."""
    if verdict in ("accept", "not reviewed"):
        return item
    if verdict == "disputed":
        return item.model_copy(update={"flags": tuple(sorted({*item.flags, "review: disputed"})), "tier": "B"})
    place = LETTERS.find(letter) if letter else -1
    if verdict != "wrong key" or not 0 <= place < len(item.options) or place == item.key:
        return None
    return item.model_copy(
        update={
            "key": place, "key_letter": LETTERS[place], "tier": "B",
            "item_id": item_id(item.stem, item.options, item.options[place]),
            "flags": tuple(sorted({*item.flags, "review: key corrected"})),
        }
    )
