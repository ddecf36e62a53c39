"""The command `examgen rescore`: stored replies read again by the present parser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def rescore(
    evaluation: Annotated[Path, typer.Argument(help="folder of an evaluation", show_default=False)],
    bank: Annotated[Path | None, typer.Option("--bank", help="folder of its bank; default: as it says itself")] = None,
    abstention: Annotated[
        bool | None, typer.Option(help="an 'insufficient information' option was shown; default: as it says itself")
    ] = None,
) -> None:
    """Read the stored replies of an evaluation again, with 0 requests, and say what changed.

    The old folder stays; what differs is a new evaluation beside it.

    Example: examgen rescore data/results/ms_mri/evaluations/<evaluation_id>
    """
    from examgen.answers import PARSER_VERSION
    from tasks import rescoring

    done = rescoring.rescore(evaluation, bank, abstention=abstention)
    before = ", ".join(done.before) or "not recorded"
    typer.echo(f"{done.changed} of {done.rows} rows changed, 0 requests; parser {before} → {PARSER_VERSION}")
    for change, count in done.changes.items():
        typer.echo(f"  {count:>6} {change}")
    if done.folder == evaluation.resolve():
        typer.echo(f"{done.folder}: stays as it is")
    else:
        typer.echo(f"{done.folder}: written; go on with: examgen calibrate STUDY")
