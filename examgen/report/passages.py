"""Items beside their evidence: the quotes marked in the passage they were taken from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from examgen.ids import seed_of
from examgen.records import LETTERS, STRATA, BankItem, Chunk, Evidence

AROUND = 360
"""Characters of the passage shown on either side of the quotes."""


@dataclass(frozen=True)
class Passage:
    """A passage with its quotes marked up, and where it stands."""

    source: str
    place: str
    text: Markup
    found: bool


@dataclass(frozen=True)
class Example:
    """An item ready to be shown."""

    item: BankItem
    options: tuple[tuple[str, str, bool], ...]
    passages: tuple[Passage, ...]
    missed: str = ""


def chosen_examples(bank: Sequence[BankItem], per_stratum: int) -> list[BankItem]:
    """So many items of each stratum, drawn by item id alone: nobody picked the good ones. Topics vary first."""
    found: list[BankItem] = []
    topics: set[str] = set()
    for stratum in STRATA:
        mine = sorted((i for i in bank if i.stratum == stratum), key=lambda item: seed_of("example", item.item_id))
        for _ in range(min(per_stratum, len(mine))):
            item = next((item for item in mine if item.topic not in topics), mine[0])
            mine.remove(item)
            topics.add(item.topic)
            found.append(item)
    return found


def example(item: BankItem, chunks: Mapping[str, Chunk], *, with_text: bool = True, missed: str = "") -> Example:
    """An item with its passages; without `with_text` only the places of the evidence are given."""
    options = tuple((LETTERS[place], text, place == item.key) for place, text in enumerate(item.options))
    by_chunk: dict[str, list[Evidence]] = {}
    for evidence in item.evidence:
        by_chunk.setdefault(evidence.chunk_id, []).append(evidence)
    passages = tuple(_passage(chunks.get(name), quotes, with_text) for name, quotes in by_chunk.items())
    return Example(item, options, passages, missed)


def _passage(chunk: Chunk | None, quotes: list[Evidence], with_text: bool) -> Passage:
    if chunk is None:
        said = Markup(" … ").join(Markup("<mark>{}</mark>").format(evidence.quote) for evidence in quotes)
        return Passage(quotes[0].source_id, "passage not in the chunk table", said if with_text else Markup(""), False)
    page = f", page {chunk.page}" if chunk.page is not None else ""
    place = f"{chunk.heading or 'no heading'}{page}, characters {chunk.start} to {chunk.end}"
    return Passage(chunk.path, place, marked(chunk.text, quotes) if with_text else Markup(""), True)


def marked(text: str, quotes: Sequence[Evidence], around: int = AROUND) -> Markup:
    """The passage with its quotes in <mark>, cut to `around` characters on either side of them, all else escaped."""
    spans = sorted((e.start, e.end) for e in quotes if text[e.start : e.end] == e.quote)
    if not spans:
        return escape(text[: 2 * around])
    begin = _word_edge(text, max(0, spans[0][0] - around))
    end = _word_edge(text, min(len(text), max(stop for _, stop in spans) + around))
    parts = [Markup("… ") if begin else Markup("")]
    at = begin
    for start, stop in spans:
        if stop <= at:
            continue
        start = max(start, at)
        parts += [escape(text[at:start]), Markup("<mark>{}</mark>").format(text[start:stop])]
        at = stop
    parts += [escape(text[at:end]), Markup(" …") if end < len(text) else Markup("")]
    return Markup("").join(parts)


def _word_edge(text: str, at: int) -> int:
    """The next space at or after a place, so that no word is cut; ends stay."""
    if at in (0, len(text)):
        return at
    space = text.find(" ", at)
    return len(text) if space < 0 else space + (1 if at < space else 0)
