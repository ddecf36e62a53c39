"""Reviewers' decisions become a release: a new bank beside the old one, with the decisions inside as provenance."""

from __future__ import annotations

import hashlib
import shutil
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examgen import locking, tables
from examgen.agreement import reviewer_rows
from examgen.records import STRATA, BankItem, Decision, FunnelRow, Topic
from examgen.result_rows import Row
from examgen.review import Release, merged, release
from examgen.review_sheet import read_decisions
from tasks import store
from tasks.publishing import choose_release
from tasks.verification import verify_bank
from tasks.workplace import Workplace

DECISIONS, AGREEMENT = "decisions.parquet", "agreement.parquet"
TIER_TABLES = ("keys.parquet", "tiers.parquet")
"""Tables of a release with keys: they speak of the items before the review and are made anew with `examgen keys`."""


@dataclass(frozen=True)
class Reviewed:
    """What an import left: the folder of the release, its account and the agreement of the reviewers."""

    folder: Path
    items: int
    funnel: Sequence[FunnelRow]
    agreement: Sequence[Row]
    note: dict[str, Any]
    keys_left_out: bool


def release_reviewed(bank: Path, files: Sequence[Path]) -> Reviewed:
    """Read the decisions, settle them and write the new bank's folder; the same decisions give the same folder.

    The bank is verified first and left as it is. Decisions of an earlier round that the bank carries stay in the
    table beside the new ones. `InputError` for unreadable or contradictory decisions.
    """
    bank = bank.resolve()
    verify_bank(bank)
    items = tables.read_records(str(bank / "bank.parquet"), BankItem)
    decisions = merged(read_decisions(file) for file in files)
    found = release(items, decisions)
    earlier = tables.read_records(str(bank / DECISIONS), Decision) if (bank / DECISIONS).is_file() else []
    kept = merged([earlier, decisions])
    before = store.read_json(bank / "bank.lock.json")
    facts = {**before["facts"], "review": _facts(found, before)}
    manifest = _manifest(bank, found, facts, before)
    final = bank.parent / manifest["bank_id"]
    agreement = reviewer_rows(kept)
    if not final.is_dir():
        _write(bank, final, found, manifest, kept, agreement)
    left_out = any((bank / name).is_file() for name in TIER_TABLES)
    return Reviewed(final, len(found.items), found.funnel, agreement, facts["review"], left_out)


def _facts(found: Release, before: dict[str, Any]) -> dict[str, Any]:
    """What the manifest says of this round, and of those before it."""
    last = before["facts"].get("review")
    rounds = [*last.get("earlier", []), {k: v for k, v in last.items() if k != "earlier"}] if last else []
    return {**found.facts["review"], "reviewed_bank": before["bank_id"], "earlier": rounds}


def _manifest(bank: Path, found: Release, facts: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    topics = tables.read_records(str(bank / "topics.parquet"), Topic) if (bank / "topics.parquet").is_file() else []
    old = tables.read_records(str(bank / "bank.parquet"), BankItem)
    wanted: Counter[tuple[str, str, str]] = Counter(map(_place, old))  # what was not short had as many as it wanted
    wanted.update(
        {(row["topic"], row["subtopic"], row["stratum"]): row["wanted"] - row["locked"] for row in before["shortfalls"]}
    )
    have = Counter(map(_place, found.items))
    shortfalls = [
        {"topic": place[0], "subtopic": place[1], "stratum": place[2], "wanted": wanted[place], "locked": have[place]}
        for place in sorted(wanted, key=lambda place: (*place[:2], STRATA.index(place[2])))
        if have[place] < wanted[place]
    ]
    return {**locking.manifest(found.items, topics, facts, {}), "shortfalls": shortfalls}


def _place(item: BankItem) -> tuple[str, str, str]:
    return item.topic, item.subtopic, item.stratum


def _write(
    bank: Path, final: Path, found: Release, manifest: dict[str, Any], decisions: Sequence[Decision],
    agreement: Sequence[Row],
) -> None:
    temporary = final.with_name(f".{final.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        shutil.copytree(bank, temporary, ignore=shutil.ignore_patterns(*TIER_TABLES, "bank.lock.json"))
        place = temporary / "funnel.parquet"
        funnel = tables.read_records(str(place), FunnelRow) if place.is_file() else []
        for name, rows in (
            ("bank", found.items), ("funnel", [*funnel, *_numbered(funnel, found.funnel)]), ("decisions", decisions),
            ("agreement", agreement),
        ):
            store.write(temporary / f"{name}.parquet", name, rows)
        hashes = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(temporary.glob("*.parquet"))}
        store.write_json(temporary / "bank.lock.json", {**manifest, "tables": hashes})
        store.settle(temporary, final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _numbered(before: Sequence[FunnelRow], rows: Sequence[FunnelRow]) -> list[FunnelRow]:
    """The rows of a second and later round under a name of their own, so that each stage adds up by itself."""
    rounds = len({row.stage for row in before if row.stage.startswith("review")})
    return [row.model_copy(update={"stage": f"review {rounds + 1}"}) for row in rows] if rounds else list(rows)


def use(bank: Path, done: Reviewed) -> bool:
    """Make the release the bank of the study's next evaluation; False where the reviewed one is not the latest."""
    root = bank.resolve().parent.parent
    place = Workplace(root.parent, root.name)
    latest = place.pointer("bank")
    if latest is None or Path(latest["folder"]) != bank.resolve():
        return False
    choose_release(place, done.folder)
    return True
