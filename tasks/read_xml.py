"""XML: JATS read as articles, with sections, lists, tables and captions; any other XML as paragraphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lxml import etree

from examgen.matter import year_of
from examgen.texts import Block, one_line, table_text
from tasks.reading import ReadError, Reading

_LEFT_OUT = frozenset({"tex-math", "object-id", "label", "xref-list", "supplementary-material", "permissions"})
_BACK_LEFT_OUT = frozenset({"ack", "fn-group", "notes", "bio"})
_WRAPPERS = frozenset({
    "boxed-text", "disp-quote", "app", "app-group", "fig-group", "table-wrap-group", "statement", "body", "abstract",
    "trans-abstract", "back", "def-item", "def", "sub-article", "response",
})


def safe_root(data: bytes) -> Any:
    """The root element of XML in bytes.

    Entities are refused before parsing and never resolved: a few lines of them expand to gigabytes or name local files.
    """
    if b"<!ENTITY" in data.replace(b"\x00", b""):
        raise ReadError("declares XML entities: refused, they can expand without bound or point to other files")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise ReadError(f"not well-formed XML: {error}") from error


def read_xml(path: Path, drop_references: bool, drop_front_matter: bool) -> Reading:
    """Read an XML file, as an article when it is one; `ReadError` when it is not well formed or declares entities."""
    root = safe_root(path.read_bytes())
    if is_jats(root):
        return read_jats(root, drop_references, drop_front_matter)
    return Reading(xml_blocks(root), reader="lxml")


def is_jats(root: Any) -> bool:
    """Whether the root is a JATS (or older NLM) article."""
    return _name(root) == "article" and root.find("front") is not None


def read_jats(root: Any, drop_references: bool, drop_front_matter: bool) -> Reading:
    """The article's own text; journal metadata never belongs to it."""
    article = Reading([], _card(root), reader="jats")
    if article.about.get("title"):
        article.blocks.append(Block("heading", article.about["title"], 1))
    for abstract in root.iterfind("front/article-meta/abstract"):
        if abstract.find("title") is None and abstract.get("abstract-type") is None:
            article.blocks.append(Block("heading", "Abstract", 2))
        _walk(abstract, 2, article)
    body = root.find("body")
    if body is not None:
        _walk(body, 2, article)
    back = root.find("back")
    for part in back if back is not None else ():
        name = _name(part)
        if (name == "ref-list" and drop_references) or (name in _BACK_LEFT_OUT and drop_front_matter):
            article.note("references" if name == "ref-list" else "acknowledgements and notes", len(_text(part)))
        elif name == "ref-list":
            article.blocks.append(Block("heading", _text(part.find("title")) or "References", 2))
            article.blocks += [Block("item", _text(entry)) for entry in part.iterfind("ref")]
        else:
            _element(part, 2, article)
    return article


def _card(root: Any) -> dict[str, Any]:
    meta = root.find("front/article-meta")
    if meta is None:
        return {}
    licence = meta.find("permissions/license")
    about = {
        "title": _text(meta.find("title-group/article-title")),
        "year": min((year_of(_text(year)) or 9999 for year in meta.iterfind("pub-date/year")), default=9999),
        "kind": root.get("article-type", ""),
        "licence": _licence(licence) if licence is not None else "",
    }
    if about["year"] == 9999:
        del about["year"]
    return {name: value for name, value in about.items() if value}


def _licence(element: Any) -> str:
    link = element.get("{http://www.w3.org/1999/xlink}href", "")
    return link or _text(element)[:300]


def _name(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _text(element: Any) -> str:
    """Running text of an element, TeX twins of formulas left out."""
    if element is None:
        return ""
    parts: list[str] = []

    def collect(node: Any) -> None:
        if _name(node) not in _LEFT_OUT or node is element:
            parts.append(node.text or "")
            for child in node:
                if isinstance(child.tag, str):
                    collect(child)
                parts.append(child.tail or "")

    collect(element)
    return one_line("".join(parts))


def _walk(element: Any, level: int, article: Reading) -> None:
    for child in element:
        if isinstance(child.tag, str):
            _element(child, level, article)


def _element(element: Any, level: int, article: Reading) -> None:
    name = _name(element)
    blocks = article.blocks
    if name in _LEFT_OUT:
        return
    if name == "title":
        blocks.append(Block("heading", _text(element), level))
    elif name == "sec" or name in _WRAPPERS:
        _walk(element, level + (name == "sec" and _name(element.getparent()) == "sec"), article)
    elif name == "list":
        blocks.extend(Block("item", _text(entry)) for entry in element.iterfind("list-item"))
    elif name in ("table-wrap", "fig"):
        caption = " ".join(filter(None, (_text_of_label(element), _text(element.find("caption")))))
        if caption:
            blocks.append(Block("paragraph", caption))
        for table in element.iter("{*}table", "table"):
            rows = ([_text(cell) for cell in row if isinstance(cell.tag, str)] for row in table.iter("{*}tr", "tr"))
            blocks.append(Block("table", table_text(rows)))
        notes = element.find("table-wrap-foot")
        if notes is not None:
            blocks.append(Block("paragraph", _text(notes)))
    elif name == "p":
        _paragraph(element, level, article)
    elif _text(element):
        blocks.append(Block("paragraph", _text(element)))


def _text_of_label(element: Any) -> str:
    label = element.find("label")
    return one_line("".join(label.itertext())) if label is not None else ""


def _paragraph(element: Any, level: int, article: Reading) -> None:
    """A paragraph; lists, tables and figures inside it come behind its text."""
    inner = [child for child in element if _name(child) in ("list", "table-wrap", "fig", "boxed-text")]
    for child in inner:
        tail, child.tail = child.tail, None
        previous = child.getprevious()
        if previous is not None:
            previous.tail = f"{previous.tail or ''} {tail or ''}"
        else:
            element.text = f"{element.text or ''} {tail or ''}"
        element.remove(child)
    if _text(element):
        article.blocks.append(Block("paragraph", _text(element)))
    for child in inner:
        _element(child, level, article)


def xml_blocks(root: Any) -> list[Block]:
    """XML of any vocabulary: each element that holds text is a paragraph, mixed content and tails included.

    unstructured's own XML reader keeps the text before an element's first child only, so what follows would be lost.
    """
    blocks: list[Block] = []

    def visit(element: Any) -> None:
        if not isinstance(element.tag, str):
            return
        mixed = (element.text or "").strip() or any((child.tail or "").strip() for child in element)
        if mixed:
            text = one_line("".join(element.itertext()))
            blocks.append(Block("paragraph", text))
        else:
            for child in element:
                visit(child)

    visit(root)
    return blocks
