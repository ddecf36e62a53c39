"""Make the PDF, Word and PowerPoint documents of the sample corpus from their Markdown: the same bytes every time.

    python data/corpora/make_office_files.py            writes data/corpora/ms_mri/NN_*.{pdf,docx,pptx}
    python data/corpora/make_office_files.py --check    writes nothing, exit code 1 when a file differs

Needs the project's extra "dev": fpdf2, python-docx, python-pptx, and matplotlib for the DejaVu fonts in it (free to use
and to embed), for the fonts that every PDF reader has lack ≥ and µ.
"""

from __future__ import annotations

import datetime
import importlib.util
import io
import re
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

HERE = Path(__file__).resolve().parent
FORMATS = {"10": "docx", "28": "docx", "17": "pdf", "19": "pdf", "25": "pdf", "32": "pptx"}
WHEN = datetime.datetime(2026, 11, 30, 12, 0, 0, tzinfo=datetime.UTC)
ZIP_TIME = (2026, 11, 30, 12, 0, 0)
AUTHOR = "The authors of the examgen sample corpus"
LINES_PER_SLIDE = 4


@dataclass(frozen=True)
class Part:
    """A heading, paragraph, list item or table of a Markdown document."""

    kind: Literal["heading", "paragraph", "item", "table"]
    text: str = ""
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


def parse(text: str) -> tuple[dict[str, Any], list[Part]]:
    """Front matter and parts of a Markdown document of the simple kind the corpus is written in."""
    _, card, body = text.split("---\n", 2)
    parts: list[Part] = []
    for block in re.split(r"\n\s*\n", body.strip()):
        lines = [line.strip() for line in block.split("\n")]
        heading = re.match(r"(#+) (.*)", lines[0])
        if heading:
            parts.append(Part("heading", heading.group(2), len(heading.group(1))))
            lines = lines[1:]
        if lines and lines[0].startswith("|"):
            rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
            parts.append(Part("table", rows=tuple(row for row in rows if not re.fullmatch(r"[-: ]+", "".join(row)))))
        elif lines and lines[0].startswith("- "):
            parts += [Part("item", line[2:]) for line in lines]
        elif lines:
            parts.append(Part("paragraph", " ".join(lines)))
    return yaml.safe_load(card), [plain(part) for part in parts]


def plain(part: Part) -> Part:
    """The part without emphasis marks."""
    return Part(part.kind, re.sub(r"\*\*?|`", "", part.text), part.level, part.rows)


def keywords(card: dict[str, Any]) -> str:
    """The front matter as `name: value` pairs in the one free property that all office formats share."""
    return "; ".join(f"{name}: {card[name]}" for name in ("date", "kind", "licence"))


def fonts() -> Path:
    """Folder of the DejaVu fonts."""
    spec = importlib.util.find_spec("matplotlib")
    if spec is None or spec.origin is None:
        raise SystemExit("make_office_files.py: install the extra \"dev\" first (pip install -e .[dev]), for the fonts")
    return Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf"


def as_pdf(card: dict[str, Any], parts: list[Part]) -> bytes:
    """An A4 document with a running title and page numbers on each page."""
    from fpdf import FPDF

    class Pages(FPDF):
        def header(self) -> None:
            self.set_font("DejaVu", size=8)
            self.cell(0, 6, f"{card['title']}  ·  Educational summary", new_x="LMARGIN", new_y="NEXT")
            self.ln(4)

        def footer(self) -> None:
            self.set_y(-14)
            self.set_font("DejaVu", size=8)
            self.cell(0, 6, f"Page {self.page_no()} of {{nb}}  ·  CC BY 4.0", align="C")

    pdf = Pages(format="A4")
    pdf.add_font("DejaVu", "", fonts() / "DejaVuSans.ttf")
    pdf.add_font("DejaVu", "B", fonts() / "DejaVuSans-Bold.ttf")
    pdf.set_creation_date(WHEN)
    pdf.set_title(card["title"])
    pdf.set_author(AUTHOR)
    pdf.set_keywords(keywords(card))
    pdf.set_margins(22, 16, 22)
    pdf.set_auto_page_break(True, margin=20)
    pdf.add_page()
    for part in parts:
        draw(pdf, part)
    return bytes(pdf.output())


