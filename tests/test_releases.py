"""Releases: what is carried over, what became of each item and why, the sets."""

from __future__ import annotations

from typing import Any

from examgen.ids import chunk_id, content_hash, source_id
from examgen.records import BankItem, Candidate, Chunk, Decision, Evidence, Source, Topic, Verdict
from examgen.releases import (
    BankTables,
    Documents,
    as_candidates,
    carry,
    compare,
    headline,
    release_sets,
    retired_items,
)
from examgen.report import bank_diff
from tests.test_locking import finding

SAID = {
    "a.md": "The cord is imaged twice.",
    "b.md": "The rim is dark in ten cases.",
    "c.md": "The vein is central.",
    "d.md": "The nerve is long.",
    "e.md": "The plaque is bright.",
}


def document(path: str, before: str = "", status: str = "indexed", quote: str = "") -> tuple[Source, Chunk]:
    """A document of one passage that holds its quote after some other text."""
    text = f"{before}{quote or SAID[path]} It ends."
    name = source_id(text.encode())
    source = Source.model_validate(
        {"source_id": name, "path": path, "media_type": "text/markdown", "bytes": len(text), "status": status}
    )
    return source, Chunk(
        chunk_id=chunk_id(name, 0, text), content_hash=content_hash(text), source_id=name, path=path, start=0,
        end=len(text), ordinal=0, text=text,
    )  # fmt: skip


def item(path: str, documents: dict[str, tuple[Source, Chunk]], topic: str = "t", name: str = "") -> BankItem:
    source, chunk = documents[path]
    start = chunk.text.index(SAID[path])
    evidence = Evidence(
        source_id=source.source_id, chunk_id=chunk.chunk_id, quote=SAID[path], start=start,
        end=start + len(SAID[path]),
    )  # fmt: skip
    who = name or path
    return BankItem(
        item_id=f"i-{who}", candidate_id=f"c-{who}", topic_id=topic, topic="Signs", subtopic=topic, stratum="easy",
        stem=f"What of {who}?", options=("1", "2", "3", "4"), key=0, key_letter="A", explanation="", writer="rules",
        evidence=(evidence,),
    )  # fmt: skip


def bank(name: str, documents: dict[str, tuple[Source, Chunk]], items: list[BankItem], **more: Any) -> BankTables:
    passages = tuple(chunk.chunk_id for _, chunk in documents.values())
    topics = [Topic(topic_id="t", topic="Signs", subtopic="t", passages=passages)]
    tables: dict[str, Any] = {
        "bank_id": name, "items": items, "topics": topics,
        "sources": [source for source, _ in documents.values()], "chunks": [chunk for _, chunk in documents.values()],
    }  # fmt: skip
    return BankTables(**{**tables, **more})


BEFORE = {path: document(path) for path in SAID}
EDITED = {
    "a.md": document("a.md"),
    "b.md": document("b.md", before="A new sentence. "),
    "c.md": document("c.md", quote="The vein is lateral."),
    "e.md": document("e.md", status="unreadable"),
}
OLD = bank("old", BEFORE, [item(path, BEFORE) for path in SAID])


def carried(now: dict[str, tuple[Source, Chunk]], topics: list[Topic]) -> list[Candidate]:
    return carry(
        as_candidates(OLD.items, []), OLD.documents,
        Documents([s for s, _ in now.values()], [c for s, c in now.values() if s.status == "indexed"]), topics,
    )  # fmt: skip


def test_items_whose_quotes_still_stand_are_carried_with_their_place_of_today() -> None:
    now = bank("new", EDITED, [])
    found = {candidate.item_id: candidate for candidate in carried(EDITED, list(now.topics))}
    assert set(found) == {"i-a.md", "i-b.md"}, "the documents of the others are gone, changed or unreadable"
    moved = found["i-b.md"].evidence[0]
    chunk = EDITED["b.md"][1]
    assert moved.chunk_id == chunk.chunk_id
    assert chunk.text[moved.start : moved.end] == SAID["b.md"]


