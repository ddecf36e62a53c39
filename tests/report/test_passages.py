"""Quotes marked in their passages."""

from __future__ import annotations

from examgen.records import STRATA, Evidence
from examgen.report.passages import chosen_examples, example, marked
from tests.panels import make_bank, passage

TEXT = "First <b> words. The quote & more stands here. " + "Then other words. " * 60


def evidence(quote: str) -> Evidence:
    start = TEXT.index(quote)
    return Evidence(source_id="s", chunk_id="c", quote=quote, start=start, end=start + len(quote))


def test_markup_of_the_passage_is_escaped_and_the_quote_marked() -> None:
    found = str(marked(TEXT, [evidence("The quote & more stands here.")], around=40))
    assert "<mark>The quote &amp; more stands here.</mark>" in found
    assert "First &lt;b&gt; words." in found
    assert found.endswith(" …")


def test_overlapping_quotes_are_marked_once() -> None:
    found = str(marked(TEXT, [evidence("The quote & more"), evidence("quote & more stands")]))
    assert found.count("stands") == 1
    assert found.count("<mark>") == 2


def test_a_quote_that_is_not_there_marks_nothing() -> None:
    wrong = evidence("The quote").model_copy(update={"start": 3, "end": 12})
    assert "<mark>" not in str(marked(TEXT, [wrong]))


def test_examples_are_spread_over_strata_and_topics() -> None:
    bank = make_bank()
    found = chosen_examples(bank, 1)
    assert [item.stratum for item in found] == list(STRATA)
    assert len({item.topic for item in found}) == 4
    assert found == chosen_examples(bank[::-1], 1)


def test_an_item_without_its_passage_shows_its_quote() -> None:
    item = make_bank(1, 1)[0]
    assert not example(item, {}).passages[0].found
    assert example(item, {passage(0).chunk_id: passage(0)}).passages[0].source == "document_0.md"
