from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from examgen import locking
from examgen.ids import chunk_id, content_hash, item_id
from examgen.records import Candidate, Chunk, Evidence, Finding, FunnelRow, Stratum, Topic, Verdict

TEXT = "Lesions are at least 3 mm long. The cord is imaged with two sequences."
CHUNK = Chunk(
    chunk_id=chunk_id("s", 0, TEXT),
    content_hash=content_hash(TEXT),
    source_id="s",
    path="s.md",
    start=0,
    end=len(TEXT),
    ordinal=0,
    text=TEXT,
)
WANTED: dict[Stratum, int] = {"easy": 1, "medium": 0, "hard": 1, "synthesis": 0}
TOPIC = Topic(topic_id="t", topic="Lesions", subtopic="Size")


def candidate(name: str, stratum: Stratum = "easy", quote: str = TEXT[:31], **changes: Any) -> Candidate:
    options = (f"{name} 3 mm", f"{name} 6 mm", f"{name} 9 mm", f"{name} 12 mm")
    start = TEXT.index(quote)
    fields: dict[str, Any] = {
        "candidate_id": f"c-{name}",
        "item_id": item_id("stem", options, options[0]),
        "topic_id": "t",
        "topic": "Lesions",
        "subtopic": "Size",
        "stratum": stratum,
        "stem": "stem",
        "options": options,
        "key": 0,
        "explanation": "because",
        "evidence": (
            Evidence(source_id="s", chunk_id=CHUNK.chunk_id, quote=quote, start=start, end=start + len(quote)),
        ),
        "writer": "by hand",
    }
    return Candidate.model_validate({**fields, **changes})


def verdict(one: Candidate, accepted: bool = True) -> Verdict:
    return Verdict(
        candidate_id=one.candidate_id,
        item_id=one.item_id,
        screener="s",
        family="rules",
        answerable=accepted,
        key_consistent=True,
        explanation_consistent=True,
        unique=True,
        accepted=accepted,
    )


def finding(one: Candidate, severity: str, check: str) -> Finding:
    return Finding.model_validate(
        {
            "candidate_id": one.candidate_id,
            "item_id": one.item_id,
            "suite": "x",
            "expectation": "e",
            "check_id": check,
            "severity": severity,
            "observed": "1",
            "limit": "0",
        }
    )


def test_every_candidate_is_accounted_for() -> None:
    good, flagged, bad = candidate("a"), candidate("b", quote="Lesions are at least 3 mm"), candidate("c")
    unscreened, refused, extra = candidate("d", "hard"), candidate("e", "hard"), candidate("f", quote="The cord")
    everyone = [good, flagged, bad, unscreened, refused, extra]
    findings = [finding(flagged, "flag", "clang"), finding(bad, "reject", "length"), finding(bad, "reject", "cue")]
    verdicts = [verdict(good), verdict(flagged), verdict(refused, accepted=False), verdict(extra)]
    items, funnel = locking.lock(everyone, findings, verdicts, WANTED)
    assert [item.candidate_id for item in items] == ["c-a"]
    assert locking.unbalanced(funnel) == []
    by_outcome: Counter[str] = Counter()
    for row in funnel:
        by_outcome[f"{row.stage}/{row.outcome}/{row.reason}"] += row.count
    assert by_outcome["audit/rejected/cue"] == 1
    assert by_outcome["screen/unresolved/no verdict"] == 1
    assert by_outcome["screen/rejected/screen: not answerable"] == 1
    assert by_outcome["lock/superseded/more than was asked for"] == 2


def test_a_spare_item_of_a_cell_that_is_not_full_says_why() -> None:
    one, other = candidate("a"), candidate("b", "hard")
    items, funnel = locking.lock([one, other], [], [verdict(one), verdict(other)], {"easy": 1, "hard": 1, "medium": 1})
    assert len(items) == 1
    reasons = {row.reason for row in funnel if row.outcome == "superseded"}
    assert reasons == {"its evidence serves another item"}


def test_a_funnel_that_loses_something_is_named() -> None:
    rows = [
        FunnelRow(stage="audit", stratum="easy", outcome="entered", count=3),
        FunnelRow(stage="audit", stratum="easy", outcome="accepted", count=2),
    ]
    assert locking.unbalanced(rows) == ["audit/easy: 3 entered, 2 accounted for"]


def test_flags_put_an_item_behind_and_into_tier_b() -> None:
    flagged, clean = candidate("a"), candidate("b", quote="The cord is imaged")
    items, _ = locking.lock(
        [flagged, clean], [finding(flagged, "flag", "clang")], [verdict(flagged), verdict(clean)], WANTED
    )
    assert items[0].candidate_id == "c-b"
    assert items[0].tier == "A"
    assert locking.as_bank_item(flagged, ["clang"]).tier == "B"


