"""Locking: which accepted items become the bank, the account of what became of every candidate, and the manifest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from examgen.ids import canonical_json, digest, item_id
from examgen.keys import locked_tier_hash
from examgen.records import LETTERS, STRATA, BankItem, Candidate, Chunk, Finding, FunnelRow, Stratum, Topic, Verdict
from examgen.tables import SCHEMA_VERSION
from examgen.writing.balance import lean

TIERS = {
    "A": "complete provenance and no transparency flag",
    "B": "locked with at least one transparency flag, or with incomplete provenance",
}
"""What a tier means. Fixed when the bank is locked, before anything is scored."""

Reason = tuple[str, str]
"""Outcome and reason of one candidate at one stage."""


def account(stage: str, entered: Iterable[tuple[str, Reason]]) -> list[FunnelRow]:
    """Funnel rows of a stage from (stratum, (outcome, reason)) of everything that entered it."""
    seen = list(entered)
    totals = Counter(stratum for stratum, _ in seen)
    outcomes = Counter(seen)
    rows = [FunnelRow(stage=stage, stratum=s, outcome="entered", count=n) for s, n in sorted(totals.items())]
    for (stratum, (outcome, reason)), count in sorted(outcomes.items()):
        rows.append(
            FunnelRow.model_validate(
                {"stage": stage, "stratum": stratum, "outcome": outcome, "reason": reason, "count": count}
            )
        )
    return rows


def unbalanced(rows: Sequence[FunnelRow]) -> list[str]:
    """Stage and stratum whose counts do not add up to what entered; empty when nothing vanished."""
    entered: Counter[tuple[str, str]] = Counter()
    left: Counter[tuple[str, str]] = Counter()
    for row in rows:
        (entered if row.outcome == "entered" else left)[row.stage, row.stratum] += row.count
    return [
        f"{stage}/{stratum}: {entered[stage, stratum]} entered, {left[stage, stratum]} accounted for"
        for stage, stratum in sorted(set(entered) | set(left))
        if entered[stage, stratum] != left[stage, stratum]
    ]


def rejections(findings: Sequence[Finding]) -> dict[str, str]:
    """For each rejected candidate, the check that rejected it (the first by name where several did)."""
    reasons: dict[str, str] = {}
    for finding in sorted(findings, key=lambda finding: (finding.candidate_id, finding.check_id)):
        if finding.severity == "reject":
            reasons.setdefault(finding.candidate_id, finding.check_id)
    return reasons


def issue_kind(verdict: Verdict) -> str:
    """Why a screen did not accept an item, in the funnel's words."""
    for name in ("answerable", "key_consistent", "explanation_consistent", "unique"):
        if getattr(verdict, name) is False:
            return f"screen: not {name.replace('_', ' ')}"
    return (
        "screen: major issue" if any(issue.startswith("major") for issue in verdict.issues) else "screen: other issue"
    )


RARER: tuple[Stratum, ...] = ("synthesis", "medium", "easy", "hard")
"""Strata in the order in which they take their facts: those that find fewest first."""


def choose(
    candidates: Sequence[Candidate],
    flags: Mapping[str, Sequence[str]],
    wanted: Mapping[Stratum, int],
    preferred: Collection[str] = (),
) -> tuple[list[Candidate], list[Candidate]]:
    """The accepted candidates that are locked and those that are more than was asked for.

    Per subtopic and stratum: `preferred` items (ids, those of the release before) first, then fewest flags, then the
    order of writing. The same evidence serves one item of the bank, whatever its stratum, so that no fact is asked
    twice; preferred items take their evidence before any other.
    """
    groups: dict[tuple[str, Stratum], list[Candidate]] = defaultdict(list)
    for candidate in sorted(candidates, key=lambda candidate: RARER.index(candidate.stratum)):
        groups[candidate.topic_id, candidate.stratum].append(candidate)
    chosen, surplus = [], []
    asked: set[tuple[str, ...]] = set()
    taken: set[str] = set()
    room = {place: wanted.get(place[1], 0) for place in groups}
    for first in (True, False):
        for place, group in groups.items():
            turn = [candidate for candidate in group if (candidate.item_id in preferred) == first]
            for candidate in sorted(turn, key=lambda c: len(flags.get(c.candidate_id, ()))):
                fact = _fact(candidate)
                if room[place] > 0 and fact not in asked and candidate.item_id not in taken:
                    asked.add(fact)
                    taken.add(candidate.item_id)
                    chosen.append(candidate)
                    room[place] -= 1
                else:
                    surplus.append(candidate)
    return _balanced(chosen, surplus, flags, preferred)


SWEEPS = 6
"""Passes over the bank in search of swaps; it settles in three or four."""


def _fact(candidate: Candidate) -> tuple[str, ...]:
    return tuple(sorted(evidence.quote for evidence in candidate.evidence))