def test_an_item_moves_to_the_subtopic_its_passage_belongs_to() -> None:
    other = Topic(topic_id="u", topic="Signs anew", subtopic="u", passages=(EDITED["a.md"][1].chunk_id,))
    (found,) = carried(EDITED, [other])
    assert (found.item_id, found.topic_id, found.topic, found.subtopic) == ("i-a.md", "u", "Signs anew", "u")
    assert carried(EDITED, []) == []


def test_a_renamed_document_is_the_same() -> None:
    source, chunk = BEFORE["a.md"]
    renamed = {"z.md": (source.model_copy(update={"path": "z.md"}), chunk.model_copy(update={"path": "z.md"}))}
    found = carried(renamed, [Topic(topic_id="t", topic="Signs", subtopic="t")])
    assert [candidate.item_id for candidate in found] == ["i-a.md"]


def test_an_item_that_reviewers_corrected_is_a_candidate_of_its_own() -> None:
    one = OLD.items[0]
    written = Candidate.model_validate({**one.model_dump(exclude={"key_letter", "flags", "tier"}), "raw": "as it came"})
    assert as_candidates([one], [written]) == [written]
    corrected = one.model_copy(update={"item_id": "i-corrected", "key": 1})
    (found,) = as_candidates([corrected], [written])
    assert (found.item_id, found.key, found.raw) == ("i-corrected", 1, "")
    assert found.candidate_id != written.candidate_id


def reasons(new: BankTables, old: BankTables = OLD) -> dict[str, tuple[str, str, str]]:
    return {row.item_id: (row.status, row.reason, row.detail) for row in compare(old, new)}


def test_why_items_are_retired_by_their_documents() -> None:
    new = bank("new", EDITED, [item("a.md", EDITED), item("b.md", EDITED)])
    assert reasons(new) == {
        "i-a.md": ("kept", "unchanged", ""),
        "i-b.md": ("kept", "evidence stands in the edited document", "b.md"),
        "i-c.md": ("retired", "evidence changed", "c.md"),
        "i-d.md": ("retired", "document removed", "d.md"),
        "i-e.md": ("retired", "document left out", "e.md: unreadable"),
    }
    assert headline(compare(OLD, new)) == "2 kept, 3 retired, 0 new"


def test_why_items_are_retired_by_audit_screen_review_or_others() -> None:
    all_of_them = as_candidates(OLD.items, [])
    by_name = {candidate.item_id: candidate for candidate in all_of_them}
    refused = Verdict(
        candidate_id="c-b.md", item_id="i-b.md", screener="s", family="rules", answerable=True, key_consistent=True,
        explanation_consistent=True, unique=False, accepted=False,
    )  # fmt: skip
    other = item("d.md", BEFORE, name="other")
    new = bank(
        "new", BEFORE, [other], candidates=[*all_of_them[:4], *as_candidates([other], [])],
        findings=[finding(by_name["i-a.md"], "reject", "length")], verdicts=[refused],
        decisions=[Decision(item_id="i-c.md", reviewer="ann", decision="flawed")],
    )  # fmt: skip
    assert reasons(new) == {
        "i-other": ("new", "chosen anew", ""),
        "i-a.md": ("retired", "audit rejected", "length"),
        "i-b.md": ("retired", "screen rejected", "screen: not unique"),
        "i-c.md": ("retired", "review", "flawed (ann)"),
        "i-d.md": ("retired", "superseded", "another item holds its place"),
        "i-e.md": ("retired", "not written again", "rules"),
    }
    pairs = {row.item_id: row.other for row in compare(OLD, new) if row.other}
    assert pairs == {"i-other": "i-a.md", "i-a.md": "i-other"}


