"""Sections on plans, groups, nested arms, tiers and the probe: the paper's numbers in words, never "no difference"."""

from __future__ import annotations

import re
from typing import Any

from examgen import keys, locking
from examgen.calibration import calibrate
from examgen.records import STRATA, BankItem, EndpointRow, Response, Topic
from examgen.report import comparison_sections
from examgen.report.page import render
from examgen.sizing_section import Contrast, Sizing
from examgen.study import Statistics, parse_study
from tests.panels import answer, endpoint, make_bank, make_funnel, passage

SETTINGS = Statistics(bootstrap_replicates=200, permutations=9)
BANK = make_bank(8, 21)
WRONG = {"bare": {*range(9), *range(64, 71)}, "voted": {*range(4), 167}, "full": {167}}
ARMS = [
    endpoint("bare"),
    endpoint("voted", "arm").model_copy(update={"after": "bare", "step": "vote"}),
    endpoint("full", "arm").model_copy(update={"after": "voted", "step": "verifier"}),
    endpoint("chance", "baseline"),
]
TIERS = {item.item_id: "A" if place < 64 else "B" for place, item in enumerate(BANK)}
SIZING = Sizing(contrasts=(Contrast(name="7.5 points", better=0.1, worse=0.025),))


def responses(bank: list[BankItem] = BANK) -> list[Response]:
    """The paper's counts: (9, 0) of 64 items of tier A, (7, 1) of 104 of tier B."""
    rows = [
        answer(item, name, (item.key + 1) % 4 if place in wrong else item.key)
        for name, wrong in WRONG.items()
        for place, item in enumerate(bank)
    ]
    return rows + [answer(item, "chance", place % 4) for place, item in enumerate(bank)]


def whole(**more: Any) -> dict[str, Any]:
    """Results of the panel."""
    chain = ("bare", "voted", "full")
    return calibrate(BANK, responses(), ARMS, SETTINGS, sizing=SIZING, tiers=TIERS, nested=[chain], **more)


def html(results: dict[str, Any], manifest: dict[str, Any] | None = None, ends: list[EndpointRow] | None = None) -> str:
    study = parse_study({"study": "trial", "corpus": {"folder": "x"}, "seeds": ["lesions"]})
    topics = [Topic(topic_id=item.topic_id, topic=item.topic, subtopic="signs") for item in BANK[::21]]
    told = locking.manifest(BANK, topics, {}, dict.fromkeys(STRATA, 1)) | (manifest or {})
    chunks = {chunk.chunk_id: chunk for chunk in map(passage, range(len(BANK)))}
    return render(study, told, make_funnel(), topics, [], [], BANK, chunks, results, ends or ARMS)


def text_of(page: str, section: str) -> str:
    inner = page.split(f'<section id="{section}"')[1].split("</section>")[0]
    return " ".join(re.sub(r"<[^>]+>", " ", inner).split())


RESULTS = whole()


def test_verdicts_are_told_in_words_and_never_as_equality() -> None:
    page = html(RESULTS)
    told = text_of(page, "power")
    assert "Of 4 pairs: " in told
    assert "resolved (a difference was found)" in told
    assert "No verdict here says that two endpoints are alike" in told
    assert "7.5 points" in told
    assert "Nested configurations" in told
    assert "no difference to" not in told
    assert "not significant" not in page


def test_planned_effect_and_smallest_gain_stand_beside_each_pair() -> None:
    shown = comparison_sections.comparisons(RESULTS, BANK, {})
    row = next(row for row in shown["pairs"] if (row["first"], row["second"]) == ("full", "bare"))
    assert (row["split"], row["gain"], row["limits"]) == ("16 / 1", "+8.9", "+4.8 to +14.4")
    assert (shown["planned"], row["verdict"]) == ("7.5 points", "resolved")
    assert shown["notes"][0][0] == "the item-level and the clustered test disagree"
    assert float(row["power"]) < 80
    shares = comparison_sections.smallest_gains(RESULTS["sizing"])
    assert [share for share, _ in shares] == ["0.0", "2.5", "5.0", "10.0"]
    assert shares[0][1] < shares[1][1]


def test_the_interaction_by_tier_is_unresolved() -> None:
    rows = comparison_sections.group_table(RESULTS)
    (row,) = [row for row in rows if row["axis"] == "tier" and row["pair"] == "full − bare"]
    assert row["p"] == ".104"
    assert row["gains"] == "A +14.1 of 64 (9/0); B +5.8 of 104 (7/1)"
    assert row["verdict"] == "unresolved"


def test_nested_steps_show_what_they_fixed_and_broke() -> None:
    results = RESULTS | {"increments": [
        {**row, "calls_before": 168, "calls_after": 504, "cost_before": 0.5, "cost_after": None}
        for row in RESULTS["increments"]
    ]}  # fmt: skip
    (system,) = comparison_sections.systems(results, BANK)
    assert system["name"] == "bare → voted → full"
    assert [(step["fixed"], step["broken"]) for step in system["steps"]] == [("12", "1"), ("4", "0"), ("16", "1")]
    assert [step["verdict"] for step in system["steps"]] == ["resolved", "underpowered", "resolved"]
    assert (system["steps"][0]["calls"], system["steps"][0]["cost"]) == ("168 to 504", "unknown")
    page = html(results)
    assert BANK[167].stem in text_of(page, "nested")
    assert 'href="#nested"' in page
    assert 'id="nested"' not in html(whole() | {"increments": []})


def test_tiers_say_what_keys_they_rest_on() -> None:
    note = {
        "counts": {"A": 60, "B": 100, "probe": 8}, "reasons": {"2 of 3 keys": 100}, "fixed": "before scoring",
        "sources": {"bank": "model", "other": "model"}, "rule": {"unanimous_keys": 3}, "tier_hash": "abc",
        "agreement": {"percent_agreement": 0.95, "gwet_ac1": 0.93},
    }  # fmt: skip
    told = text_of(html(RESULTS, {"key_release": note}), "tiers")
    assert "Tier A: 60, Tier B: 100, Abstention probe: 8 items." in told
    assert "No person gave a key" in told
    assert "agree on 95.0% of pairs" in told
    assert "one key an item" in text_of(html(RESULTS), "tiers")


def test_the_probe_has_a_line_an_endpoint_or_a_reason() -> None:
    probe = {item.item_id: "probe" if place < 20 else "A" for place, item in enumerate(BANK)}
    rows = [row.model_copy(update={"status": "abstained", "choice": None, "correct": None})
            if place % 2 and row.item_id in probe and probe[row.item_id] == "probe" else row
            for place, row in enumerate(responses())]  # fmt: skip
    table = keys.abstention_rows(BANK, rows, ARMS[:1], probe, offered=True)
    shown = comparison_sections.probe_table({"abstention": table})
    (line,) = shown["lines"]
    assert line["cells"][0].startswith("50 (")
    assert line["cells"][1].startswith("50 (")
    assert (line["n"], line["separation"]) == (["20", "148"], "+50.0")
    assert "+50.0" in text_of(html(RESULTS | {"abstention": table}), "tiers")
    missing = keys.abstention_rows(BANK, rows, ARMS[:1], probe, offered=False)
    assert "set panel.abstention" in comparison_sections.probe_table({"abstention": missing})["reason"]
