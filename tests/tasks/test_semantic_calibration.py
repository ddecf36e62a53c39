"""The recorded thresholds are what the embedders measure, and a study is judged by them."""

from __future__ import annotations

from collections import Counter

from examgen.study import Audits
from expectations.suites import load_suite
from tasks.embed_minilm import MiniLM
from tasks.semantic_calibration import limits, measure, read_pairs, records


def test_the_pairs_are_enough_and_hold_minimal_pairs() -> None:
    kinds = Counter(kind for kind, _, _ in read_pairs())
    assert kinds["paraphrase"] >= 40
    assert kinds["minimal"] + kinds["distinct"] >= 40
    assert kinds["minimal"] >= 20


def test_the_record_of_the_default_embedder_is_what_it_measures() -> None:
    embedder = MiniLM()
    assert measure(embedder).record() == records()[embedder.id]


def test_the_suite_is_judged_by_the_limit_of_the_embedder_and_its_hash_says_so() -> None:
    found, note = limits(Audits(), MiniLM().id)
    assert found == {"semantic_duplicate": note["cosine"]}
    assert note["source"].startswith("calibrated for minilm")
    plain, judged = load_suite("", "item_duplicates"), load_suite("", "item_duplicates", found)
    assert plain.checks["duplicates.semantic"].kwargs["limit"] == 0.9
    assert judged.checks["duplicates.semantic"].kwargs["limit"] == note["cosine"]
    assert judged.checks["duplicates.near"].kwargs["limit"] == 0.9
    assert plain.hash != judged.hash


def test_an_unknown_embedder_gets_the_papers_and_a_study_may_set_both() -> None:
    assert limits(Audits(), "openai:some-model:native")[1]["cosine"] == 0.90
    found, note = limits(Audits(near_duplicate=0.95, semantic_duplicate=0.8), "openai:some-model:native")
    assert found["near_duplicate"] == found["minimal_pair"] == 0.95
    assert (note["cosine"], note["source"]) == (0.8, "set in the study")
