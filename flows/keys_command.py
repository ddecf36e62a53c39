"""The command `examgen keys`: several answer keys beside a locked bank, and the tiers they make."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def keys(
    bank: Annotated[Path, typer.Argument(help="folder of a locked bank", show_default=False)],
    files: Annotated[
        list[Path],
        typer.Argument(
            help="one or more CSV of item_id, source, letter, human (and endorses, never)", show_default=False
        ),
    ],
    unanimous: Annotated[int, typer.Option(help="independent keys tier A needs, all the same")] = 3,
    endorsement: Annotated[float | None, typer.Option(help="least share of raters that endorse a tier A item")] = None,
    bank_key: Annotated[bool, typer.Option(help="count the key the bank was locked with as one of them")] = True,
    human_bank: Annotated[bool, typer.Option("--human-bank", help="people wrote the bank's own key")] = False,
    use: Annotated[
        bool, typer.Option(help="ask the study's evaluations about this release, or about the bank as it was locked")
    ] = True,
) -> None:
    """Fix tiers before scoring: three keys unanimous, provenance complete, no flag = A; keys that differ = the probe.

    Writes a release folder beside the bank, which stays as it was locked.

    Example: examgen keys data/results/ms_mri/bank/<bank_id> ann.csv ben.csv
    """
    from examgen.statistics.tiers import TierRules
    from tasks import key_release

    rules = TierRules(unanimous, endorsement)
    folder, note = key_release.release_keys(bank, *files, rules=rules, bank_key=bank_key, human_bank=human_bank)
    counts = ", ".join(f"{tier} {count}" for tier, count in note["counts"].items())
    typer.echo(f"{folder}: tiers {counts}")
    for reason, count in note["reasons"].items():
        typer.echo(f"  {count:>6} {reason}")
    agreement = {name: "n.e." if value is None else f"{value:.3f}" for name, value in note["agreement"].items()}
    sources = ", ".join(f"{name} ({kind})" for name, kind in note["sources"].items())
    typer.echo(f"  keys of {sources}; agreement {agreement['percent_agreement']}, AC1 {agreement['gwet_ac1']}")
    if note["label"] != "keys":
        typer.echo(f"  {note['label']}")
    typer.echo(f"  tier hash {note['tier_hash']}; fixed {note['fixed']}")
    if note["fixed"] != key_release.FIXED_BEFORE:
        typer.echo("  Answers were there when these tiers were chosen: what they show is exploratory, and marked so.")
    if key_release.use(bank, folder if use else None):
        told = "this release, until a build locks other items" if use else "the bank as it was locked"
        typer.echo(f"  The study's evaluations ask about {told}.")
