"""Passages: texts cut into overlapping pieces that together hold every character, each with its place in the source."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from examgen import ids
from examgen.records import Chunk, Section, SourceText
from examgen.study import Chunking

_SENTENCE_END = re.compile(r"[.!?][\"')\]\u201d\u2019]*\s+(?=[\"'(\[\u201c\u2018]?[^\Wa-z_])")
"""End of a sentence: its mark, closing quotes, white space, then no lower-case letter."""

_NOT_AN_END = re.compile(r"\b(?:[A-Z]|e\.g|i\.e|cf|vs|al|Figs?|Eq|Dr|Prof|No|approx|resp|ca)\.\s+$")
"""Dots that end no sentence: initials and common abbreviations."""

_ROW_START = 500
"""A table row shows its first bar within this many characters."""

_JOINER = "\u200d"
"""Joins signs into one, as in emoji."""


@dataclass(frozen=True, slots=True)
class _Text:
    """A text with the places that cutting asks for again and again."""

    text: str
    headings: tuple[int, ...]

    def first_sentence(self, low: int, high: int) -> int:
        """First place in [low, high] where a sentence starts behind another, -1 without one."""
        for match in _SENTENCE_END.finditer(self.text, max(0, low - 4), high):
            if match.end() >= low and not _NOT_AN_END.search(self.text, match.start() - 8, match.end()):
                return match.end()
        return -1

    def last_sentence(self, low: int, high: int) -> int:
        """Last place in [low, high] where a sentence starts behind another, -1 without one."""
        found = -1
        # Most often it is close to the end: the whole stretch is searched only when it is not.
        for start in (max(low, high - 200), low):
            place = self.first_sentence(start, high)
            while place >= 0:
                found = place
                place = self.first_sentence(place + 1, high)
            if found >= 0 or start == low:
                break
        return found

    def headings_in(self, low: int, high: int) -> tuple[int, ...]:
        """Places in [low, high] where a heading starts."""
        return self.headings[bisect_left(self.headings, low) : bisect_right(self.headings, high)]


def cut(text: SourceText, chunking: Chunking) -> list[Chunk]:
    """Cut a text into passages of at most `chunking.size` characters.

    Every passage is a slice of the text, each starts at or before the end of the one before it, and together they hold
    every character. The mode "characters" steps by size - overlap. The mode "structure" ends passages before headings,
    at paragraphs, before a table row or list item that would not fit whole, at sentences, at spaces, in that order of
    preference, and starts the overlap at a sentence; across a heading nothing overlaps, for nothing was cut there.
    """
    spans = _character_spans(text.text, chunking) if chunking.mode == "characters" else _structure_spans(text, chunking)
    whole, source, path, page_starts = text.text, text.source_id, text.path, text.page_starts
    heading_starts, heading_paths = _heading_paths(text.sections)
    titles = {section.start: len(section.title) for section in text.sections}
    ids_of = ids.passage_ids(source)
    found = []
    for ordinal, (start, end) in enumerate(spans):
        passage = whole[start:end]
        chunk_id, content_hash = ids_of(start, passage)
        body = _body_start(whole, titles, start, end) if start in titles else start
        values = {
            "chunk_id": chunk_id, "content_hash": content_hash, "source_id": source, "path": path,
            "page": (bisect_right(page_starts, start) or 1) if page_starts else None,
            "start": start, "end": end, "ordinal": ordinal,
            "heading": heading_paths[bisect_right(heading_starts, body)], "text": passage,
        }
        found.append(_chunk(values))
    return found


_FIELDS = set(Chunk.model_fields)


def _chunk(values: dict[str, Any]) -> Chunk:
    """A passage of values that fit, all fields given, made as unpickling makes one: checking them would take a third
    of the time of cutting."""
    chunk = Chunk.__new__(Chunk)
    parts = {"__pydantic_fields_set__": _FIELDS, "__pydantic_extra__": None, "__pydantic_private__": None}
    chunk.__setstate__({"__dict__": values, **parts})
    return chunk


def _body_start(text: str, titles: Mapping[int, int], start: int, end: int) -> int:
    """Where a passage's running text begins: behind the headings it opens with, so that the innermost names it.

    `titles` maps where headings start to their lengths.
    """
    place = start
    while place in titles:
        below = _skip_space(text, place + titles[place], end)
        if below >= end:
            break
        place = below
    return place


def _character_spans(text: str, chunking: Chunking) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = min(start + chunking.size, len(text))
        spans.append((start, end))
        if end == len(text):
            break
        start = end - chunking.overlap
    return spans


def _structure_spans(source: SourceText, chunking: Chunking) -> list[tuple[int, int]]:
    text = _Text(source.text, tuple(sorted({section.start for section in source.sections})))
    spans: list[tuple[int, int]] = []
    start = previous = 0
    while start < len(text.text):
        end = _end_of(text, start, previous, chunking.size)
        spans.append((start, end))
        if end == len(text.text):
            break
        start, previous = _next_start(text, start, end, chunking.overlap), end
    return spans


def _end_of(text: _Text, start: int, previous: int, size: int) -> int:
    """Where a passage that starts at `start` ends; always behind `previous`, the end of the passage before it."""
    limit = start + size
    if limit >= len(text.text):
        return len(text.text)
    # The first half is no place to end: passages would become small and many.
    low = max(start + size // 2, previous + 1)
    number = bisect_right(text.headings, limit)
    if number and text.headings[number - 1] >= low:
        return text.headings[number - 1]
    paragraph = text.text.rfind("\n\n", low - 2, limit) + 2
    if paragraph >= low:
        return _before_heading(text, start, previous, paragraph)
    line = text.text.rfind("\n", max(start, previous), limit) + 1
    if line > max(start, previous) and _is_unit(text.text, line):
        return _before_heading(text, start, previous, line)
    sentence = text.last_sentence(low, limit)
    if sentence >= 0:
        return sentence
    if line > low:
        return line
    space = text.text.rfind(" ", low - 1, limit)
    return space + 1 if space >= low - 1 and space >= 0 else _whole_character(text.text, low, limit)


def _before_heading(text: _Text, start: int, previous: int, end: int) -> int:
    """The end moved before a heading that would stand alone at the bottom of the passage."""
    floor = max(start, previous) + 1
    headings = text.headings_in(floor, end - 1)
    while headings and text.text.find("\n", headings[-1]) + 2 >= end:
        end = headings[-1]
        headings = headings[:-1]
    return end


def _is_unit(text: str, line: int) -> bool:
    """Whether the line that starts at `line` is a list item or a table row, which should stay whole."""
    if text.startswith("- ", line):
        return True
    bar = text.find(" | ", line, line + _ROW_START)
    return bar >= 0 and "\n" not in text[line:bar]


def _next_start(text: _Text, start: int, end: int, overlap: int) -> int:
    """Where the passage behind the one at [start, end) begins: at most `overlap` characters before its end."""
    low = max(end - overlap, start + 1)
    if overlap == 0 or low >= end or text.headings_in(end, end):
        return end
    headings = text.headings_in(low, end - 1)
    if headings:
        return headings[0]
    line = text.text.find("\n", low - 1, end - 1) + 1
    cut_line = text.text.rfind("\n", start, low) + 1 or start
    if _is_unit(text.text, cut_line) and (line or text.text[end - 1] == "\n"):
        # The overlap would start inside a table row or list item: it starts behind it, if there is something behind it.
        return line if low <= line < end else end
    sentence = text.first_sentence(low, end - 1)
    starts = [place for place in (line, sentence) if low <= place < end]
    if starts:
        return _skip_space(text.text, min(starts), end)
    space = text.text.find(" ", low - 1, end - 1)
    return space + 1 if space >= 0 else _whole_character(text.text, start + 1, low)


def _skip_space(text: str, place: int, end: int) -> int:
    while place < end and text[place].isspace():
        place += 1
    return place


def _whole_character(text: str, low: int, place: int) -> int:
    """`place` moved back so that no combining mark or joined sign is parted from what it stands on."""
    moved = place
    while moved > low and (unicodedata.combining(text[moved]) or _JOINER in (text[moved], text[moved - 1])):
        moved -= 1
    return moved if moved > low else place


def _heading_paths(sections: Sequence[Section]) -> tuple[list[int], list[str]]:
    """Where headings start, and the headings above a place, outermost first, by how many start at or before it."""
    starts: list[int] = []
    paths: list[str] = [""]
    above: list[tuple[int, str]] = [(-1, "")]
    for section in sorted(sections, key=attrgetter("start")):
        level, title = section.level, section.title
        while len(above) > 1 and above[-1][0] >= level:
            above.pop()
        path = f"{above[-1][1]} > {title}" if len(above) > 1 else title
        above.append((level, path))
        starts.append(section.start)
        paths.append(path)
    return starts, paths
