"""Releases of a bank: which items of the last one still hold, what became of each item, and which set it is in."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from examgen.difficulty import FEWEST_PRIMARY, Thresholds, too_few
from examgen.ids import digest
from examgen.locking import issue_kind, rejections
from examgen.records import (
    BankDiffRow,
    BankItem,
    Candidate,
    Chunk,
    Decision,
    Evidence,
    Finding,
    ReleaseItem,
    RetiredItem,
    Source,
    Topic,
    Verdict,
)


@dataclass(frozen=True)
class BankTables:
    """A locked bank with the tables that say how it came about; the same `path` is the same document."""

    bank_id: str
    items: Sequence[BankItem]
    sources: Sequence[Source]
    chunks: Sequence[Chunk]
    topics: Sequence[Topic]
    candidates: Sequence[Candidate] = ()
    findings: Sequence[Finding] = ()
    verdicts: Sequence[Verdict] = ()
    decisions: Sequence[Decision] = ()

    @cached_property
    def by_id(self) -> dict[str, BankItem]:
        """Items by id."""
        return {item.item_id: item for item in self.items}

    @cached_property
    def documents(self) -> Documents:
        """Where quotes are looked for."""
        return Documents(self.sources, self.chunks)


class Documents:
    """The documents of a bank: from a source to its path, and from a path to the passages that hold a quote."""

    def __init__(self, sources: Sequence[Source], chunks: Sequence[Chunk]) -> None:
        self.paths = {source.source_id: source.path for source in sources}
        self.by_path = {source.path: source for source in sources}
        self.chunks = {chunk.chunk_id: chunk for chunk in chunks}
        self._of_source: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in chunks:
            self._of_source[chunk.source_id].append(chunk)

    def same(self, source_id: str, path: str) -> Source | None:
        """The document with these bytes, else the one at this path; None when there is neither."""
        known = self.paths.get(source_id)
        return self.by_path.get(known if known is not None else path)

    def passage(self, evidence: Evidence, path: str) -> Evidence | None:
        """The evidence at its place here: the same passage, else the first of the document that holds the quote."""
        if evidence.chunk_id in self.chunks:
            return evidence
        source = self.same(evidence.source_id, path)
        for chunk in self._of_source[source.source_id] if source is not None else ():
            start = chunk.text.find(evidence.quote)
            if start >= 0:
                return Evidence(
                    source_id=chunk.source_id, chunk_id=chunk.chunk_id, quote=evidence.quote, start=start,
                    end=start + len(evidence.quote),
                )  # fmt: skip
        return None


def as_candidates(items: Sequence[BankItem], written: Sequence[Candidate]) -> list[Candidate]:
    """Locked items as candidates again, with what was written of them; an item that reviewers corrected is its own."""
    by_id = {candidate.candidate_id: candidate for candidate in written}
    found = []
    for item in items:
        candidate = by_id.get(item.candidate_id)
        if candidate is None or candidate.item_id != item.item_id:
            name = item.candidate_id if candidate is None else digest("candidate", "corrected", item.item_id)
            shared = item.model_dump(exclude={"key_letter", "flags", "tier"})
            candidate = Candidate.model_validate({**shared, "candidate_id": name})
        found.append(candidate)
    return found


def carry(
    earlier: Sequence[Candidate], before: Documents, now: Documents, topics: Sequence[Topic]
) -> list[Candidate]:
    """The items of the last release whose quotes still stand in the documents, as candidates of the next.

    Their evidence points at today's passages. An item whose subtopic is gone moves to the one that its first passage
    belongs to; without such a subtopic it is not carried.
    """
    by_id = {topic.topic_id: topic for topic in topics}
    home = {chunk_id: topic for topic in reversed(topics) for chunk_id in (*topic.passages, *topic.chunk_ids)}
    found = []
    for candidate in earlier:
        places = [now.passage(e, before.paths.get(e.source_id, "")) for e in candidate.evidence]
        evidence = tuple(place for place in places if place is not None)
        if not evidence or len(evidence) < len(places):
            continue
        topic = by_id.get(candidate.topic_id) or next((home[e.chunk_id] for e in evidence if e.chunk_id in home), None)
        if topic is None:
            continue
        labels = {"topic_id": topic.topic_id, "topic": topic.topic, "subtopic": topic.subtopic}
        found.append(candidate.model_copy(update={"evidence": evidence, **labels}))
    return found


Reason = tuple[str, str]
"""A reason in fixed words, and what it speaks of."""


@dataclass
class _Comparison:
    """Two banks, and what is looked up in them more than once."""

    old: BankTables
    new: BankTables
    rejected: dict[str, Reason] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        names = {candidate.candidate_id: candidate.item_id for candidate in self.new.candidates}
        self.written = set(names.values())
        for candidate_id, check in rejections(self.new.findings).items():
            self.rejected[names.get(candidate_id, "")] = ("audit rejected", check)
        for verdict in self.new.verdicts:
            if not verdict.accepted:
                self.rejected.setdefault(verdict.item_id, ("screen rejected", issue_kind(verdict)))
        for decision in self.new.decisions:
            if decision.decision != "accept":
                self.rejected[decision.item_id] = ("review", f"{decision.decision} ({decision.reviewer})")

    def why_retired(self, item: BankItem) -> Reason:
        """Why an item of the old bank is not in the new one: the first of these that holds."""
        for evidence in item.evidence:
            path = self.old.documents.paths.get(evidence.source_id, "")
            source = self.new.documents.same(evidence.source_id, path)
            if source is None:
                return "document removed", path
            if source.status != "indexed":
                return "document left out", f"{source.path}: {source.reason or source.status}"
            if self.new.documents.passage(evidence, path) is None:
                return "evidence changed", path
        if item.item_id in self.rejected:
            return self.rejected[item.item_id]
        if item.item_id in self.written:
            return "superseded", "another item holds its place"
        if item.topic_id not in {topic.topic_id for topic in self.new.topics}:
            return "subtopic gone", f"{item.topic}: {item.subtopic}"
        return "not written again", item.writer

    def why_new(self, item: BankItem) -> Reason:
        """Why an item is new: its document, its passage, its subtopic, or merely room."""
        for evidence in item.evidence:
            path = self.new.documents.paths.get(evidence.source_id, "")
            source = self.old.documents.same(evidence.source_id, path)
            if source is None or source.status != "indexed":
                return "document added", path
            if self.old.documents.passage(evidence, path) is None:
                return "passage changed", path
        if item.topic_id not in {topic.topic_id for topic in self.old.topics}:
            return "subtopic new", f"{item.topic}: {item.subtopic}"
        return "chosen anew", ""

    def why_kept(self, item: BankItem) -> Reason:
        """How an item that stayed stands: as it was, with its document edited around it, or under another subtopic."""
        before = self.old.by_id[item.item_id]
        if before.topic_id != item.topic_id:
            return "under another subtopic", f"{before.topic}: {before.subtopic}"
        if {e.source_id for e in before.evidence} != {e.source_id for e in item.evidence}:
            paths = sorted({self.new.documents.paths.get(e.source_id, "") for e in item.evidence})
            return "evidence stands in the edited document", ", ".join(paths)
        return "unchanged", ""


def compare(old: BankTables, new: BankTables) -> list[BankDiffRow]:
    """A row an item of either bank: kept, retired or new, and why. A new item is paired with a retired one of its
    subtopic and stratum while there are any."""
    both = _Comparison(old, new)
    retired = [item for item in old.items if item.item_id not in new.by_id]
    fresh = [item for item in new.items if item.item_id not in old.by_id]
    free: dict[tuple[str, str], list[str]] = defaultdict(list)
    for item in retired:
        free[item.topic_id, item.stratum].append(item.item_id)
    replaces: dict[str, str] = {}
    for item in fresh:
        if free[item.topic_id, item.stratum]:
            replaces[item.item_id] = free[item.topic_id, item.stratum].pop(0)
    successor = {gone: came for came, gone in replaces.items()}
    kept = [item for item in new.items if item.item_id in old.by_id]
    return [
        *(_row(item, "kept", both.why_kept(item), "") for item in kept),
        *(_row(item, "retired", both.why_retired(item), successor.get(item.item_id, "")) for item in retired),
        *(_row(item, "new", both.why_new(item), replaces.get(item.item_id, "")) for item in fresh),
    ]


def _row(item: BankItem, status: str, reason: Reason, other: str) -> BankDiffRow:
    shared = item.model_dump(include={"item_id", "topic", "subtopic", "stratum", "stem"})
    return BankDiffRow.model_validate(
        {**shared, "status": status, "reason": reason[0], "detail": reason[1], "other": other}
    )


def retired_items(
    rows: Sequence[BankDiffRow], old: BankTables, new: BankTables, earlier: Sequence[RetiredItem] = ()
) -> list[RetiredItem]:
    """All that earlier releases held and this one does not, whole; what came back is left out."""
    found = {item.item_id: item for item in earlier if item.item_id not in new.by_id}
    for row in rows:
        if row.status == "retired":
            why = {"reason": row.reason, "detail": row.detail, "other": row.other, "last_bank": old.bank_id}
            found[row.item_id] = RetiredItem.model_validate({**old.by_id[row.item_id].model_dump(), **why})
    return sorted(found.values(), key=lambda item: item.item_id)


def release_sets(
    items: Iterable[BankItem],
    line: Sequence[tuple[str, frozenset[str]]],
    panel: Mapping[str, tuple[int, int]],
    primary: int,
) -> list[ReleaseItem]:
    """The set of each item of a release.

    `line` are the earlier releases, the first one first, each with the ids of its items; `panel` holds (misses, seen)
    of items that a panel of `primary` primary endpoints answered before. An item is *refreshed* when the release
    before did not hold it, *stress* when at least a third of that panel missed it (the thresholds of `difficulty`),
    *core* when every earlier release held it and the panel answered it and did not miss it so often, else *carried*.
    With fewer than five primary endpoints misses say nothing: then there is no stress set, and core rests on the
    releases alone.
    """
    estimable = primary >= FEWEST_PRIMARY
    limit = Thresholds.of(primary).flagged
    rows = []
    for item in items:
        name = item.item_id
        holders = [bank for bank, held in line if name in held]
        missed, seen = panel.get(name, (None, None))
        note = "" if estimable else f"difficulty not estimable: {too_few(primary)}"
        if not line or name not in line[-1][1]:
            chosen = "refreshed"
        elif estimable and missed is not None and missed >= limit:
            chosen = "stress"
        elif len(holders) == len(line) and (seen or not estimable):
            chosen = "core"
        else:
            chosen = "carried"
        rows.append(
            ReleaseItem.model_validate(
                {
                    "item_id": name, "release_set": chosen, "since": holders[0] if holders else "this release",
                    "misses": missed, "seen": seen, "note": note,
                }
            )
        )  # fmt: skip
    return rows


def counts(rows: Sequence[BankDiffRow]) -> Counter[tuple[str, str]]:
    """Number of items by status and reason."""
    return Counter((row.status, row.reason) for row in rows)


def headline(rows: Sequence[BankDiffRow]) -> str:
    """The three numbers in a line."""
    by_status = Counter(row.status for row in rows)
    return ", ".join(f"{by_status[status]} {status}" for status in ("kept", "retired", "new"))
