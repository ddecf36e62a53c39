"""The command line: `examgen`. Exit codes: 0 done, 1 the run failed, 2 the user's input is wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from examgen.errors import ExamGenError, InputError
from flows.audit_command import audit
from flows.clean_command import clean
from flows.diff_command import diff
from flows.estimate_command import estimate
from flows.exchange_command import export, import_responses
from flows.keys_command import keys
from flows.rescore_command import rescore
from flows.review_command import review
from flows.serve_command import serve, stop
from flows.size_command import size

app = typer.Typer(
    name="examgen",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Build an audited, source-grounded multiple-choice bank from documents, evaluate models on it, report.",
)

StudyPath = Annotated[Path, typer.Argument(help="study file (YAML)", show_default=False)]
Results = Annotated[str, typer.Option("--results", help="folder of all results, or s3://, gs://, az:// and a prefix")]
DEFAULT_RESULTS = "data/results"


@app.command()
def run(study: StudyPath, results: Results = DEFAULT_RESULTS) -> None:
    """Do everything: build the bank, ask the panel, compute the statistics, write the report.

    Example: examgen run data/studies/ms_mri.yaml
    """
    from flows.session import session

    with session(study, results) as prefect:
        prefect.run()


@app.command()
def build(study: StudyPath, results: Results = DEFAULT_RESULTS) -> None:
    """Build and lock the bank: read, index, taxonomy, items, audits, screen.

    Example: examgen build data/studies/ms_mri.yaml
    """
    from flows.session import session

    with session(study, results) as prefect:
        prefect.build()


@app.command()
def evaluate(
    study: StudyPath,
    results: Results = DEFAULT_RESULTS,
    retry_unresolved: Annotated[bool, typer.Option(help="ask again what an earlier run gave up")] = False,
) -> None:
    """Ask the study's panel about its locked bank. Only what is missing is asked.

    Example: examgen evaluate data/studies/ms_mri.yaml
    """
    from flows.session import session

    with session(study, results, "bank") as prefect:
        prefect.evaluate(retry_unresolved)


@app.command()
def calibrate(
    study: StudyPath,
    results: Results = DEFAULT_RESULTS,
    beside: Annotated[
        Path | None, typer.Option(help="evaluation folder of another bank: cues and accuracy by stratum side by side")
    ] = None,
) -> None:
    """Compute the statistics of the study's evaluation: accuracy, difficulty, cue probe, key risk and the rest.

    Example: examgen calibrate data/studies/ms_mri.yaml
    """
    from flows.session import session

    with session(study, results, "evaluation") as prefect:
        prefect.calibrate(beside)


@app.command()
def report(study: StudyPath, results: Results = DEFAULT_RESULTS) -> None:
    """Write the report of the study's evaluation as one HTML file.

    Example: examgen report data/studies/ms_mri.yaml
    """
    from flows.session import session

    with session(study, results, "results") as prefect:
        prefect.report()


app.command()(estimate)
app.command()(size)
app.command()(audit)
app.command()(keys)
app.add_typer(review, name="review")
app.command()(serve)
app.command()(stop)
app.command()(rescore)
app.command()(export)
app.command("import")(import_responses)
app.command()(diff)
app.command()(clean)


@app.command()
def check(study: StudyPath) -> None:
    """Say whether a study can run, without running it: its keys, its folder, its endpoints' keys.

    Example: examgen check data/studies/ms_mri.yaml
    """
    from tasks.preflight import preflight

    for line in preflight(study):
        typer.echo(line)


@app.command()
def verify(
    bank: Annotated[str, typer.Argument(help="folder of a locked bank, or its address", show_default=False)],
) -> None:
    """Check a locked bank against its manifest: file hashes, item ids, every quote at its place in its passage.

    Example: examgen verify data/results/ms_mri/bank/<bank_id>
    """
    from tasks.mirror import at_hand
    from tasks.verification import verify_bank

    with at_hand(bank) as folder:
        for line in verify_bank(folder):
            typer.echo(line)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="folder with your documents", show_default=False)],
    study: Annotated[
        Path | None, typer.Option("--study", help="where to write the study; default: in the folder's parent")
    ] = None,
) -> None:
    """Write a commented study for your own folder of documents, with seeds proposed from their headings.

    Example: examgen init ~/documents/guidelines
    """
    from tasks.proposal import write_study

    place = write_study(folder, study)
    typer.echo(f"{place}: written. Read it, change what you like, then: examgen run {place}")


@app.command()
def ui(results: Results = DEFAULT_RESULTS, port: Annotated[int, typer.Option(help="port on loopback")] = 4200) -> None:
    """Open a Prefect server on this project's records, to read the flow runs in a browser. Ctrl-C stops it.

    Example: examgen ui
    """
    from tasks import server, serving
    from tasks.workplace import prefect_home

    server.quiet()
    served = serving.address(prefect_home(results))
    if served:
        typer.echo(f"Flow runs: {served.removesuffix('/api')}  (served; examgen stop ends it)")
        return
    guard, url = server.start(prefect_home(results), port)
    typer.echo(f"Flow runs: {url.removesuffix('/api')}  (Ctrl-C to stop)")
    try:
        guard.wait()
    finally:
        server.stop(guard)


def main() -> None:
    """Run the command line; expected errors are one clear line each and an exit code."""
    try:
        code = app(standalone_mode=False)
        if isinstance(code, int) and code:  # this typer returns what Ctrl-C and --help ask for instead of raising it
            raise typer.Exit(code)
    except InputError as error:
        _say(error, 2)
    except ExamGenError as error:
        _say(error, 1)
    except typer.Exit as leaving:
        if leaving.exit_code == INTERRUPTED:
            _stopped()
        sys.exit(leaving.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        _stopped()
        sys.exit(INTERRUPTED)
    except typer.TyperException as error:  # wrong words on the command line
        typer.echo(f"error: {getattr(error, 'format_message', error.__str__)()}", err=True)  # it names the option
        sys.exit(2)


INTERRUPTED = 130
"""Exit code of a run that was stopped by Ctrl-C, as shells have it."""


def _stopped() -> None:
    typer.echo("Stopped. What was finished is kept: the same command goes on from there.", err=True)


def _say(error: Exception, code: int) -> None:
    for line in str(error).splitlines():
        typer.echo(f"error: {line}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
