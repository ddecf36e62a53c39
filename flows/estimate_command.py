"""The command `examgen estimate`: calls, tokens and cost by stage before anything is spent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def estimate(
    study: Annotated[Path, typer.Argument(help="study file (YAML)", show_default=False)],
    results: Annotated[str, typer.Option("--results", help="folder of all results, or s3://…")] = "data/results",
) -> None:
    """Print calls, tokens and cost of every stage and endpoint, without asking any.

    Sizes come from what earlier runs of the study left, else from the sizes of its files. Cost is "unknown" for an
    endpoint without prices.

    Example: examgen estimate data/studies/ms_mri.yaml
    """
    from tasks.estimation import estimate_lines

    for line in estimate_lines(study, results):
        typer.echo(line)