def _lean(candidate: Candidate) -> tuple[int, ...]:
    key = candidate.key
    return lean((candidate.options[key], *candidate.options[:key], *candidate.options[key + 1 :]))


def _balanced(
    chosen: list[Candidate], surplus: list[Candidate], flags: Mapping[str, Sequence[str]], preferred: Collection[str]
) -> tuple[list[Candidate], list[Candidate]]:
    """Swap chosen items for spare ones of the same subtopic and stratum where that keeps keys from standing out.

    Over the bank the signs of "key longer, key's numbers larger, …" should cancel (see `writing.balance.lean`): what a
    selector of options alone could learn. A spare item with more flags never replaces one with fewer, and none
    replaces a preferred one.
    """
    lists = {candidate.candidate_id: _lean(candidate) for candidate in [*chosen, *surplus]}
    state = [sum(values) for values in zip(*(lists[c.candidate_id] for c in chosen), strict=True)] if chosen else []
    spare: dict[tuple[str, Stratum], list[Candidate]] = defaultdict(list)
    for candidate in surplus:
        spare[candidate.topic_id, candidate.stratum].append(candidate)
    facts, ids = {_fact(candidate) for candidate in chosen}, {candidate.item_id for candidate in chosen}
    for _ in range(SWEEPS):
        swapped = False
        for place, held in enumerate(chosen):
            if held.item_id in preferred:
                continue
            group = spare[held.topic_id, held.stratum]
            for number, other in enumerate(group):
                new = (_fact(other) not in facts - {_fact(held)}) and other.item_id not in ids - {held.item_id}
                fewer = len(flags.get(other.candidate_id, ())) <= len(flags.get(held.candidate_id, ()))
                moved = [
                    s - a + b
                    for s, a, b in zip(state, lists[held.candidate_id], lists[other.candidate_id], strict=True)
                ]
                if new and fewer and sum(v * v for v in moved) < sum(v * v for v in state):
                    facts, ids = facts - {_fact(held)} | {_fact(other)}, ids - {held.item_id} | {other.item_id}
                    chosen[place], group[number], held, state, swapped = other, held, other, moved, True
        if not swapped:
            break
    kept = {candidate.candidate_id for candidate in chosen}
    return chosen, [c for c in [*chosen, *(c for group in spare.values() for c in group)] if c.candidate_id not in kept]


def flagged(item: BankItem, flags: Sequence[str]) -> BankItem:
    """The item with these transparency flags; they decide its tier, before anything is scored."""
    traced = bool(item.evidence) and all(e.chunk_id and e.source_id for e in item.evidence)
    return item.model_copy(update={"flags": tuple(flags), "tier": "A" if traced and not flags else "B"})


def as_bank_item(candidate: Candidate, flags: Sequence[str]) -> BankItem:
    """The locked form of a candidate."""
    shared = candidate.model_dump(exclude={"attempt", "repaired", "raw"})
    return flagged(BankItem.model_validate({**shared, "key_letter": LETTERS[candidate.key]}), flags)


def lock(
    candidates: Sequence[Candidate],
    findings: Sequence[Finding],
    verdicts: Sequence[Verdict],
    wanted: Mapping[Stratum, int],
    preferred: Collection[str] = (),
    reviewed: Mapping[str, str] | None = None,
) -> tuple[list[BankItem], list[FunnelRow]]:
    """The bank in a fixed order, and the funnel over audit, screen and locking: every candidate is in it.

    `preferred` are the ids of items that keep their place while they pass (see `choose`); `reviewed` are those that
    reviewers of the release before refused, with their decision.
    """
    rejected = rejections(findings)
    flags: dict[str, list[str]] = defaultdict(list)
    for finding in findings:
        if finding.severity == "flag" and finding.check_id not in flags[finding.candidate_id]:
            flags[finding.candidate_id].append(finding.check_id)
    audited: list[tuple[str, Reason]] = []
    passed = []
    for candidate in candidates:
        reason = rejected.get(candidate.candidate_id)
        audited.append((candidate.stratum, ("rejected", reason) if reason else ("accepted", "")))
        if not reason:
            passed.append(candidate)
    verdict_of = {verdict.candidate_id: verdict for verdict in verdicts}
    screened: list[tuple[str, Reason]] = []
    kept = []
    for candidate in passed:
        verdict = verdict_of.get(candidate.candidate_id)
        if verdict is None:
            screened.append((candidate.stratum, ("unresolved", "no verdict")))
        elif verdict.accepted:
            screened.append((candidate.stratum, ("accepted", "")))
            kept.append(candidate)
        elif verdict.answerable is None:
            screened.append((candidate.stratum, ("unresolved", "screen: no readable verdict")))
        else:
            screened.append((candidate.stratum, ("rejected", issue_kind(verdict))))
    refused = reviewed or {}
    passed = [candidate for candidate in kept if candidate.item_id not in refused]
    chosen, surplus = choose(passed, flags, wanted, preferred)
    settled: list[tuple[str, Reason]] = [(c.stratum, ("accepted", "")) for c in chosen]
    settled += [(c.stratum, ("rejected", refused[c.item_id])) for c in kept if c.item_id in refused]
    settled += [(c.stratum, ("superseded", why)) for c, why in _why_spare(chosen, surplus, wanted)]
    items = [as_bank_item(candidate, sorted(flags.get(candidate.candidate_id, ()))) for candidate in chosen]
    items.sort(key=lambda item: (item.topic, item.subtopic, STRATA.index(item.stratum), item.item_id))
    return items, [*account("audit", audited), *account("screen", screened), *account("lock", settled)]


