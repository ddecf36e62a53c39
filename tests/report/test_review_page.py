"""The review page."""

from __future__ import annotations

import re

from examgen.records import ReviewRow
from examgen.report.review_page import render_review
from examgen.review import VERDICTS
from tests.panels import make_bank, passage

BANK = make_bank(2, 3)
CHUNKS = [passage(place) for place in range(6)]


def row(place: int) -> ReviewRow:
    item = BANK[place]
    return ReviewRow(
        item_id=item.item_id, reason="<queue>", topic=item.topic, stratum=item.stratum, stem=item.stem, options="",
        key=item.key_letter, evidence="",
    )  # fmt: skip


PAGE = render_review("Trial", 'bank"</script>', [row(0), row(4)], BANK, CHUNKS)


def test_every_item_can_be_decided() -> None:
    for place in (0, 4):
        assert PAGE.count(f'name="d-{BANK[place].item_id}"') == len(VERDICTS)
    assert PAGE.count("<mark>") == 2


def test_it_is_offline_and_escaped() -> None:
    assert not re.search(r"https?://|<link|@import|<img", PAGE)
    assert "&lt;queue&gt;" in PAGE
    assert PAGE.count("</script>") == 1


def test_nothing_to_review_says_so() -> None:
    assert "nothing to review" in render_review("Trial", "b", [], BANK, CHUNKS)
