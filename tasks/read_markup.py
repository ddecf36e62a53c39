"""What stands around unstructured: decoding, zip checks, page cards, EPUB chapters, reStructuredText as HTML."""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lxml import etree
from lxml import html as lxml_html

from examgen.matter import keyword_card
from examgen.texts import one_line, table_text
from tasks.read_xml import safe_root
from tasks.reading import ReadError

ZIP_RATIO = 200
"""A zip member that expands more than this many times is taken for a bomb."""

ZIP_MEMBERS = 20_000
"""Members of a zip archive at most."""

_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""", re.IGNORECASE)


def decode(data: bytes) -> str:
    """Bytes as text: by their byte order mark, as UTF-8, by the charset they name, then as Windows-1252."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        named = _CHARSET.search(data[:4096])
    try:
        return data.decode(named.group(1).decode("ascii") if named else "cp1252")
    except (LookupError, UnicodeDecodeError):
        return data.decode("cp1252", "replace")


def looks_binary(data: bytes) -> bool:
    """Whether bytes with the name of a text file are none: NUL bytes without a UTF-16 mark."""
    return b"\x00" in data[:65_536] and data[:2] not in (b"\xff\xfe", b"\xfe\xff")


def check_zip(path: Path, limit: int) -> None:
    """`ReadError` for a damaged zip archive or one that would expand beyond `limit` bytes; nothing is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            declaring = [member.filename for member in members if _declares_entities(archive, member)]
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError) as error:
        raise ReadError(f"damaged file: {error}") from error
    if len(members) > ZIP_MEMBERS:
        raise ReadError(f"holds {len(members)} members, more than {ZIP_MEMBERS}")
    if declaring:
        raise ReadError(f"{declaring[0]} in it declares XML entities: refused, they can expand without bound")
    if any(member.flag_bits & 1 for member in members):
        raise ReadError("encrypted: needs a password")
    total = sum(member.file_size for member in members)
    if total > limit:
        raise ReadError(f"would expand to {total} bytes, more than corpus.limits.file_bytes allows ({limit})")
    for member in members:
        ratio = member.file_size // max(1, member.compress_size)
        if member.file_size > 10_000_000 and ratio > ZIP_RATIO:
            raise ReadError(f"member {member.filename!r} expands {ratio} times: taken for an archive bomb")


def _declares_entities(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bool:
    if member.flag_bits & 1 or not member.filename.endswith((".xml", ".rels", ".opf", ".ncx")):
        return False
    with archive.open(member) as handle:
        return b"<!ENTITY" in handle.read(65_536).replace(b"\x00", b"")


def html_card(text: str) -> dict[str, Any]:
    """Title and meta elements of an HTML page, names in lower case."""
    if not text.strip():
        return {}
    try:
        parser = lxml_html.HTMLParser(encoding="utf-8", no_network=True)
        root = lxml_html.document_fromstring(text.encode(), parser=parser)
    except etree.ParserError:
        return {}
    found = {meta.get("name", "").casefold(): meta.get("content", "") for meta in root.iter("meta") if meta.get("name")}
    title = root.find(".//head/title")
    if title is not None and (title.text or "").strip():
        found.setdefault("title", title.text_content())
    return found


def html_table(markup: str) -> str:
    """A table given as HTML in readable lines, its caption first."""
    root = lxml_html.fromstring(markup)
    caption = root.find(".//caption")
    lines = [one_line(caption.text_content())] if caption is not None else []
    rows = ([" ".join(cell.itertext()) for cell in row if cell.tag in ("td", "th")] for row in root.iter("tr"))
    lines.append(table_text(rows))
    return "\n".join(line for line in lines if line)


def epub_chapters(path: Path) -> list[str]:
    """The HTML of an EPUB's chapters in reading order; `ReadError` when its table of contents cannot be followed."""
    try:
        with zipfile.ZipFile(path) as archive:
            container = safe_root(archive.read("META-INF/container.xml"))
            package = next(node.get("full-path") for node in container.iter("{*}rootfile"))
            root = safe_root(archive.read(package))
            places = {item.get("id"): item.get("href") for item in root.iter("{*}item")}
            order = [places.get(item.get("idref")) for item in root.iter("{*}itemref")]
            base = posixpath.dirname(package)
            paths = [posixpath.normpath(posixpath.join(base, unquote(href))) for href in order if href]
            return [decode(archive.read(path)) for path in paths]
    except (zipfile.BadZipFile, KeyError, StopIteration, TypeError) as error:
        raise ReadError(f"damaged EPUB: {type(error).__name__}: {error}") from error


def rst_to_html(data: bytes) -> str:
    """reStructuredText as HTML; directives that read files, run code or write raw HTML are off."""
    from docutils.core import publish_parts

    settings = {
        "file_insertion_enabled": False, "raw_enabled": False, "_disable_config": True, "report_level": 5,
        "halt_level": 6, "syntax_highlight": "none", "math_output": "LaTeX", "initial_header_level": 1,
        "doctitle_xform": False, "warning_stream": False, "line_length_limit": 1_000_000,
    }
    parts = publish_parts(decode(data), writer="html5", settings_overrides=settings)
    return f"<html><body>{parts['body']}</body></html>"


def office_card(path: Path) -> dict[str, Any]:
    """Title, and the `licence: ...; date: ...` pairs of the keywords, from the properties of an office file."""
    with zipfile.ZipFile(path) as archive:
        if "docProps/core.xml" not in archive.namelist():
            return {}
        root = safe_root(archive.read("docProps/core.xml"))
    found = {etree.QName(node).localname: (node.text or "").strip() for node in root if isinstance(node.tag, str)}
    return {"title": found.get("title", ""), **keyword_card(found.get("keywords", ""))}
