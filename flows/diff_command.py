"""The command `examgen diff`: what became of each item between two banks, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def diff(
    old: Annotated[Path, typer.Argument(help="folder of the earlier bank", show_default=False)],
    new: Annotated[Path, typer.Argument(help="folder of the later bank", show_default=False)],
    html: Annotated[Path | None, typer.Option(help="write the difference as a page, with every item")] = None,
    table: Annotated[Path | None, typer.Option(help="write it as a Parquet table, a row an item")] = None,
) -> None:
    """Say what became of each item between two banks: kept, retired or new, and why.

    Example: examgen diff data/results/ms_mri/bank/<one> data/results/ms_mri/bank/<other> --html difference.html
    """
    from examgen.releases import compare
    from examgen.report import bank_diff
    from tasks import store
    from tasks.releases import read_bank

    before, after = read_bank(old), read_bank(new)
    rows = compare(before, after)
    typer.echo(bank_diff.markdown(before.bank_id, after.bank_id, rows))
    if html is not None:
        store.write_text(html, bank_diff.html(before.bank_id, after.bank_id, rows))
        typer.echo(f"Page: {html}")
    if table is not None:
        store.write(table, "bank_diff", rows)
        typer.echo(f"Table: {table}")
