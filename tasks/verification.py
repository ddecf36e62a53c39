"""Checking a locked bank as anybody can: against its manifest and against the texts it was cut from."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pandas as pd

from examgen import keys, locking, tables
from examgen.errors import BankError, TableError
from examgen.records import BankItem, Chunk, Source
from examgen.statistics.tiers import tier_hash
from tasks import store


def _hash_problems(folder: Path, listed: dict[str, str]) -> list[str]:
    found = []
    for name, expected in sorted(listed.items()):
        place = folder / name
        if not place.is_file():
            found.append(f"{name}: is in the manifest and not in the folder")
        elif hashlib.sha256(place.read_bytes()).hexdigest() != expected:
            found.append(f"{name}: its bytes are not those that were locked")
    found += [f"{p.name}: is not in the manifest" for p in sorted(folder.glob("*.parquet")) if p.name not in listed]
    return found


def _text_problems(folder: Path, chunks: list[Chunk]) -> list[str]:
    """Passages that are not at their place in the stored texts; nothing where a release leaves the texts out."""
    place = folder / "texts.parquet"
    if not place.is_file():
        return []
    texts = {row["source_id"]: row["text"] for row in tables.read_rows(str(place))}
    return [
        f"passage {chunk.chunk_id}: is not at its place in {chunk.path}"
        for chunk in chunks
        if texts.get(chunk.source_id, "")[chunk.start : chunk.end] != chunk.text
    ]


def _tier_problems(folder: Path, items: list[BankItem], manifest: dict[str, Any]) -> list[str]:
    """Tiers that are not those whose hash the manifest holds: they were changed after they were fixed."""
    found = []
    if manifest.get("tier_hash", "") not in ("", keys.locked_tier_hash(items)):
        found.append("tier_hash: the tiers of the items are not those that were locked")
    if "key_release" in manifest:
        tiers = pd.DataFrame(tables.read_rows(str(folder / "tiers.parquet")))
        if tier_hash(tiers) != manifest["key_release"]["tier_hash"]:
            found.append("key_release: tiers.parquet does not hash to the tiers that were fixed")
    return found


def verify_bank(folder: Path) -> list[str]:
    """Lines that say what was checked; `BankError` that lists everything wrong."""
    note = folder / "bank.lock.json"
    if not note.is_file():
        raise BankError(f"{folder}: no bank.lock.json in it: give the folder of a locked bank (…/bank/<bank_id>)")
    try:
        manifest = store.read_manifest(folder)
    except TableError as error:
        raise BankError(str(error)) from error
    wrong = _hash_problems(folder, manifest["tables"])
    if any(line.startswith("bank.parquet: is in") for line in wrong):
        raise BankError("\n".join(f"{folder}: {line}" for line in wrong))
    try:
        items = tables.read_records(str(folder / "bank.parquet"), BankItem)
        chunks = tables.read_records(str(folder / "chunks.parquet"), Chunk)
        sources = {source.source_id for source in tables.read_records(str(folder / "sources.parquet"), Source)}
    except (TableError, FileNotFoundError) as error:
        raise BankError("\n".join(f"{folder}: {line}" for line in [*wrong, str(error)])) from error
    wrong += locking.problems(items, {chunk.chunk_id: chunk for chunk in chunks}, sources)
    wrong += _text_problems(folder, chunks)
    if locking.bank_id(items, manifest["facts"]) != manifest["bank_id"]:
        wrong.append(f"bank_id: the items do not hash to {manifest['bank_id']}")
    wrong += _tier_problems(folder, items, manifest)
    if wrong:
        raise BankError("\n".join(f"{folder}: {line}" for line in wrong))
    quotes = sum(len(item.evidence) for item in items)
    return [
        f"{folder}: bank {manifest['bank_id']} holds",
        f"  {len(manifest['tables'])} tables have the bytes that were locked",
        f"  {len(items)} items hash to their ids",
        f"  {quotes} quotes stand at their place in {len(chunks)} passages, the passages in their sources",
    ]