def _why_spare(
    chosen: Sequence[Candidate], surplus: Sequence[Candidate], wanted: Mapping[Stratum, int]
) -> Iterator[tuple[Candidate, str]]:
    """Why a sound candidate is not locked: its subtopic and stratum are full, or its evidence serves another item."""
    held = Counter((candidate.topic_id, candidate.stratum) for candidate in chosen)
    for candidate in surplus:
        full = held[candidate.topic_id, candidate.stratum] >= wanted.get(candidate.stratum, 0)
        yield candidate, "more than was asked for" if full else "its evidence serves another item"


def shortfalls(
    items: Sequence[BankItem], topics: Sequence[Topic], wanted: Mapping[Stratum, int]
) -> list[dict[str, Any]]:
    """Subtopics and strata that got fewer items than the study asks for."""
    have = Counter((item.topic_id, item.stratum) for item in items)
    return [
        {
            "topic": topic.topic,
            "subtopic": topic.subtopic,
            "stratum": stratum,
            "wanted": count,
            "locked": have[topic.topic_id, stratum],
        }
        for topic in topics
        for stratum, count in wanted.items()
        if have[topic.topic_id, stratum] < count
    ]


def bank_id(items: Sequence[BankItem], facts: Mapping[str, Any]) -> str:
    """Id of a bank: its items, whole, and the facts of its making (suites, prompts, embedder, chunk set)."""
    return digest("bank", canonical_json([item.model_dump(mode="json") for item in items]), canonical_json(dict(facts)))


def manifest(
    items: Sequence[BankItem], topics: Sequence[Topic], facts: Mapping[str, Any], wanted: Mapping[Stratum, int]
) -> dict[str, Any]:
    """What `bank.lock.json` says of a bank. It holds no time, so that the same bank has the same bytes."""
    return {
        "schema_version": SCHEMA_VERSION,
        "bank_id": bank_id(items, facts),
        "items": len(items),
        "by_stratum": dict(Counter(item.stratum for item in items)),
        "by_topic": dict(sorted(Counter(item.topic for item in items).items())),
        "topics": len({topic.topic for topic in topics}),
        "subtopics": len(topics),
        "subtopics_with_items": len({item.topic_id for item in items}),
        "key_letters": dict(sorted(Counter(item.key_letter for item in items).items())),
        "flags": dict(sorted(Counter(flag for item in items for flag in item.flags).items())),
        "tiers": dict(sorted(Counter(item.tier for item in items).items())),
        "tier_meaning": TIERS,
        "tier_hash": locked_tier_hash(items),
        "writers": sorted({item.writer for item in items}),
        "shortfalls": shortfalls(items, topics, wanted),
        "facts": dict(facts),
        "notice": "Built from documents by a program. Not a clinically certified examination.",
    }


def problems(items: Sequence[BankItem], chunks: Mapping[str, Chunk], known_sources: Collection[str]) -> list[str]:
    """Everything in a bank that does not hold: ids, keys, options, quotes against passages."""
    found = []
    seen: set[str] = set()
    for item in items:
        name = f"item {item.item_id}"
        if item.item_id in seen:
            found.append(f"{name}: occurs twice")
        seen.add(item.item_id)
        if not 0 <= item.key < len(item.options) or LETTERS[item.key] != item.key_letter:
            found.append(
                f"{name}: key {item.key} and letter {item.key_letter!r} do not fit {len(item.options)} options"
            )
            continue
        if item_id(item.stem, item.options, item.options[item.key]) != item.item_id:
            found.append(f"{name}: its text does not hash to its id: stem, options or key were changed after locking")
        if not item.evidence:
            found.append(f"{name}: has no evidence")
        for evidence in item.evidence:
            chunk = chunks.get(evidence.chunk_id)
            if chunk is None or evidence.source_id not in known_sources:
                found.append(f"{name}: its passage {evidence.chunk_id} is not among the chunks")
            elif chunk.text[evidence.start : evidence.end] != evidence.quote:
                found.append(f"{name}: a quote is not at its place in passage {evidence.chunk_id}")
    return found
