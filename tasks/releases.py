"""Releases of a study's bank: which bank a build follows, and what is said of the two.

A build follows the latest bank when the documents are others than those it was made from. While they are the same,
every build follows what the first one followed: an edited threshold that is set back gives the bank there was,
whatever was built in between. `releases.json` holds an entry for each set of documents and each writer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from examgen.errors import BankError
from examgen.ids import digest
from examgen.records import (
    BankItem,
    Candidate,
    Chunk,
    Decision,
    Finding,
    Record,
    RetiredItem,
    Source,
    Topic,
    Verdict,
)
from examgen.releases import (
    BankTables,
    Documents,
    as_candidates,
    carry,
    compare,
    headline,
    release_sets,
    retired_items,
)
from examgen.report import bank_diff
from examgen.tables import read_records, read_rows
from tasks import store
from tasks.stages import Shard, stage
from tasks.workplace import Workplace

R = TypeVar("R", bound=Record)

Entry = dict[str, Any]
"""documents, line (hashes), parent, bank, compared (folder names of banks), results, release (paths in the study)."""


def _read(place: Workplace) -> list[Entry]:
    file = place.root / "releases.json"
    found: list[Entry] = store.read_json(file)["releases"] if file.is_file() else []
    return found


def documents_of(files: Sequence[Sequence[str]]) -> str:
    """Hash of a set of documents by their content, whatever they are called; `files` are rows of (path, hash or why
    it is not read)."""
    return digest("documents", *sorted({value for _, value in files if _HASH.fullmatch(value)}))


_HASH = re.compile("[0-9a-f]{64}")


def followed(place: Workplace, documents: str, line: str) -> str:
    """Folder name of the bank that a build of these documents by this writer follows; empty for a first one."""
    entries = _read(place)
    known = [entry for entry in entries if (entry["documents"], entry["line"]) == (documents, line)]
    if known:
        parent = str(known[0]["parent"])
    elif entries and entries[-1]["line"] == line:
        parent = Path(place.latest("bank")["folder"]).name
    else:
        parent = ""
    return parent if parent and (place.banks / parent).is_dir() else ""


def enter(place: Workplace, documents: str, line: str, parent: str, bank: str) -> Entry:
    """Enter a locked bank; the entry names the bank it is to be compared with, empty where there is none.

    What a panel has answered by now decides the release sets; the entry keeps which results those were, so that the
    same build says the same again.
    """
    entries = _read(place)
    known = [entry for entry in entries if (entry["documents"], entry["line"]) == (documents, line)]
    if known and known[0]["bank"] == bank:
        return known[0]
    before = known[0]["bank"] if known else parent or (entries[-1]["bank"] if entries else "")
    latest = place.pointer("results")
    results = latest["folder"] if latest else ""
    entry: Entry = {
        "documents": documents, "line": line, "parent": parent, "bank": bank, "compared": before,
        "results": str(Path(results).relative_to(place.root)) if results else "", "release": "",
    }  # fmt: skip
    _write(place, [*(e for e in entries if not known or e is not known[0]), entry])
    return entry


def note_release(place: Workplace, entry: Entry, folder: Path) -> None:
    """Remember where the comparison of an entry lies."""
    entries = _read(place)
    done = {**entry, "release": str(folder.relative_to(place.root))}
    if done not in entries:
        _write(place, [done if e["bank"] == entry["bank"] and e["line"] == entry["line"] else e for e in entries])


def _write(place: Workplace, entries: Sequence[Entry]) -> None:
    store.write_json(place.root / "releases.json", {"releases": list(entries)})


def release_of(place: Workplace, bank: str) -> str:
    """Folder of the comparison that was made when a bank was released; empty where there was none."""
    return next((str(place.root / e["release"]) for e in _read(place) if e["bank"] == bank and e["release"]), "")


def line_of(banks: Path, bank: str) -> list[str]:
    """The bank and those it followed, the first one first."""
    found: list[str] = []
    while bank and bank not in found and (banks / bank / "bank.lock.json").is_file():
        found.insert(0, bank)
        bank = str(store.read_json(banks / bank / "bank.lock.json")["facts"].get("parent", ""))
    return found


def _records(folder: Path, name: str, record: type[R]) -> list[R]:
    place = folder / f"{name}.parquet"
    return read_records(str(place), record) if place.is_file() else []


def read_bank(folder: Path) -> BankTables:
    """A locked bank with what says how it came about; tables a release leaves out are empty."""
    note = folder / "bank.lock.json"
    if not note.is_file():
        raise BankError(f"{folder}: no bank.lock.json in it: give the folder of a locked bank (…/bank/<bank_id>)")
    return BankTables(
        bank_id=folder.name,
        items=_records(folder, "bank", BankItem),
        sources=_records(folder, "sources", Source),
        chunks=_records(folder, "chunks", Chunk),
        topics=_records(folder, "topics", Topic),
        candidates=_records(folder, "candidates", Candidate),
        findings=_records(folder, "findings", Finding),
        verdicts=_records(folder, "verdicts", Verdict),
        decisions=_records(folder, "decisions", Decision),
    )


@stage("carry")
def carry_items(shard: Shard, folder: Path) -> dict[str, Any]:
    """Items of the bank before whose quotes still stand in the documents, as candidates: table candidates."""
    before = Path(shard.inputs["parent_folder"])
    locked = as_candidates(_records(before, "bank", BankItem), _records(before, "candidates", Candidate))
    sources = _records(Path(shard.inputs["read"]), "sources", Source)
    carried = carry(
        locked,
        Documents(_records(before, "sources", Source), _records(before, "chunks", Chunk)),
        Documents(sources, read_records(shard.inputs["chunks"], Chunk)),
        read_records(shard.inputs["topics"], Topic),
    )
    store.write(folder / "candidates.parquet", "candidates", carried)
    decided = {d.item_id: f"review: {d.decision}" for d in _records(before, "decisions", Decision)}
    refused = {name: said for name, said in decided.items() if said != "review: accept"}
    counts = {"carried": len(carried), "locked": len(locked)}
    return {"counts": counts, "facts": {"refused": refused, "parent": shard.inputs["parent"]}}


@stage("release")
def describe_release(shard: Shard, folder: Path) -> dict[str, Any]:
    """What became of each item between two banks: tables bank_diff, retired and release_sets, and a page of it."""
    banks = Path(shard.inputs["banks"])
    old, new = read_bank(banks / shard.inputs["old"]), read_bank(banks / shard.inputs["new"])
    rows = compare(old, new)
    line = [
        (name, frozenset(row["item_id"] for row in read_rows(str(banks / name / "bank.parquet"))))
        for name in shard.inputs["line"]
    ]
    panel, primary = _panel(shard.inputs["results_folder"])
    sets = release_sets(new.items, line, panel, primary)
    earlier = Path(shard.inputs["earlier_release"])
    gone = retired_items(rows, old, new, _records(earlier, "retired", RetiredItem) if earlier.name else ())
    store.write(folder / "bank_diff.parquet", "bank_diff", rows)
    store.write(folder / "retired.parquet", "retired", gone)
    store.write(folder / "release_sets.parquet", "release_sets", sets)
    store.write_text(folder / "diff.md", bank_diff.markdown(old.bank_id, new.bank_id, rows, sets))
    store.write_text(folder / "diff.html", bank_diff.html(old.bank_id, new.bank_id, rows, sets))
    statuses = {status: sum(row.status == status for row in rows) for status in ("kept", "retired", "new")}
    return {"counts": statuses, "facts": {"headline": headline(rows)}}


def _panel(results: str) -> tuple[dict[str, tuple[int, int]], int]:
    """(misses, seen) by item of an earlier evaluation, and how many primary endpoints it had."""
    place = Path(results)
    if not results or not (place / "item_difficulty.parquet").is_file():
        return {}, 0
    rows = read_rows(str(place / "item_difficulty.parquet"))
    roles = [row["role"] for row in read_rows(str(place.parent / "endpoints.parquet"))]
    return {row["item_id"]: (row["misses"], row["seen"]) for row in rows}, roles.count("primary")