def draw(pdf: Any, part: Part) -> None:
    """Put a part on the page."""
    below = {"new_x": "LMARGIN", "new_y": "NEXT"}
    if part.kind == "heading":
        pdf.ln(3)
        pdf.set_font("DejaVu", "B", {1: 17, 2: 13}.get(part.level, 11.5))
        pdf.multi_cell(0, 8 if part.level == 1 else 7, part.text, align="L", **below)
        pdf.ln(1)
        return
    pdf.set_font("DejaVu", size=10)
    if part.kind == "table":
        pdf.set_font("DejaVu", size=6.5)
        with pdf.table(text_align="LEFT", line_height=5, first_row_as_headings=False) as table:
            for row in part.rows:
                table.row(row)
        pdf.ln(3)
    elif part.kind == "item":
        pdf.multi_cell(0, 5.2, f"• {part.text}", align="L", **below)
        pdf.ln(1)
    else:
        pdf.multi_cell(0, 5.2, part.text, align="L", **below)
        pdf.ln(2.5)


def as_docx(card: dict[str, Any], parts: list[Part]) -> bytes:
    """A Word document with heading styles, bullets, tables, a running header."""
    from docx import Document

    document = Document()
    document.sections[0].header.paragraphs[0].text = f"{card['title']} · Educational summary"
    for part in parts:
        if part.kind == "heading":
            document.add_heading(part.text, level=part.level)
        elif part.kind == "table":
            table = document.add_table(rows=0, cols=len(part.rows[0]))
            table.style = "Table Grid"
            for row in part.rows:
                for cell, text in zip(table.add_row().cells, row, strict=True):
                    cell.text = text
        else:
            document.add_paragraph(part.text, style="List Bullet" if part.kind == "item" else None)
    return saved(document, card)


def as_pptx(card: dict[str, Any], parts: list[Part]) -> bytes:
    """Slides: a title slide, then for each section as many slides as its lines need, all with its title."""
    from pptx import Presentation
    from pptx.util import Pt

    show = Presentation()
    first = show.slides.add_slide(show.slide_layouts[0])
    first.shapes.title.text = parts[0].text
    first.placeholders[1].text = next(part.text for part in parts if part.kind == "paragraph")
    title, body = "", None
    lines = 0
    for part in parts[2:]:
        if part.kind == "heading":
            title, body = part.text, None
            continue
        if body is None or lines >= LINES_PER_SLIDE:
            slide = show.slides.add_slide(show.slide_layouts[1])
            slide.shapes.title.text = title
            body, lines = slide.placeholders[1].text_frame, 0
        for text in sentences(part):
            paragraph = body.paragraphs[0] if lines == 0 else body.add_paragraph()
            paragraph.text = text
            paragraph.font.size = Pt(16)
            lines += 1
    return saved(show, card)


def sentences(part: Part) -> list[str]:
    """The lines a part makes on a slide."""
    if part.kind == "table":
        return [": ".join(row) for row in part.rows[1:]]
    return [part.text] if part.kind == "item" else re.split(r"(?<=[.!?]) (?=[A-Z0-9])", part.text)


def saved(document: Any, card: dict[str, Any]) -> bytes:
    """Bytes of an office document with fixed properties and fixed times in its zip archive."""
    about = document.core_properties
    about.title, about.author, about.last_modified_by, about.keywords = card["title"], AUTHOR, AUTHOR, keywords(card)
    about.created = about.modified = about.last_printed = WHEN.replace(tzinfo=None)
    about.comments, about.revision = card["notice"], 1
    loose = io.BytesIO()
    document.save(loose)
    fixed = io.BytesIO()
    with zipfile.ZipFile(loose) as source, zipfile.ZipFile(fixed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for name in source.namelist():
            member = zipfile.ZipInfo(name, ZIP_TIME)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o600 << 16
            target.writestr(member, source.read(name))
    return fixed.getvalue()


def main(arguments: list[str]) -> int:
    """Write or check all files; returns the exit code."""
    makers = {"pdf": as_pdf, "docx": as_docx, "pptx": as_pptx}
    different = 0
    for source in sorted((HERE / "office_sources").glob("*.md")):
        form = FORMATS[source.name.split("_")[0]]
        target = HERE / "ms_mri" / f"{source.stem}.{form}"
        data = makers[form](*parse(source.read_text(encoding="utf-8")))
        same = target.exists() and target.read_bytes() == data
        different += not same
        print(f"{'same' if same else 'new '} {target.relative_to(HERE)} {len(data)} bytes")
        if not same and "--check" not in arguments:
            target.write_bytes(data)
    return 1 if different and "--check" in arguments else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
