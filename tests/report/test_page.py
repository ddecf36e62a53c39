"""The page: offline, complete, escaped, without a NaN."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from examgen import locking
from examgen.calibration import calibrate
from examgen.records import STRATA, BankItem, Coverage, EndpointRow, Finding, Response, Topic
from examgen.report.figures import all_figures
from examgen.report.page import render
from examgen.report.panel_figures import LABEL_GAP, _spread
from examgen.report.svg import wrapped
from examgen.study import Statistics, Study, parse_study
from examgen.tables import SCHEMAS
from tests.panels import PANEL, endpoint, make_answers, make_bank, make_funnel, passage

BANK = make_bank()
SETTINGS = Statistics(bootstrap_replicates=200, permutations=9)
VOID = {"meta", "br", "link", "img", "input", "hr"}


def study(**changes: Any) -> Study:
    return parse_study(
        {"study": "trial", "title": "A <trial> & more", "corpus": {"folder": "x"}, "seeds": ["lesions"], **changes}
    )


def page(bank: list[BankItem], given: list[Response], endpoints: list[EndpointRow], **changes: Any) -> str:
    results = calibrate(bank, given, endpoints, SETTINGS, funnel=make_funnel())
    topics = [
        Topic(topic_id=item.topic_id, topic=item.topic, subtopic=item.subtopic, description="signs <b>")
        for item in bank[::8]
    ]
    coverage = [Coverage(concept="Rim & core", covered=True, topic="topic 0", subtopic="signs", items=0),
                Coverage(concept="Vein", covered=False, reason="no passage")]  # fmt: skip
    findings = [
        Finding(candidate_id="c", item_id="i", suite="s", expectation="expect", check_id="length", severity="reject",
                observed="9", limit="3")
    ]  # fmt: skip
    manifest = locking.manifest(bank, topics, {}, dict.fromkeys(STRATA, 1))
    chunks = {chunk.chunk_id: chunk for chunk in map(passage, range(len(bank)))}
    return render(
        study(**changes), manifest, make_funnel(), topics, coverage, findings, bank, chunks, results, endpoints,
        {"Data Docs": "data_docs/index.html"},
    )  # fmt: skip


WHOLE = [*(endpoint(name, family=f"f{n}") for n, name in enumerate(PANEL)), endpoint("chance", "baseline")]
FULL = page(BANK, make_answers(BANK, {**PANEL, "chance": 0.25}, missing=0.02, orders=4), WHOLE)
LONELY = page(BANK, make_answers(BANK, {"model-0": 0.3}), WHOLE[:1])
EMPTY = page([], [], [])
PAGES = pytest.mark.parametrize("html", [FULL, LONELY, EMPTY], ids=["panel", "one endpoint", "empty bank"])


class Balance(HTMLParser):
    """Checks that every element is closed where it should be, and that ids are unique."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@PAGES
def test_well_formed(html: str) -> None:
    parser = Balance()
    parser.feed(html)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    for target in re.findall(r'href="#([^"]+)"', html):
        assert target in parser.ids


