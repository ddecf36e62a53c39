"""The command `examgen clean`: finished shards that no late run rested on are removed from a study's work folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def clean(
    study: Annotated[Path, typer.Argument(help="study file (YAML)", show_default=False)],
    results: Annotated[Path, typer.Option("--results", help="folder of all results")] = Path("data/results"),
    keep: Annotated[int, typer.Option(min=1, help="different runs of each flow whose shards are kept")] = 1,
) -> None:
    """Remove finished shards that none of the last runs rested on, and what killed runs left.

    Banks, evaluations, journals of replies, embeddings and texts stay: what is needed again is made again without a
    model call. A run removes what its last three did not rest on by itself.

    Example: examgen clean data/studies/ms_mri.yaml --keep 1
    """
    from examgen.study import load_study
    from tasks.run_record import clear_leftovers, prune
    from tasks.workplace import Workplace

    place = Workplace(results, load_study(study).study)
    with place.alone():
        leftovers, removed = clear_leftovers(place), prune(place, keep)
    typer.echo(f"{place.work}: {len(removed)} shards and {leftovers} leftovers of killed runs removed")
