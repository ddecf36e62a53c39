"""The review page: one HTML file that opens offline, shows items beside their passages and saves decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources

import jinja2
from markupsafe import Markup

from examgen.records import BankItem, Chunk, ReviewRow
from examgen.report.passages import example
from examgen.review import VERDICTS


def render_review(
    title: str, bank_id: str, rows: Sequence[ReviewRow], bank: Sequence[BankItem],
    chunks: Mapping[str, Chunk] | Iterable[Chunk], *, with_text: bool = True,
) -> str:
    """The page for these review rows. Decisions are kept in the browser while open and saved as a JSON file, which
    `examgen.review_sheet.read_decisions` reads."""
    by_id = chunks if isinstance(chunks, Mapping) else {chunk.chunk_id: chunk for chunk in chunks}
    items = {item.item_id: item for item in bank}
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    shown = [(row, example(items[row.item_id], by_id, with_text=with_text)) for row in rows]
    return environment.get_template("review.html").render(
        title=title, bank_id=bank_id, shown=shown, verdicts=VERDICTS, css=Markup(_template("page.css")),
        with_text=with_text,
    )


def _template(name: str) -> str:
    return resources.files("examgen.report").joinpath(name).read_text(encoding="utf-8")
