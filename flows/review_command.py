"""The commands `examgen review export` and `examgen review import`: queues out to people, their decisions back in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tasks.review_release import Reviewed

review = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Send doubtful items to reviewers and take their decisions back."
)

Target = Annotated[Path, typer.Argument(help="study file, evaluation folder or bank folder", show_default=False)]
Results = Annotated[Path, typer.Option("--results", help="folder of all results")]
DEFAULT_RESULTS = Path("data/results")


@review.command("export")
def export_sheet(
    target: Target,
    to: Annotated[Path, typer.Option("--to", help=".xlsx, .csv, .parquet, or .html for the offline page")],
    results: Results = DEFAULT_RESULTS,
    sample: Annotated[int, typer.Option(min=0, help="items in no queue, by topic and difficulty bin")] = 1,
) -> None:
    """Write what people should look at: the key-risk and difficulty queues, and a sample of the other items.

    The sample has so many items of each topic × empirical-difficulty bin (of each topic, where the panel is too small
    for bins), so that a reviewer also sees ordinary ones.

    Example: examgen review export data/studies/ms_mri.yaml --to sheet.xlsx
    """
    from tasks.review_export import export

    counts = export(target, to, results, sample)
    typer.echo(f"{to}: {sum(counts.values())} items to review")
    for reason, count in counts.items():
        typer.echo(f"  {count:>6} {reason}")


@review.command("import")
def import_decisions(
    target: Target,
    files: Annotated[list[Path], typer.Argument(help="filled-in sheets, or files the page saved", show_default=False)],
    results: Results = DEFAULT_RESULTS,
    use: Annotated[bool, typer.Option(help="ask the next evaluation of the study about the release")] = True,
) -> None:
    """Settle the decisions of one or more reviewers and write the bank that follows, with the decisions inside it.

    More than half of an item's reviewers decide. Accepted and unreviewed items stay, disputed ones with a flag;
    ambiguous and flawed ones leave; a wrong key is corrected where all who say so name the same letter.

    Example: examgen review import data/studies/ms_mri.yaml ann.xlsx ben.json
    """
    from tasks import review_release
    from tasks.review_place import find_place

    bank = find_place(target, results).bank
    done = review_release.release_reviewed(bank, files)
    for line in _lines(done):
        typer.echo(line)
    if use and review_release.use(bank, done):
        typer.echo("  The study's next `examgen evaluate` asks about this release.")


def _lines(done: Reviewed) -> list[str]:
    note = done.note
    lines = [f"{done.folder}: {done.items} items after review"]
    lines += [f"  {note['items_reviewed']} items reviewed by {', '.join(note['reviewers']) or 'nobody'}"]
    lines += [f"  {count:>6} {verdict}" for verdict, count in note["verdicts"].items()]
    for row in done.agreement:
        value = "n.e." if row["value"] is None else f"{row['value']:.3f}"
        limits = "" if row["low"] is None else f" ({row['low']:.3f} to {row['high']:.3f})"
        told = f": {row['note']}" if row["value"] is None else ""
        lines.append(f"  {row['statistic']}, {row['scope']}: {value}{limits}, {row['n']} items{told}")
    if done.keys_left_out:
        lines.append("  Its keys and tiers spoke of the items before the review: run `examgen keys` on the release.")
    return lines