def test_one_fact_is_asked_once_a_stratum() -> None:
    twice: dict[Stratum, int] = {**WANTED, "easy": 2}
    items, _ = locking.lock(
        [candidate("a"), candidate("b")], [], [verdict(candidate("a")), verdict(candidate("b"))], twice
    )
    assert len(items) == 1


def test_the_manifest_depends_on_the_bank_alone() -> None:
    items, _ = locking.lock([candidate("a")], [], [verdict(candidate("a"))], WANTED)
    one = locking.manifest(items, [TOPIC], {"suites": "x"}, WANTED)
    assert one == locking.manifest(items, [TOPIC], {"suites": "x"}, WANTED)
    assert one["bank_id"] != locking.manifest(items, [TOPIC], {"suites": "y"}, WANTED)["bank_id"]
    assert one["shortfalls"] == [{"topic": "Lesions", "subtopic": "Size", "stratum": "hard", "wanted": 1, "locked": 0}]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stem": "another stem"}, "does not hash to its id"),
        ({"key": 1}, "do not fit"),
        ({"evidence": ()}, "has no evidence"),
        (
            {"evidence": (Evidence(source_id="s", chunk_id=CHUNK.chunk_id, quote="Lesions", start=1, end=8),)},
            "not at its place",
        ),
        (
            {"evidence": (Evidence(source_id="s", chunk_id="none", quote="Lesions", start=0, end=7),)},
            "not among the chunks",
        ),
    ],
)
def test_what_does_not_hold_is_found(change: dict[str, Any], message: str) -> None:
    items, _ = locking.lock([candidate("a")], [], [verdict(candidate("a"))], WANTED)
    chunks = {CHUNK.chunk_id: CHUNK}
    assert locking.problems(items, chunks, {"s"}) == []
    changed = items[0].model_copy(update=change)
    assert message in " ".join(locking.problems([changed], chunks, {"s"}))
    assert "occurs twice" in " ".join(locking.problems(items * 2, chunks, {"s"}))


def test_spare_items_are_swapped_in_where_keys_would_stand_out() -> None:
    def leaning(name: str, topic: str, longer: bool) -> Candidate:
        key, other = ("three to four long words", "two") if longer else ("two", "three to four long words")
        made = candidate(name, quote=TEXT[: 8 + len(name)], topic_id=topic)
        return made.model_copy(update={"options": (key, other, other + " a", other + " b")})

    first = [leaning("a", "t1", True), leaning("bb", "t2", True)]
    spare = [leaning("ccc", "t2", False)]
    chosen, surplus = locking.choose([*first, *spare], {}, {"easy": 1})
    assert [c.candidate_id for c in chosen] == ["c-a", "c-ccc"]
    assert [c.candidate_id for c in surplus] == ["c-bb"]
    chosen, _ = locking.choose([*first, *spare], {"c-ccc": ["clang"]}, {"easy": 1})
    assert [c.candidate_id for c in chosen] == ["c-a", "c-bb"], "never for a flagged one"


def test_items_of_the_release_before_keep_their_place() -> None:
    held, better = candidate("a", quote="Lesions are at least 3 mm"), candidate("b", quote="The cord")
    flag, verdicts = [finding(held, "flag", "clang")], [verdict(held), verdict(better)]
    first, _ = locking.lock([held, better], flag, verdicts, WANTED)
    assert [item.candidate_id for item in first] == ["c-b"]
    items, _ = locking.lock([held, better], flag, verdicts, WANTED, {held.item_id})
    assert [item.candidate_id for item in items] == ["c-a"]


def test_a_fact_an_item_of_the_release_before_asks_is_not_asked_by_a_rarer_stratum() -> None:
    held, rarer = candidate("a", "hard"), candidate("b", "synthesis")
    wanted: dict[Stratum, int] = {"easy": 0, "medium": 0, "hard": 1, "synthesis": 1}
    verdicts = [verdict(held), verdict(rarer)]
    assert [i.candidate_id for i in locking.lock([held, rarer], [], verdicts, wanted)[0]] == ["c-b"]
    assert [i.candidate_id for i in locking.lock([held, rarer], [], verdicts, wanted, {held.item_id})[0]] == ["c-a"]


def test_what_reviewers_refused_is_not_locked_again() -> None:
    one, two = candidate("a"), candidate("b", quote="The cord")
    items, funnel = locking.lock(
        [one, two], [], [verdict(one), verdict(two)], WANTED, (), {one.item_id: "review: flawed"}
    )
    assert [item.candidate_id for item in items] == ["c-b"]
    assert locking.unbalanced(funnel) == []
    assert [(row.outcome, row.count) for row in funnel if row.reason == "review: flawed"] == [("rejected", 1)]
