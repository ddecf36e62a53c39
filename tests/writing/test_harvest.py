"""Sibling sets of the corpus: kinds of one thing and lists, no chance neighbours."""

from __future__ import annotations

from examgen.writing.harvest import harvest


def test_kinds_and_lists() -> None:
    texts = [
        "We compare probabilistic tracking with deterministic tracking in adults.",
        "Here probabilistic tracking and deterministic tracking differ from automatic tracking and arbitrary tracking.",
        "The drugs are as baclofen, diazepam, tizanidine, dantrolene and clonazepam.",
        "A different tracking of other images is shown.",
    ]
    found = {group.name: group.members for group in harvest(texts)}
    assert found["kinds of tracking"] == (
        "arbitrary tracking", "automatic tracking", "deterministic tracking", "probabilistic tracking",
    )  # fmt: skip
    assert found["list of baclofen"] == ("baclofen", "clonazepam", "dantrolene", "diazepam", "tizanidine")
    assert not any("different" in member for members in found.values() for member in members)


def test_too_few_kinds_make_no_set() -> None:
    assert harvest(["The central vein and the cortical vein differ."]) == ()
