"""PDF pages as blocks: pdfium first (fast, geometry of each line), pypdf behind it, page furniture removed."""

from __future__ import annotations

import ctypes
import itertools
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from examgen.matter import furniture, keyword_card, outermost
from examgen.texts import HYPHEN_BREAK, Block, BlockKind, join_hyphens
from tasks.pdf_tables import Line, joined_rows
from tasks.reading import ReadError, Reading

_BULLET = re.compile(r"^\s*(?:[\u2022\u25cf\u25aa\u25e6\u2023\u2043\u00b7\uf0b7]\s*|[-\u2013\u2014*]\s+)(?=\S)")
_NUMBERED = re.compile(r"^\s*(?:\d{1,2}[.)]|\([a-z0-9]\))\s+\S")
_SENTENCE_END = re.compile(r"[.!?:;][\"')\]\u201d\u2019]*$")

_GAP = 1.5
"""A space wider than this many times the size of the type parts the cells of a table."""


def read_pdf(path: Path, drop_furniture: bool) -> Reading:
    """Read a PDF; `ReadError` when it is encrypted, cut short or no PDF at all."""
    try:
        pages, properties = _pdfium_pages(path)
        reader = "pdfium"
    except ReadError as first:
        pages, properties = _pypdf_pages(path, str(first))
        reader = "pypdf"
    about = {"title": properties.get("title", ""), **keyword_card(properties.get("keywords", ""))}
    reading = Reading([], about, len(pages), reader, empty_reason="empty: no text layer (a scan needs OCR first)")
    drop = _furniture(pages) if drop_furniture else set()
    dropped = sum(len(pages[page][place].text) for page, place in drop)
    reading.note(f"{len(drop)} lines of repeated page furniture", dropped)
    kept = [[line for place, line in enumerate(lines) if (page, place) not in drop] for page, lines in enumerate(pages)]
    blocks = _blocks([joined_rows(lines) for lines in kept])
    texts = join_hyphens([block.text for block in blocks])
    reading.blocks = [replace(block, text=text) for block, text in zip(blocks, texts, strict=True)]
    return reading


def _furniture(pages: list[list[Line]]) -> set[tuple[int, int]]:
    """Repeated lines among those outermost on the page, by height where it is known, else by place in the text."""
    texts = [[line.text for line in lines] for lines in pages]
    heights = [[line.top or -float(place) for place, line in enumerate(lines)] for lines in pages]
    return furniture(texts, [outermost(tops, lines) for tops, lines in zip(heights, texts, strict=True)])


def _pdfium_pages(path: Path) -> tuple[list[list[Line]], dict[str, str]]:
    import pypdfium2 as pdfium

    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        raise ReadError(_why(str(error))) from error
    try:
        properties = {key.lower(): value for key, value in document.get_metadata_dict().items() if value}
        return [_pdfium_lines(document[number], number + 1) for number in range(len(document))], properties
    except pdfium.PdfiumError as error:
        raise ReadError(_why(str(error))) from error
    finally:
        document.close()


def _why(message: str) -> str:
    if "password" in message.lower():
        return "encrypted: needs a password"
    return f"pdfium: {message}"


def _pdfium_lines(page: Any, number: int) -> list[Line]:
    import pypdfium2.raw as raw

    text_page = page.get_textpage()
    count = text_page.count_chars()
    text = text_page.get_text_range()
    # Positions are those of pdfium's own characters; they fit the text only while both count alike.
    measured = len(text) == count
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))

    def box(place: int) -> tuple[float, float, float]:
        """Left, right and middle height of a character, in points from the lower left corner."""
        raw.FPDFText_GetCharBox(text_page, place, left, right, bottom, top)
        return left.value, right.value, (top.value + bottom.value) / 2

    lines = []
    place = 0
    for piece in text.split("\n"):
        line = Line(piece.rstrip("\r"), number)
        first = next((at for at, character in enumerate(piece) if not character.isspace()), None)
        if measured and first is not None:
            line.size = round(raw.FPDFText_GetFontSize(text_page, place + first), 1)
            line.top = box(place + first)[2]
            wide = _GAP * max(line.size, 1.0)
            gaps = [
                at for at in range(first + 1, len(line.text) - 1)
                if line.text[at] == " " and box(place + at + 1)[0] - box(place + at - 1)[1] > wide
            ]
            edges = [first - 1, *gaps, len(line.text)]
            line.cells = tuple(
                (box(place + start + 1)[0], line.text[start + 1 : end].strip())
                for start, end in itertools.pairwise(edges)
            )
            line.text = " | ".join(text for _, text in line.cells)
        lines.append(line)
        place += len(piece) + 1
    text_page.close()
    page.close()
    return lines


