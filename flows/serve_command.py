"""`examgen serve` and `examgen stop`: the project on a Prefect server that stays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Results = Annotated[Path, typer.Option("--results", help="folder of all results; Prefect's records lie in it")]
DEFAULT_RESULTS = Path("data/results")


def serve(
    results: Results = DEFAULT_RESULTS,
    port: Annotated[int, typer.Option(help="port on loopback")] = 4200,
    deployments: Annotated[
        Path | None, typer.Option(help="deployments file; default: the project's prefect.yaml", show_default=False)
    ] = None,
    database_url: Annotated[
        str,
        typer.Option(
            envvar="PREFECT_SERVER_DATABASE_CONNECTION_URL",
            help="database of the server, e.g. postgresql+asyncpg://…; default: SQLite in the results folder",
            show_default=False,
            show_envvar=True,
        ),
    ] = "",
) -> None:
    """Start a Prefect server, its work pool, the deployments and a worker; they stay until `examgen stop`.

    With PREFECT_API_URL set (or an active Prefect profile that names a server), that server is used and only the pool,
    the deployments and the worker are made.

    Example: examgen serve
    """
    from tasks import server, serving
    from tasks.workplace import PROJECT, prefect_home

    server.quiet()
    found = serving.serve(prefect_home(results), deployments or PROJECT / "prefect.yaml", port, database_url)
    typer.echo(f"Flow runs and deployments: {found.url.removesuffix('/api')}  (examgen stop ends it)")


def stop(results: Results = DEFAULT_RESULTS) -> None:
    """End what `examgen serve` started for this results folder, and nothing else.

    Example: examgen stop
    """
    from tasks import serving
    from tasks.workplace import prefect_home

    ended = serving.stop(prefect_home(results))
    typer.echo(f"Stopped ({ended} processes)." if ended else "Nothing was running.")
