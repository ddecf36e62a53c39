"""What of a document is not its body: front matter, reference lists, headers and footers that repeat on its pages."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from examgen.texts import Block

FRONT_MATTER_LIMIT = 20_000
"""Characters of YAML read at most: front matter is a card, not a document, and YAML aliases can grow without bound."""

REPEATED_SHARE = 0.5
"""A line at the edge of a page is furniture when it occurs on more than this share of the pages."""

REPEATED_SHARE_OF_SIDE = 0.8
"""The same for a line of left or right pages alone, which needs three of them."""

_BOTH_SIDES = -1

EDGE_LINES = 3
"""How many lines at the top and the bottom of a page can be furniture."""

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_REFERENCES = re.compile(
    r"(?:\d+\.?\s+)?(?:references(?: cited)?|reference list|bibliography|literature(?: cited)?|works cited)\W*",
    re.IGNORECASE,
)
_REFERENCE_LINE = re.compile(r"\W*(?:primary|key|main|suggested)?\s*references?\s*:", re.IGNORECASE)
_YEAR = re.compile(r"\b(1[89]\d\d|20\d\d)\b")
_DIGITS = re.compile(r"\d{1,9}")


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The YAML front matter of a text as a mapping (empty without one) and the text behind it."""
    match = _FRONT_MATTER.match(text)
    if match is None or len(match.group(1)) > FRONT_MATTER_LIMIT:
        return {}, text
    try:
        data = yaml.safe_load(match.group(1))
    except (yaml.YAMLError, ValueError):
        # Not YAML after all (a rule, a poem, a date that does not exist): then it is text.
        return {}, text
    if not isinstance(data, dict):
        return {}, text
    return {str(key).casefold(): value for key, value in data.items()}, text[match.end() :]


def year_of(value: Any) -> int | None:
    """The year in a date, a number or a text; None without one."""
    if isinstance(value, datetime.date):
        return value.year
    match = _YEAR.search(str(value)) if isinstance(value, (str, int)) else None
    return int(match.group(1)) if match else None


def card(data: Mapping[str, Any]) -> dict[str, Any]:
    """Title, year, kind and licence from front matter or from the meta elements of a page; what is absent stays out."""
    found: dict[str, Any] = {}
    for field, names in (
        ("title", ("title", "dc.title")), ("kind", ("kind", "type")),
        ("licence", ("licence", "license", "rights", "dc.rights")),
    ):
        value = next((data[name] for name in names if isinstance(data.get(name), str) and data[name].strip()), None)
        if value:
            found[field] = " ".join(value.split())
    year = next((year_of(data[name]) for name in ("date", "year", "dc.date") if data.get(name)), None)
    if year:
        found["year"] = year
    return found


def keyword_card(keywords: str) -> dict[str, str]:
    """`name: value` pairs of a document's keyword property, the place office formats have for a licence and a date."""
    pairs = (part.partition(":") for part in re.split(r"[;\n]", keywords))
    return {name.strip().casefold(): value.strip() for name, colon, value in pairs if colon and value.strip()}


def drop_references(blocks: Sequence[Block]) -> tuple[list[Block], int]:
    """Blocks without reference sections and "References: ..." lines, and the number of characters left out."""
    kept: list[Block] = []
    dropped = 0
    level: int | None = None
    for block in blocks:
        if block.kind == "heading":
            if level is not None and block.level <= level:
                level = None
            if level is None and _REFERENCES.fullmatch(block.text.strip()):
                level = block.level
        if level is not None or (block.kind == "paragraph" and _REFERENCE_LINE.match(block.text)):
            dropped += len(block.text)
        else:
            kept.append(block)
    return kept, dropped


def furniture(pages: Sequence[Sequence[str]], edges: Sequence[Sequence[int]] | None = None) -> set[tuple[int, int]]:
    """(page, line) places of headers, footers and page numbers: edge lines that occur on most pages.

    A line also counts as the same when a number in it goes up with the pages ("Page 3 of 9"), and a line of nearly all
    left or all right pages counts too, as in books. `edges` are the places of the lines that are outermost as printed,
    page by page; without them, the first and last lines in reading order. Needs three pages: on two nothing is proved.
    """
    if len(pages) < 3:
        return set()
    if edges is None:
        edges = [outermost([float(-place) for place in range(len(lines))], lines) for lines in pages]
    forms = [
        {place: _forms(lines[place], number) for place in places}
        for number, (lines, places) in enumerate(zip(pages, edges, strict=True))
    ]
    seen: Counter[tuple[int, str]] = Counter()
    for number, page in enumerate(forms):
        occurring = set().union(*page.values())
        seen.update((side, form) for form in occurring for side in (_BOTH_SIDES, number % 2))

    def repeats(form: str, number: int) -> bool:
        side = number % 2
        of_side = len(range(side, len(pages), 2))
        on_most = seen[_BOTH_SIDES, form] > REPEATED_SHARE * len(pages)
        return on_most or (of_side >= 3 and seen[side, form] > REPEATED_SHARE_OF_SIDE * of_side)

    return {
        (number, place)
        for number, page in enumerate(forms)
        for place, found in page.items()
        if any(repeats(form, number) for form in found)
    }


def outermost(heights: Sequence[float], lines: Sequence[str]) -> list[int]:
    """Places of the `EDGE_LINES` highest and lowest lines of a page that are not blank."""
    full = sorted((place for place, line in enumerate(lines) if line.strip()), key=lambda place: -heights[place])
    return sorted({*full[:EDGE_LINES], *full[-EDGE_LINES:]})


def _forms(line: str, page: int) -> set[str]:
    """The line as compared between pages: as it is, and with each of its numbers told as a distance from the page's."""
    plain = " ".join(line.split()).casefold()
    numbers = list(_DIGITS.finditer(plain))[:6]
    return {plain} | {
        f"{plain[: match.start()]}<{int(match.group()) - page}>{plain[match.end() :]}" for match in numbers
    }
