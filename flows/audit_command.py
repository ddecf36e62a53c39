"""The command `examgen audit`: anybody's bank, audited by the same suites as ours.

It works without a Prefect server, because an audit of a file takes a person about as long as a server takes to start
and leaves nothing that a later run builds on. `--flow` makes the same call through the flow `audit-bank`, which is also
what a deployment runs, for who wants the run on record.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from examgen.errors import BankError
from flows.request import AuditRequest


def _columns(pairs: list[str] | None, option: str = "--column") -> dict[str, str]:
    """Given pairs such as stem=Question; `BankError` on anything else."""
    found: dict[str, str] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise BankError(f"{option} {pair}: write it as field=column, such as {option} stem=Question")
        if name.strip() in found:
            raise BankError(f"{option} {pair}: {name.strip()} is given twice")
        found[name.strip()] = value.strip()
    return found


def audit(
    file: Annotated[Path, typer.Argument(help="bank: CSV, TSV, JSONL, JSON, Parquet or GIFT", show_default=False)],
    out: Annotated[Path, typer.Option(help="folder for findings, funnel, report and Data Docs")] = Path("audit"),
    column: Annotated[
        list[str] | None, typer.Option(metavar="FIELD=COLUMN", help="where a column is not found by itself; repeatable")
    ] = None,
    against: Annotated[Path | None, typer.Option(help="a second bank, audited beside the first")] = None,
    against_column: Annotated[
        list[str] | None, typer.Option(metavar="FIELD=COLUMN", help="the same for the second bank")
    ] = None,
    suites: Annotated[Path | None, typer.Option(help="folder of suites; default: those of the project")] = None,
    flow: Annotated[bool, typer.Option("--flow", help="as a Prefect flow, on record; starts a server")] = False,
    results: Annotated[Path, typer.Option("--results", help="with --flow: where the record is")] = Path("data/results"),
) -> None:
    """Audit a bank that was made elsewhere: wording, cues, duplicates, item-writing flaws. Nothing is changed in it.

    Fields: stem, options (columns joined by |, or one that holds a list), distractors, key, explanation, topic, id,
    counted_from (0 or 1). What is not given is found by the names of the columns.

    Example: examgen audit questions.csv --out audit --column stem=Question --column "options=A|B|C|D" --column key=Key
    """
    request = AuditRequest(
        file=str(file),
        out=str(out),
        columns=_columns(column),
        against=str(against) if against else "",
        against_columns=_columns(against_column, "--against-column"),
        suites=str(suites) if suites else "",
    )
    if request.against_columns and not against:
        raise BankError("--against-column: there is no second bank: give it with --against")
    for bank in filter(None, (file, against)):
        if not bank.is_file():  # said before a server starts
            raise BankError(f"{bank}: no such file: give a CSV, TSV, JSONL, JSON, Parquet or GIFT file")
    _say(_flow(request, results) if flow else _direct(request))


def _direct(request: AuditRequest) -> dict[str, Any]:
    from tasks import server
    from tasks.audit_bank import audit_banks

    server.quiet()
    return audit_banks(**request.model_dump())


def _flow(request: AuditRequest, results: Path) -> dict[str, Any]:
    """The same as a Prefect flow, against the configured server or one of this sitting."""
    import os

    from tasks import server
    from tasks.workplace import prefect_home

    server.quiet()
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "ERROR")
    with server.available(prefect_home(results)):
        from flows.audit_bank import audit_bank

        return audit_bank(request)


def _say(done: dict[str, Any]) -> None:
    for facts in done["banks"]:
        typer.echo(facts["headline"])
        typer.echo(
            f"{facts['items']} of {facts['rows']} rows read, {facts['accepted']} without a reject-level finding "
            f"({facts['columns']})"
        )
        typer.echo(f"Report: {facts['report']}")
    if done["comparison"]:
        typer.echo(f"Comparison: {done['comparison']}")
