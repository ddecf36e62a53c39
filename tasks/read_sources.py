"""Documents of a folder as normalised texts, each file a row; read in child processes with limits, kept in a cache."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from examgen.matter import split_front_matter
from examgen.records import Source, SourceText
from examgen.study import Corpus
from examgen.texts import Block, join_hyphens
from tasks.corpus_files import FileEntry, scan
from tasks.read_markup import decode, html_card, html_table
from tasks.reading import Reading

__all__ = ["FileEntry", "iter_files", "read_file", "read_files", "scan", "unstructured_reading"]

_FENCE = re.compile(r"^\s*(```|~~~)")
_LIST_LINE = re.compile(r"^(?:[-*+]|\d{1,3}[.)])\s+\S")
_TITLE_WORDS = 14

_NO_LANGUAGE = [""]
"""Asks for no language detection, which would take half the time of reading and is not used."""


def read_file(entry: FileEntry, corpus: Corpus) -> tuple[Source, SourceText | None]:
    """Read one file in a child process of its own; what cannot be read is a row with the reason."""
    return next(iter_files([entry], corpus, None))


def read_files(
    entries: Sequence[FileEntry], corpus: Corpus, cache: Path | None
) -> list[tuple[Source, SourceText | None]]:
    """All files in the order of their paths, duplicates and near duplicates marked; see `iter_files`."""
    return list(iter_files(entries, corpus, cache))


def iter_files(
    entries: Sequence[FileEntry], corpus: Corpus, cache: Path | None
) -> Iterator[tuple[Source, SourceText | None]]:
    """Files one after the other in the order of their paths, so that memory does not grow with their number.

    A file whose size and time of change are those of the last run is taken from the cache unread; one whose bytes are
    known under another name or time is not parsed again either. Never raises for a file: that is a row with a reason.
    """
    from tasks.manifest import Manifest

    yield from Manifest(corpus, cache).rows(sorted(entries, key=lambda entry: entry.path))


def prepare_unstructured() -> None:
    """Make unstructured work offline: no telemetry, a blank sentence splitter for the model it would download."""
    os.environ.update(DO_NOT_TRACK="1", SCARF_NO_ANALYTICS="true", UNSTRUCTURED_DISABLE_NOTICE="1")
    import spacy
    import unstructured.nlp.tokenize as tokenize

    def blank() -> Any:
        model = spacy.blank("en")
        model.add_pipe("sentencizer")
        model.max_length = 50_000_000
        return model

    tokenize._load_spacy_model = blank


def unstructured_reading(path: Path, data: bytes, media_type: str, drop_front_matter: bool) -> Reading:
    """Read a document with unstructured; runs in the reading process only. `data` are the bytes of the file."""
    prepare_unstructured()
    kind = media_type.rpartition("/")[2].rpartition(".")[2]
    elements: Sequence[Any]
    if kind == "document":
        from unstructured.partition.docx import partition_docx

        elements = partition_docx(filename=str(path), languages=_NO_LANGUAGE)
    elif kind == "presentation":
        from unstructured.partition.pptx import partition_pptx

        elements = partition_pptx(filename=str(path), include_slide_notes=True, languages=_NO_LANGUAGE)
    elif kind == "csv":
        from unstructured.partition.csv import partition_csv

        elements = partition_csv(file=io.BytesIO(decode(data).encode()), languages=_NO_LANGUAGE)
    elif kind == "tab-separated-values":
        from unstructured.partition.tsv import partition_tsv

        elements = partition_tsv(file=io.BytesIO(decode(data).encode()), languages=_NO_LANGUAGE)
    else:
        return _text_reading(decode(data), kind, drop_front_matter)
    pages = max((element.metadata.page_number or 0 for element in elements), default=0)
    return Reading(_as_blocks(elements, kind), pages=pages or None)


def _text_reading(text: str, kind: str, drop_front_matter: bool) -> Reading:
    """Read a format that is text itself."""
    if kind == "html":
        from unstructured.partition.html import partition_html

        elements = partition_html(text=text, languages=_NO_LANGUAGE) if text.strip() else []
        return Reading(_as_blocks(elements, kind), html_card(text))
    about, body = split_front_matter(text)
    reading = Reading([], about)
    if drop_front_matter:
        reading.note("front matter", len(text) - len(body))
    elif len(body) < len(text):
        reading.blocks.append(Block("code", text[: len(text) - len(body)]))
    if not body.strip():
        return reading
    if kind == "markdown":
        from unstructured.partition.md import partition_md

        elements = partition_md(text=_open_lists(body), languages=_NO_LANGUAGE)
    else:
        from unstructured.partition.text import partition_text

        elements = partition_text(text=join_hyphens([body])[0], languages=_NO_LANGUAGE)
    reading.blocks += _as_blocks(elements, kind)
    return reading


def _as_blocks(elements: Sequence[Any], kind: str) -> list[Block]:
    """unstructured's elements as blocks."""
    titled = kind == "document" and any(element.metadata.style_name == "Title" for element in elements)
    blocks: list[Block] = []
    section = ""
    for element in elements:
        category, text, page = element.category, element.text, element.metadata.page_number
        level = _heading_level(element, kind, titled, first=not blocks) if category == "Title" else 0
        if category in ("Header", "Footer", "PageNumber"):
            blocks.append(Block("furniture", text, 0, page))
        elif category == "Table" and element.metadata.text_as_html:
            blocks.append(Block("table", html_table(element.metadata.text_as_html), 0, page))
        elif level:
            # The slides of a long section repeat its title.
            again = kind == "presentation" and text == section
            section = text
            blocks.append(Block("furniture" if again else "heading", text, level, page))
        elif category == "ListItem":
            blocks.append(Block("item", text, 0, page))
        elif category == "CodeSnippet":
            blocks.append(Block("code", text, 0, page))
        elif category != "PageBreak":
            blocks.append(Block("paragraph", text, 0, page))
    return blocks


def _heading_level(element: Any, kind: str, titled: bool, first: bool) -> int:
    """Level of an element that unstructured calls a title, 0 when that is a guess from its capitals and its length.

    Markup tells a heading by its depth, Word by its style, a slide by its title; plain text leaves nothing but a guess.
    """
    depth, style = element.metadata.category_depth, element.metadata.style_name or ""
    if kind == "document":
        return depth + 1 + (titled and style != "Title") if style.startswith(("Heading", "Title")) else 0
    if kind == "presentation":
        return (1 if first else 2) if depth == 0 else 0
    if kind in ("html", "markdown"):
        return depth + 1 if depth is not None else 0
    return 1 if _is_title(element.text) else 0


def _is_title(text: str) -> bool:
    line = text.strip()
    if "\n" in line or len(line.split()) > _TITLE_WORDS:
        return False
    return line[-1:] not in ".!?:;," and not line[:1].islower()


def _open_lists(text: str) -> str:
    """Markdown with a blank line before each list: without one its converter takes the list for running text."""
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and _LIST_LINE.match(line) and lines and lines[-1].strip() and not _continues_list(lines[-1]):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def _continues_list(line: str) -> bool:
    return bool(_LIST_LINE.match(line.lstrip())) or line.startswith((" ", "\t", "#", "|", ">"))
