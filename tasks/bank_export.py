"""A locked bank written out for other tools."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

from examgen import exchange
from examgen.errors import InputError
from tasks import store
from tasks.evaluation_folder import read_bank

Tool = Literal["lm-eval", "inspect", "huggingface"]


def export_bank(
    bank: Path, tool: Tool, folder: Path, *, name: str = "", title: str = "", licence: str = "", language: str = "en"
) -> tuple[list[Path], str]:
    """Write the files a tool reads into a folder; returns them and one line that says how they are used.

    `InputError` when the folder has something of that name already: nothing is written over.
    """
    items = read_bank(bank)
    manifest = store.read_json(bank / "bank.lock.json") if (bank / "bank.lock.json").is_file() else {}
    word = name or str(manifest.get("facts", {}).get("study") or "examgen_bank")
    if tool == "lm-eval":
        files = exchange.lm_eval_files(items, word)
        use = f"cd {folder} && lm_eval --include_path . --tasks {word} --log_samples --output_path out …"
    elif tool == "inspect":
        files = exchange.inspect_files(items, word)
        use = f'json_dataset("{folder / next(iter(files))}") with the solver multiple_choice()'
    else:
        card = exchange.dataset_card(
            items, word, title=title, licence=licence, language=language, bank_id=str(manifest.get("bank_id", ""))
        )
        files = {"README.md": card}
        use = f'datasets.load_dataset("{folder}"), or upload the folder as a dataset repository'
    places = [folder / each for each in files] + ([folder / "data" / "test.parquet"] if tool == "huggingface" else [])
    there = [place for place in places if place.exists()]
    if there:
        raise InputError(f"{there[0]}: is there already: choose another folder, or --name")
    for place, text in zip(places, files.values(), strict=False):
        store.write_text(place, text)
    if tool == "huggingface":
        places[-1].parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(bank / "bank.parquet", places[-1])
    return places, use
