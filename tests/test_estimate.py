"""The arithmetic of an estimate, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from examgen.estimate import AUDITED, REPAIRED, SCREENED, Extent, estimate, total
from examgen.study import Study

EXTENT = Extent(passages=100, characters=100_000)


def study(**over: Any) -> Study:
    return Study.model_validate(
        {
            "study": "s",
            "corpus": {"folder": "docs"},
            "seeds": ["one", "two"],
            "retrieval": {"passages_per_seed": 4},
            "taxonomy": {"method": "llm", "endpoint": "w", "topics_at_most": 2, "subtopics_per_topic": 2},
            "writing": {
                "method": "llm", "endpoint": "w", "per_subtopic": {"easy": 2}, "surplus": 2, "rounds": 1, "repairs": 2,
            },
            "screen": {"method": "llm", "endpoint": "w"},
            "endpoints": [
                {"id": "w", "model": "m", "price_in": 1, "price_out": 10},
                {"id": "free", "model": "n", "reasoning_tokens": 100},
                {"id": "here", "kind": "local"},
                {"id": "chance", "kind": "baseline", "model": "random"},
            ],
            **over,
        }
    )  # fmt: skip


def by_stage(one: Study, extent: Extent = EXTENT) -> dict[tuple[str, str], Any]:
    return {(row.stage, row.endpoint): row for row in estimate(one, extent)}


def test_calls_of_a_study_without_results() -> None:
    rows = by_stage(study())
    assert rows["taxonomy", "w"].calls == 1
    drafts = 4 * 4  # subtopics allowed × easy items × surplus
    assert rows["writing", "w"].calls == pytest.approx(drafts * (1 + REPAIRED), abs=1)
    assert rows["writing", "w"].calls_at_most == drafts * 3
    assert rows["screen", "w"].calls == drafts * AUDITED
    for name in ("w", "free", "here"):
        assert rows["panel", name].calls == 4 * 2
    assert ("panel", "chance") not in rows


def test_more_rounds_write_what_is_still_missing() -> None:
    writing = {"method": "llm", "endpoint": "w", "per_subtopic": {"hard": 4}, "surplus": 1}
    once, twice = (by_stage(study(writing={**writing, "rounds": rounds})) for rounds in (1, 2))
    more = twice["writing", "w"].calls / once["writing", "w"].calls - 1
    assert more == pytest.approx(1 - AUDITED * SCREENED, abs=0.05)


def test_orders_repeats_and_hidden_stems() -> None:
    panel = {"orders": 4, "pilot_items": 3, "repeats": 2, "no_stem": True}
    extent = Extent(100, 100_000, subtopics=4, items=50)
    assert by_stage(study(panel=panel), extent)["panel", "w"].calls == (50 + 9) * 2 + 50
    whole = {**panel, "order_scope": "bank", "no_stem": False}
    assert by_stage(study(panel=whole), extent)["panel", "w"].calls == 50 * 4 * 2


def test_money_is_known_free_or_unknown() -> None:
    found = estimate(study(), EXTENT)
    rows = {(row.stage, row.endpoint): row for row in found}
    writing = rows["writing", "w"]
    assert writing.cost == pytest.approx((writing.prompt_tokens + 10 * writing.completion_tokens) / 1e6, rel=1e-4)
    assert rows["panel", "here"].cost == 0
    assert rows["panel", "free"].cost is None
    assert rows["panel", "free"].completion_tokens == 8 * 104, "reasoning is counted as if it were all used"
    assert total(found).cost is None
    assert "known part" in total(found).note
    priced = [row for row in found if row.endpoint != "free"]
    assert total(priced).cost == pytest.approx(sum(row.cost or 0 for row in priced))


def test_rules_and_a_taxonomy_by_hand_cost_no_call() -> None:
    rows = by_stage(study(taxonomy={"method": "llm", "endpoint": "w", "file": "t.yaml"}, writing={}, screen={}))
    assert {stage for stage, _ in rows} == {"panel"}
    remote = {"kind": "openai", "model": "e", "batch": 10}
    assert by_stage(study(embedding=remote, writing={}, screen={}))["embeddings", "e"].calls >= 10
