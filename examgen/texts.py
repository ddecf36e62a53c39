"""Normalised text of a source: characters cleaned, lines joined, blocks laid out with their headings and pages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from examgen.records import Section, SourceText

BlockKind = Literal["heading", "paragraph", "item", "table", "code", "furniture"]

HYPHEN_BREAK = "\ufffe"
"""What pdfium writes for a hyphen at a line end; no text holds it, so it marks the place until words are known."""

_LIGATURES = {
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st",
}
_SPACES = "\t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_INVISIBLE = "\u00ad\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
_TRANSLATION: dict[int, str | None] = {
    **{code: None for code in range(32) if chr(code) not in "\n\t"},
    **dict.fromkeys(range(0x7F, 0xA0)),
    **dict.fromkeys(range(0xD800, 0xE000)),
    **dict.fromkeys(map(ord, _INVISIBLE)),
    **{ord(space): " " for space in _SPACES},
    **{ord(ligature): letters for ligature, letters in _LIGATURES.items()},
    0x85: "\n", 0x2028: "\n", 0x2029: "\n",
}
_LINE_END = re.compile(r"\r\n?|\f|\v")
_SPACE_RUN = re.compile(r" {2,}")
_SPACE_AT_BREAK = re.compile(r" ?\n ?")
_BLANK_LINES = re.compile(r"\n{3,}")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BROKEN_WORD = re.compile(rf"(\w+)(?:{HYPHEN_BREAK}\s*|[-\u2010]\n\s*)(\w+)")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document as its reader found it; furniture is a header or footer that its format marks as one."""

    kind: BlockKind
    text: str
    level: int = 0
    page: int | None = None


def clean(text: str) -> str:
    """The text in NFC, ligatures spelled out, invisible and control characters gone, runs of spaces folded.

    Compatibility forms other than ligatures stay: NFKC would turn superscripts into digits, the micro sign into mu.
    """
    text = _LINE_END.sub("\n", text).translate(_TRANSLATION)
    return _BLANK_LINES.sub("\n\n", _SPACE_AT_BREAK.sub("\n", _SPACE_RUN.sub(" ", _composed(text)))).strip()


def clean_code(text: str) -> str:
    """As `clean`, but the indentation of each line stays."""
    lines = _composed(_LINE_END.sub("\n", text).expandtabs(4).translate(_TRANSLATION)).split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _composed(text: str) -> str:
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def join_hyphens(texts: Sequence[str]) -> list[str]:
    """Join words that a line end cut in two in the texts of one document: "dissemi-" and "nation" become one word.

    The document itself decides: the hyphen stays when the hyphenated word occurs unbroken elsewhere in it, when both
    halves occur as words of their own and the joined word does not ("long-" and "term"), or when the first half ends in
    a digit or a capital (T2-).
    """
    if not any(_BROKEN_WORD.search(text) for text in texts):
        return [text.replace(HYPHEN_BREAK, "-") for text in texts]
    known = {word.casefold() for text in texts for word in _WORD.findall(_BROKEN_WORD.sub(" ", text))}

    def joined(match: re.Match[str]) -> str:
        left, right = match.group(1), match.group(2)
        whole, hyphenated = (left + right).casefold(), f"{left}-{right}".casefold()
        if hyphenated in known or left[-1].isdigit() or left[-1].isupper() or not right[0].islower():
            return f"{left}-{right}"
        if whole not in known and left.casefold() in known and right.casefold() in known:
            return f"{left}-{right}"
        return left + right

    # Twice: a word cut at two line ends shares its middle part between two matches.
    return [_BROKEN_WORD.sub(joined, _BROKEN_WORD.sub(joined, text)).replace(HYPHEN_BREAK, "-") for text in texts]


def one_line(text: str) -> str:
    """Cleaned text on a single line."""
    return clean(text).replace("\n\n", " ").replace("\n", " ")


def table_text(rows: Iterable[Sequence[str]]) -> str:
    """A table as readable lines: cells joined by " | ", one row a line; empty rows left out."""
    lines = []
    for row in rows:
        cells = [one_line(cell) for cell in row]
        if any(cells):
            lines.append(" | ".join(cells).strip())
    return "\n".join(lines)


def tidy(block: Block) -> Block | None:
    """The block with its text cleaned as its kind asks; None when nothing is left of it."""
    if block.kind == "code":
        text = clean_code(block.text)
    elif block.kind in ("table", "paragraph"):
        text = clean(block.text).replace("\n\n", "\n")
    else:
        text = one_line(block.text)
    return replace(block, text=text) if text.strip() else None


def compose(source_id: str, path: str, blocks: Iterable[Block], pages: int | None = None) -> SourceText:
    """Lay blocks out as one text: headings and paragraphs apart by a blank line, list items one a line behind "- ".

    `pages` is the number of pages of the source; then `page_starts` has one offset for each, and a page without
    text starts where the next one does. A section starts at its heading's own line.
    """
    parts: list[str] = []
    place = 0
    previous: Block | None = None
    headings: list[tuple[int, str, int]] = []
    page_at: dict[int, int] = {}
    for raw in blocks:
        block = tidy(raw)
        if block is None:
            continue
        if previous is not None:
            gap = "\n" if previous.kind == block.kind == "item" else "\n\n"
            parts.append(gap)
            place += len(gap)
        text = f"- {block.text}" if block.kind == "item" else block.text
        if block.kind == "heading":
            headings.append((max(1, block.level), block.text, place))
        if block.page is not None:
            page_at.setdefault(block.page, place)
        parts.append(text)
        place += len(text)
        previous = block
    return SourceText(
        source_id=source_id, path=path, text="".join(parts), sections=_sections(headings, place),
        page_starts=_page_starts(page_at, pages, place),
    )


def _sections(headings: Sequence[tuple[int, str, int]], length: int) -> tuple[Section, ...]:
    ends = [length] * len(headings)
    still_open: list[int] = []
    for number, (level, _, start) in enumerate(headings):
        while still_open and headings[still_open[-1]][0] >= level:
            ends[still_open.pop()] = start
        still_open.append(number)
    rows = zip(headings, ends, strict=True)
    return tuple(Section(level=level, title=title, start=start, end=end) for (level, title, start), end in rows)


def _page_starts(page_at: dict[int, int], pages: int | None, length: int) -> tuple[int, ...]:
    if pages is None:
        return ()
    starts: list[int] = []
    following = length
    for page in range(pages, 0, -1):
        following = page_at.get(page, following)
        starts.append(following)
    starts.reverse()
    if starts:
        starts[0] = 0
    return tuple(starts)