def _pypdf_pages(path: Path, first_reason: str) -> tuple[list[list[Line]], dict[str, str]]:
    import pypdf
    from pypdf.errors import DependencyError, PyPdfError

    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise ReadError("encrypted: needs a password")
        pages = [
            [Line(text, number) for text in page.extract_text().split("\n")]
            for number, page in enumerate(reader.pages, start=1)
        ]
        about: dict[str, Any] = dict(reader.metadata or {})
        properties = {key.lstrip("/").lower(): str(value) for key, value in about.items() if value}
    except (PyPdfError, DependencyError, ValueError, KeyError, TypeError, AttributeError, IndexError, OSError) as error:
        # A parser fed broken files fails in many ways: each of these means that the file is not well formed.
        told = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise ReadError(f"{first_reason}; pypdf: {told}") from error
    return pages, properties


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a document is set: size of running text, distance of lines, length from which a line counts as full."""

    body: float
    pitch: float
    full: float


def _layout(lines: list[Line]) -> _Layout:
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    steps = [a.top - b.top for a, b in itertools.pairwise(lines) if a.page == b.page and a.top - b.top > 1]
    widths = sorted(len(line.text) for line in lines if len(line.text) > 20)
    return _Layout(
        body=sizes.most_common(1)[0][0] if sizes else 0.0, pitch=median(steps) if steps else 0.0,
        full=0.6 * widths[int(0.9 * len(widths))] if widths else 0.0,
    )


def _blocks(pages: list[list[Line]]) -> list[Block]:
    """Lines as headings (larger type), list items, table rows and paragraphs; a paragraph goes on over a page's end."""
    lines = [line for page in pages for line in page]
    layout = _layout(lines)
    larger = sorted({line.size for line in lines if _kind(line, layout) == "heading"}, reverse=True)
    level_of = {size: min(6, number + 1) for number, size in enumerate(larger)}
    blocks: list[Block] = []
    last: Line | None = None
    for line in lines:
        text = line.text.strip()
        if not text:
            # A blank line parts paragraphs; at the end of a page it is where the page ends.
            last = None if last is not None and last.page == line.page else last
            continue
        kind = _kind(line, layout)
        if last is not None and blocks and _goes_on(blocks[-1], last, line, kind, layout):
            joint = _joint(blocks[-1], last, line, layout)
            blocks[-1] = replace(blocks[-1], text=f"{blocks[-1].text}{joint}{text}")
        else:
            text = _BULLET.sub("", text, count=1) if kind == "item" else text
            blocks.append(Block(kind, text, level_of[line.size] if kind == "heading" else 0, line.page))
        last = line
    return blocks


def _kind(line: Line, layout: _Layout) -> BlockKind:
    text = line.text.strip()
    if _BULLET.match(text):
        return "item"
    if " | " in text:
        return "table"
    large = layout.body > 0 and line.size > 1.08 * layout.body
    return "heading" if large and 2 < len(text) <= 200 and any(map(str.isalpha, text)) else "paragraph"


def _goes_on(block: Block, last: Line, line: Line, kind: BlockKind, layout: _Layout) -> bool:
    """Whether a line continues the block of the line before it."""
    if "table" in (kind, block.kind):
        return kind == block.kind and line.page == last.page
    if "heading" in (kind, block.kind):
        near = last.top - line.top < 1.6 * max(layout.pitch, line.size)
        return kind == block.kind and line.size == last.size and last.page == line.page and near
    if kind == "item" or _NUMBERED.match(line.text):
        return False
    ended = _SENTENCE_END.search(last.text.strip())
    open_end = not ended and (line.text.strip()[:1].islower() or len(last.text.strip()) >= layout.full)
    if last.page != line.page:
        return open_end
    if layout.pitch and last.top and line.top and last.top - line.top > 1.4 * layout.pitch:
        return False
    # A line above the one before it: the next column, or a box; a sentence may go on there.
    return open_end if line.top > last.top + layout.pitch else True


def _joint(block: Block, last: Line, line: Line, layout: _Layout) -> str:
    """What stands between two lines of a block: a space in running text, a line break between rows and short lines."""
    if block.kind == "table":
        return "\n"
    if block.text.endswith(HYPHEN_BREAK):
        return ""
    if block.text.endswith(("-", "\u2010")) and block.text[-2:-1].isalpha():
        return "\n"
    short = len(last.text.strip()) < layout.full and not line.text.strip()[:1].islower()
    return "\n" if block.kind == "paragraph" and short else " "
