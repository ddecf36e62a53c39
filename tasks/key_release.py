"""A release of a locked bank with several answer keys: the bank as it was, the keys, their tiers, the hash of these."""

from __future__ import annotations

import hashlib
import shutil
import uuid
from pathlib import Path
from typing import Any

from examgen import keys, tables
from examgen.errors import BankError
from examgen.ids import canonical_json, digest
from examgen.records import BankItem
from examgen.statistics.tiers import TierRules
from tasks import store
from tasks.publishing import choose_release
from tasks.verification import verify_bank
from tasks.workplace import Workplace

FIXED_BEFORE = "before scoring: no response to its items lay in the results"


def release_keys(
    bank: Path, *files: Path, rules: TierRules | None = None, bank_key: bool = True, human_bank: bool = False
) -> tuple[Path, dict[str, Any]]:
    """Write the release folder beside the bank and return it with the note its manifest holds. `files` are tables of
    keys, of one source or more each.

    The locked folder is verified first and left as it is. The same keys give the same folder. `BankError` when the
    bank does not verify or the table of keys cannot be used.
    """
    bank = bank.resolve()
    verify_bank(bank)
    items = tables.read_records(str(bank / "bank.parquet"), BankItem)
    given = keys.merged({str(file): keys.parse_keys(_read(file), str(file), items) for file in files})
    if bank_key:
        given = keys.with_bank_key(given, items, human=human_bank)
    chosen = rules or TierRules()
    table = keys.tier_table(items, given, chosen)
    manifest = store.read_manifest(bank)
    earlier = manifest.get("key_release", {}).get("tier_hash")
    note = keys.release_note(table, items, given, chosen, scored(bank, {item.item_id for item in items}))
    if earlier:
        raise BankError(f"{bank}: is itself a release with keys: give the folder of the locked bank")
    said = canonical_json(sorted((k.item_id, k.source, k.letter, k.human, str(k.endorses), k.never) for k in given))
    final = bank.with_name(f"{bank.name}-keys-{digest('keys', note['tier_hash'], said, length=8)}")
    if not final.is_dir():
        _write(bank, final, given, table, manifest, note)
    return final, store.read_json(final / "bank.lock.json")["key_release"]


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise BankError(f"{file}: no such table of keys: CSV with {', '.join(keys.COLUMNS)}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise BankError(f"{file}: cannot be read as a CSV table in UTF-8: {error}") from error


def _write(
    bank: Path, final: Path, given: list[keys.Key], table: Any, manifest: dict[str, Any], note: dict[str, Any]
) -> None:
    temporary = final.with_name(f".{final.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        shutil.copytree(bank, temporary)
        rows = [
            {
                "item_id": k.item_id, "source": k.source, "letter": k.letter, "human": k.human,
                "endorses": k.endorses, "never": k.never,
            }
            for k in sorted(given, key=lambda k: (k.item_id, k.source))
        ]
        store.write(temporary / "keys.parquet", "keys", rows)
        store.write(temporary / "tiers.parquet", "tiers", keys.tier_rows(table))
        listed = {name: _hash(temporary / name) for name in ("keys.parquet", "tiers.parquet")}
        whole = {**manifest, "key_release": note, "tables": {**manifest["tables"], **listed}}
        store.write_json(temporary / "bank.lock.json", whole)
        store.settle(temporary, final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _hash(place: Path) -> str:
    return hashlib.sha256(place.read_bytes()).hexdigest()


def scored(bank: Path, item_ids: set[str]) -> str:
    """Whether the items had been answered when their tiers were fixed, in words for the manifest."""
    evaluations = bank.parent.parent / "evaluations"
    answered: set[str] = set()
    for place in sorted(evaluations.glob("*/responses/endpoint_id=*/*.parquet")):
        answered |= item_ids & set(tables.read_table(str(place))["item_id"].to_pylist())
    return f"after scoring: responses to {len(answered)} of its items lay in the results" if answered else FIXED_BEFORE


def use(bank: Path, release: Path | None) -> bool:
    """Make the release the bank that the study's evaluations ask about, until a build locks other items; without one,
    go back to the bank as it was locked. False where `bank` is not the study's latest."""
    bank = bank.resolve()
    root = bank.parent.parent
    note = root / "latest_bank.json"
    if not note.is_file():
        return False
    place = Workplace(root.parent, root.name)
    latest, manifest = place.latest("bank"), store.read_json(bank / "bank.lock.json")
    if latest["bank_id"] != manifest["bank_id"] or Path(latest["folder"]).parent != bank.parent:
        return False
    choose_release(place, release)
    return True
