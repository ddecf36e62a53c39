"""The command `examgen audit`: anybody's bank, audited by the same suites as ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from examgen.errors import BankError


def _mapping(columns: list[str]) -> dict[str, str]:
    """Given pairs such as stem=Question; `BankError` on anything else."""
    found = {}
    for column in columns:
        name, equals, value = column.partition("=")
        if not equals or not name or not value:
            raise BankError(f"--column {column}: write it as field=column, such as --column stem=Question")
        found[name] = value
    return found


def audit(
    file: Annotated[Path, typer.Argument(help="bank: CSV, JSONL, JSON, Parquet or GIFT", show_default=False)],
    out: Annotated[Path, typer.Option(help="folder for findings, funnel, report and Data Docs")] = Path("audit"),
    against: Annotated[Path | None, typer.Option(help="a second bank, audited beside the first")] = None,
    column: Annotated[list[str] | None, typer.Option(help="field=column, where the layout is not recognised")] = None,
    suites: Annotated[Path | None, typer.Option(help="folder of suites; default: those of the project")] = None,
) -> None:
    """Audit a bank that was made elsewhere: wording, cues, duplicates, item-writing flaws. Nothing is changed in it.

    Example: examgen audit questions.csv --out audit --column stem=Question --column "options=A|B|C|D" --column key=Key
    """
    from tasks import server
    from tasks.audit_bank import audit_file, compare_files

    server.quiet()
    if not file.is_file():
        raise BankError(f"{file}: no such file: give a CSV, JSONL, JSON, Parquet or GIFT file")
    chosen = str(suites) if suites else ""
    if against is not None:
        for found in compare_files(file, against, out, chosen):
            typer.echo(found.summary.headline)
        typer.echo(f"Comparison: {out / 'comparison.html'}")
        return
    found = audit_file(file, out, _mapping(column or []) or None, chosen)
    typer.echo(found.summary.headline)
    accepted = len(found.judgement.accepted_ids)
    typer.echo(f"{len(found.bank.items)} of {found.bank.rows} rows read, {accepted} without a reject-level finding")
    typer.echo(f"Report: {out / 'report.html'}")
