"""Writing what people should look at: a sheet, a table or the offline page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from examgen import tables
from examgen.errors import InputError
from examgen.records import BankItem, Chunk
from examgen.report.review_page import render_review
from examgen.review import review_rows
from examgen.review_sheet import to_csv, to_xlsx
from tasks import store
from tasks.review_place import find_place

KINDS = (".xlsx", ".csv", ".parquet", ".html")


def export(target: Path, to: Path, results: Path, sample: int = 1) -> dict[str, int]:
    """Write the review rows of a study or an evaluation; returns how many items each reason brought (the first of an
    item with several)."""
    kind = to.suffix.lower()
    if kind not in KINDS:
        raise InputError(f"{to}: --to names a file that ends in {', '.join(KINDS)}")
    place = find_place(target, results)
    bank = tables.read_records(str(place.bank / "bank.parquet"), BankItem)
    rows = review_rows(bank, place.result_rows(), sample_per_cell=sample)
    if kind == ".html":
        passages = place.bank / "chunks.parquet"
        chunks = tables.read_records(str(passages), Chunk) if passages.is_file() else []
        html = render_review(place.title, place.bank.name, rows, bank, chunks, with_text=place.source_text)
        store.write_text(to, html)
    elif kind == ".parquet":
        store.write(to, "review", rows)
    else:
        store.write_bytes(to, to_xlsx(rows) if kind == ".xlsx" else to_csv(rows))
    return dict(Counter(row.reason.split("; ")[0] for row in rows))