def test_why_items_are_new_and_where_they_moved() -> None:
    old = bank("old", {"a.md": BEFORE["a.md"], "c.md": EDITED["c.md"]}, [item("a.md", BEFORE)])
    moved = item("a.md", BEFORE, topic="u")
    topics = [Topic(topic_id=name, topic="Signs", subtopic=name) for name in ("t", "u")]
    new = bank(
        "new", {path: BEFORE[path] for path in ("a.md", "b.md", "c.md")},
        [moved, item("b.md", BEFORE), item("c.md", BEFORE), item("a.md", BEFORE, topic="u", name="x")], topics=topics,
    )  # fmt: skip
    assert reasons(new, old) == {
        "i-a.md": ("kept", "under another subtopic", "Signs: t"),
        "i-b.md": ("new", "document added", "b.md"),
        "i-c.md": ("new", "passage changed", "c.md"),
        "i-x": ("new", "subtopic new", "Signs: u"),
    }


def test_retired_items_add_up_over_releases_and_come_back() -> None:
    new = bank("new", EDITED, [item("a.md", EDITED), item("b.md", EDITED)])
    first = retired_items(compare(OLD, new), OLD, new)
    assert [(gone.item_id, gone.last_bank, gone.outcome) for gone in first] == [
        (f"i-{path}", "old", "superseded") for path in ("c.md", "d.md", "e.md")
    ]
    third = bank("third", BEFORE, [item(path, BEFORE) for path in ("b.md", "c.md")])
    second = retired_items(compare(new, third), new, third, first)
    assert [(gone.item_id, gone.last_bank) for gone in second] == [
        ("i-a.md", "new"), ("i-d.md", "old"), ("i-e.md", "old"),
    ]  # fmt: skip


def test_release_sets() -> None:
    line = [("one", frozenset({"i-a.md", "i-b.md"})), ("two", frozenset({"i-a.md", "i-b.md", "i-c.md", "i-d.md"}))]
    panel = {"i-a.md": (3, 12), "i-b.md": (4, 12), "i-c.md": (0, 12), "i-d.md": (5, 11)}
    found = {row.item_id: row for row in release_sets(OLD.items, line, panel, 12)}
    assert {name: row.release_set for name, row in found.items()} == {
        "i-a.md": "core", "i-b.md": "stress", "i-c.md": "carried", "i-d.md": "stress", "i-e.md": "refreshed",
    }  # fmt: skip
    assert {name: row.since for name, row in found.items()} == {
        "i-a.md": "one", "i-b.md": "one", "i-c.md": "two", "i-d.md": "two", "i-e.md": "this release",
    }  # fmt: skip
    assert (found["i-d.md"].misses, found["i-d.md"].seen) == (5, 11)


def test_a_small_panel_makes_no_stress_set() -> None:
    line = [("one", frozenset({"i-a.md", "i-b.md"}))]
    found = release_sets(OLD.items[:3], line, {"i-a.md": (2, 2), "i-b.md": (0, 2)}, 2)
    assert [row.release_set for row in found] == ["core", "core", "refreshed"]
    assert found[0].note == "difficulty not estimable: 2 primary endpoints: at least 5 are needed"


def test_an_item_no_panel_answered_is_not_core() -> None:
    (found,) = release_sets(OLD.items[:1], [("one", frozenset({"i-a.md"}))], {}, 12)
    assert (found.release_set, found.misses) == ("carried", None)


def test_the_difference_as_text_and_page() -> None:
    new = bank("new", EDITED, [item("a.md", EDITED), item("b.md", EDITED)])
    rows = compare(OLD, new)
    sets = release_sets(new.items, [("old", frozenset(OLD.by_id))], {}, 0)
    text = bank_diff.markdown("old", "new", rows, sets, items=2)
    assert "2 kept, 3 retired, 0 new." in text
    assert "| retired | document removed | 1 |" in text
    assert "| core | 2 |" in text
    assert "and 1 more: see the table `bank_diff`." in text
    page = bank_diff.html("old", "new", [rows[-1].model_copy(update={"stem": "<b>&"})])
    assert "&lt;b&gt;&amp;" in page
    assert "http" not in page.split("</style>")[1]
