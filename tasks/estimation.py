"""The extent of a study from what earlier runs left, else from the sizes of its files; and the estimate as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from examgen import tables, taxonomy
from examgen.estimate import Cost, Extent, estimate, total
from examgen.records import BankItem
from examgen.sizing_report import columns
from examgen.study import Study, load_study
from tasks import read_sources, store
from tasks.ledger import calls_of, journals
from tasks.stages import DONE_FILE
from tasks.workplace import Workplace, corpus_folder

_TEXT_IN_BYTES = {"text/plain": 1.0, "text/markdown": 1.0, "text/html": 0.5, "application/xml": 0.5, "text/xml": 0.5}
_TEXT_IN_OTHERS = 0.05
"""Characters of text in a byte of a PDF or an office file, most of which are layout and pictures."""


def _last(place: Workplace, *stages: str) -> dict[str, Any] | None:
    """What the youngest finished shard of some stages left."""
    notes = [note for stage in stages for note in (place.work / stage).glob(f"*/{DONE_FILE}")]
    if not notes:
        return None
    found: dict[str, Any] = store.read_json(max(notes, key=lambda note: (note.stat().st_mtime, note)))
    return found


def _passages(study: Study, folder: Path, place: Workplace) -> tuple[int, int, str]:
    """Number of passages, their characters, and where the numbers come from."""
    read = _last(place, "read")
    if read and (Path(read["folder"]) / "chunks.parquet").is_file():
        lengths = [len(row["text"]) for row in tables.read_rows(str(Path(read["folder"]) / "chunks.parquet"))]
        return len(lengths), sum(lengths), f"{len(lengths)} passages, as last read"
    entries = [entry for entry in read_sources.scan(folder, study.corpus) if not entry.reason]
    characters = sum(entry.bytes * _TEXT_IN_BYTES.get(entry.media_type, _TEXT_IN_OTHERS) for entry in entries)
    step = study.chunking.size - study.chunking.overlap
    passages = max(len(entries), math.ceil(characters / step))
    said = f"about {passages} passages, guessed from the sizes of {len(entries)} files"
    length = min(study.chunking.size, characters / max(passages, 1) + study.chunking.overlap)
    return passages, round(passages * length), said


def extent_of(study: Study, path: Path, results: str | Path) -> tuple[Extent, list[str]]:
    """The extent of a study, and in words what it rests on."""
    place = Workplace(results, study.study)
    passages, characters, said = _passages(study, corpus_folder(study, path), place)
    known = [said]
    subtopics = items = item_characters = None
    found = _last(place, "taxonomy", "taxonomy-model")
    if study.taxonomy.file:
        text = (path.resolve().parent / study.taxonomy.file).read_text(encoding="utf-8")
        subtopics = len(taxonomy.from_yaml(text, study.taxonomy.file))
        known.append(f"{subtopics} subtopics, from {study.taxonomy.file}")
    elif found:
        subtopics = int(found["counts"]["subtopics"])
        known.append(f"{subtopics} subtopics, as last found")
    else:
        known.append("subtopics: as many as the study allows; a taxonomy most often has fewer")
    if (place.root / "latest_bank.json").is_file():
        bank = tables.read_records(str(Path(place.latest("bank")["folder"]) / "bank.parquet"), BankItem)
        items = len(bank)
        item_characters = sum(len(item.stem) + sum(map(len, item.options)) for item in bank) / max(items, 1)
        known.append(f"{items} items, as last locked")
    return Extent(passages, characters, subtopics, items, item_characters), known


def estimate_lines(path: Path, results: str | Path) -> list[str]:
    """The estimate of a study as a table, with what it rests on and what it means for the budget."""
    study = load_study(path)
    extent, known = extent_of(study, path, results)
    rows = estimate(study, extent)
    lines = [f"{path}: {'; '.join(known)}", *_table(rows), *_remarks(study, rows)]
    kept = sum(1 for place in journals(Workplace(results, study.study).replies) for _ in calls_of(place))
    if kept:
        lines.append(f"{kept:,} calls are in the journals already: replies that still fit are not paid again.")
    return lines


def _table(rows: Sequence[Cost]) -> list[str]:
    header = ("stage", "endpoint", "calls", "at most", "tokens in", "tokens out", "cost", "")
    return columns(header, [_cells(row) for row in (*rows, total(rows))]) if rows else [
        "No call to any endpoint: rules write and screen, and the panel has baselines only."
    ]  # fmt: skip


def _cells(row: Cost) -> tuple[str, ...]:
    numbers = (row.calls, row.calls_at_most, row.prompt_tokens, row.completion_tokens)
    cost = "unknown" if row.cost is None else f"{row.cost:,.2f}"
    return (row.stage, row.endpoint, *(f"{number:,}" for number in numbers), cost, row.note)


def _remarks(study: Study, rows: Sequence[Cost]) -> list[str]:
    """What the estimate says about prices and the budget."""
    unpriced = sorted({row.endpoint for row in rows if row.cost is None and row.stage != "embeddings"})
    lines = []
    if unpriced:
        lines.append(f"No price_in and price_out: {', '.join(unpriced)}.")
        if study.budget is not None:
            lines.append("The budget counts nothing for endpoints without prices, unless their replies name a cost.")
    known = sum(row.cost for row in rows if row.cost is not None)
    if study.budget is not None and known > study.budget:
        lines.append(f"The budget of {study.budget:g} will stop this run: raise it, or ask for less.")
    return lines