@PAGES
def test_nothing_from_outside_and_no_nan(html: str) -> None:
    plain = html.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|<script|<link|@import|url\(|<img", plain)
    assert not re.search(r"\b(nan|None|inf)\b", re.sub(r"<[^>]*>", " ", html))
    assert "{{" not in html


def test_text_is_escaped() -> None:
    assert "A &lt;trial&gt; &amp; more" in FULL
    assert "<trial>" not in FULL
    assert "signs &lt;b&gt;" in FULL


def test_the_same_input_gives_the_same_bytes() -> None:
    assert page(BANK, make_answers(BANK, {"model-0": 0.3}), WHOLE[:1]) == LONELY


def test_tables_and_figures_are_numbered_without_gaps() -> None:
    for word, mark in (("Table", "caption"), ("Figure", "figcaption")):
        for html in (FULL, LONELY):
            numbers = [int(n) for n in re.findall(rf"<{mark}><b>{word} (\d+)\.", html)]
            assert numbers == list(range(1, len(numbers) + 1))


def test_the_quote_is_marked_in_its_passage() -> None:
    quotes = [item.evidence[0].quote for item in BANK]
    marked = re.findall(r"<mark>(.*?)</mark>", FULL)
    assert len(marked) == 8
    assert set(marked) <= set(quotes)


def test_source_text_can_be_left_out() -> None:
    html = page(BANK, make_answers(BANK, PANEL), WHOLE[:7], report={"include_source_text": False})
    assert "<mark>" not in html
    assert "Passage 1 opens here" not in html
    assert "Source text is left out" in html


def test_a_small_panel_is_told_why() -> None:
    assert "1 primary endpoint: at least 5 are needed" in LONELY
    assert "asked in one option order" in LONELY
    assert "need at least 5 and are not estimable here" in LONELY


def test_limitations_come_from_the_data() -> None:
    text = re.sub(r"\s+", " ", FULL[FULL.index('id="limitations"') :])
    assert "1 of 2 checklist concepts are not covered: Vein." in text
    assert "The subtopics of 1 covered checklist concepts have no item" in text
    assert "1 of 2 concepts are covered by a subtopic, 1 of them by one without an item in the bank." in FULL
    assert "topic 0, signs (no item)" in FULL
    assert "permutation null" in text
    assert "unresolved rows" in text.lower()


def test_figures_stand_alone_and_describe_themselves() -> None:
    given = make_answers(BANK, {**PANEL, "chance": 0.25})
    found = all_figures(calibrate(BANK, given, WHOLE, SETTINGS), WHOLE, make_funnel())
    assert list(found) == ["funnel", "accuracy", "strata", "topics", "difficulty", "cues"]
    for figure in found.values():
        root = ElementTree.fromstring(figure.svg)
        names = {child.tag.split("}")[1]: child for child in root}
        assert names["title"].text
        assert names["desc"].text
        assert root.get("role") == "img"
        assert figure.data in SCHEMAS


@pytest.mark.parametrize("seed", range(8))
def test_small_random_evaluations_never_show_a_nan(seed: int) -> None:
    """One topic or several, one endpoint or six, all right or all wrong, rows missing or unread, repeats or orders."""
    random = np.random.default_rng(seed)
    bank = make_bank(int(random.integers(1, 4)), int(random.integers(1, 5)), int(random.integers(2, 5)), seed)
    names = [f"m{n}" for n in range(int(random.choice([1, 2, 6])))]
    share = random.choice([0.0, 0.5, 1.0], size=len(names))
    given = make_answers(
        bank, dict(zip(names, share.tolist(), strict=True)), seed=seed, missing=float(random.choice([0.0, 0.3, 1.0])),
        orders=int(random.choice([1, 2])),
    )  # fmt: skip
    given += [row.model_copy(update={"repeat": 1}) for row in given if random.random() < 0.3 and row.order == 0]
    given = [row for row in given if random.random() < 0.9]
    roles = random.choice(["primary", "baseline", "construction_overlap"], p=[0.8, 0.1, 0.1], size=len(names))
    panel = [endpoint(name, str(role)) for name, role in zip(names, roles, strict=True)]
    html = page(bank, given, panel)
    text = re.sub(r"<[^>]*>", " ", html)
    assert not re.search(r"\b(nan|None|inf|NaN)\b", text)
    assert not re.search(r'="[^"]*\bnan\b', html)


def test_labels_stand_apart_and_near_their_lines() -> None:
    places = sorted([80.0, 81, 82, 83, 84, 120, 121, 260])
    found = _spread(places, 16, 270)
    assert all(b - a >= LABEL_GAP - 1e-9 for a, b in pairwise(found))
    assert min(found) >= 16
    assert max(found) <= 270
    assert found[-1] == 260
    assert abs(np.mean(found[:5]) - 82) < 5
    assert _spread([50.0], 16, 270) == [50.0]


def test_long_topics_are_wrapped_and_not_cut() -> None:
    words = "Gadolinium contrast agents: use, safety and retention in the brain"
    assert " ".join(wrapped(words, 40)) == words
    assert wrapped(words * 3, 30)[-1].endswith("…")
    assert wrapped("", 30) == [""]


def test_what_the_synthetic_panel_is_told() -> None:
    """Leave-one-out, sensitivity, differential functioning, slopes, short form, interactions and orders are there."""
    text = " ".join(re.sub(r"<[^>]*>", " ", FULL).split())
    for said in (
        "Misses of the panel against misses without one endpoint", "items with differential functioning", "2PL slope",
        "A short form: fewest items that keep the ranking", "Is a difference the same in every stratum?",
        "Over the panel a score changes by", "Range of the primary endpoints’ accuracies", "KR-20",
        "below 30 discrimination is noise", "every item was asked once an order",
    ):  # fmt: skip
        assert said in text, said
