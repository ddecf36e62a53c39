"""The commands `examgen export` and `examgen import`: banks to the field's tools, answers from them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

PROBLEMS_SHOWN = 10
"""Lines about unusable answers said at the terminal; all of them stand in the evaluation's note."""


class Tool(StrEnum):
    """Who reads an export."""

    LM_EVAL = "lm-eval"
    INSPECT = "inspect"
    HUGGINGFACE = "huggingface"


class Form(StrEnum):
    """What a file of answers is."""

    CSV = "csv"
    LM_EVAL = "lm-eval"
    INSPECT = "inspect"


def export(
    bank: Annotated[str, typer.Argument(help="folder of a locked bank, here or in a store", show_default=False)],
    folder: Annotated[Path, typer.Argument(help="where to write", show_default=False)],
    to: Annotated[Tool, typer.Option("--to", help="the tool that reads it", show_default=False)],
    name: Annotated[str, typer.Option(help="name of task or dataset; default: the study's")] = "",
    title: Annotated[str, typer.Option(help="title on the dataset card")] = "",
    licence: Annotated[str, typer.Option(help="licence on the dataset card")] = "",
    language: Annotated[str, typer.Option(help="language on the dataset card")] = "en",
) -> None:
    """Write a bank for lm-evaluation-harness, Inspect, or as a Hugging Face dataset with its card.

    Example: examgen export data/results/ms_mri/bank/<bank_id> --to lm-eval exported
    """
    from tasks.bank_export import export_bank
    from tasks.mirror import at_hand

    with at_hand(bank) as near:
        places, use = export_bank(near, to.value, folder, name=name, title=title, licence=licence, language=language)
    for place in places:
        typer.echo(f"{place}: written")
    typer.echo(f"Use: {use}")


def import_responses(
    responses: Annotated[list[Path], typer.Argument(help="CSV, lm-eval samples, Inspect logs", show_default=False)],
    bank: Annotated[Path, typer.Option("--bank", help="folder of the locked bank they answer", show_default=False)],
    form: Annotated[Form | None, typer.Option("--format", help="what the files are; default: by their ending")] = None,
    model: Annotated[str, typer.Option(help="the model's name, where the file has none")] = "",
    overlap: Annotated[list[str] | None, typer.Option(help="a model that wrote items (construction overlap)")] = None,
    baseline: Annotated[list[str] | None, typer.Option(help="a model that is a baseline")] = None,
    use: Annotated[bool, typer.Option(help="make it what `calibrate` and `report` of the study are about")] = True,
) -> None:
    """Take answers produced elsewhere as an evaluation: a CSV of item_id, model, answer; lm-eval samples; Inspect logs.

    Example: examgen import samples_ms_mri.jsonl --bank data/results/ms_mri/bank/<bank_id> --model org/model
    """
    from tasks import response_import

    done = response_import.import_responses(
        responses,
        bank,
        form=form.value if form else None,
        model=model,
        overlap=overlap or (),
        baselines=baseline or (),
        point=use,
    )
    typer.echo(f"Evaluation {done.folder.name}: {sum(done.answered.values())} items answered, in {done.folder}")
    for name, count in sorted(done.answered.items()):
        short = "" if count == done.items else "  incomplete"
        typer.echo(f"  {name:<32} {done.roles[name]:<21} {count} of {done.items} items{short}")
    for problem in done.problems[:PROBLEMS_SHOWN]:
        typer.echo(f"  not used: {problem}")
    if len(done.problems) > PROBLEMS_SHOWN:
        typer.echo(f"  not used: {len(done.problems) - PROBLEMS_SHOWN} more, listed in evaluation.json")
