"""From a finished stage to the place where people look: bank and evaluation folders under their own ids."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tasks import store
from tasks.stages import DONE_FILE, Done
from tasks.workplace import Workplace


def _copy(folder: Path, final: Path) -> Path:
    """A copy of a folder under its final name, whole or not at all; an existing one is left as it is."""
    if not final.is_dir():
        temporary = final.with_name(f".{final.name}.{uuid.uuid4().hex[:8]}.tmp")
        try:
            shutil.copytree(folder, temporary, ignore=shutil.ignore_patterns(DONE_FILE))
            store.settle(temporary, final)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return final


def publish(done: Done, final: Path) -> Path:
    """What a stage left, under the name by which people find it."""
    return _copy(Path(done.folder), final)


def publish_documents(place: Workplace, audited: Done, bank_id: str) -> Path:
    """The Data Docs of a bank's audit, in a folder of the bank's name; returns their first page.

    They lie outside the bank: Great Expectations writes the time into them, and a bank holds none.
    """
    return _copy(Path(audited.folder) / "data_docs", place.root / "data_docs" / bank_id) / "index.html"


def publish_bank(place: Workplace, done: Done) -> tuple[Path, str]:
    """The bank folder of a lock stage, and in words which release of it evaluations ask about; "" for the bank itself.

    A release with keys or reviewers' decisions stays the one in use as long as the build locks the same items.
    """
    bank_id = str(done.facts["bank_id"])
    folder = publish(done, place.banks / bank_id)
    chosen = place.pointer("release_in_use")
    if chosen and chosen["of"] == bank_id and Path(chosen["folder"]).is_dir():
        place.point("bank", {name: value for name, value in chosen.items() if name != "of"})
        return folder, (
            f"evaluations ask about {Path(chosen['folder']).name}, a release of it; examgen keys … --no-use goes back"
        )
    place.point("bank", {"bank_id": bank_id, "folder": str(folder), "items": done.counts["locked"]})
    if not chosen:
        return folder, ""
    return folder, (
        f"these are other items than those of {Path(chosen['folder']).name}: its keys, tiers and decisions do not hold "
        "for them, give them anew with examgen keys or examgen review"
    )


def choose_release(place: Workplace, release: Path | None) -> None:
    """Point the study's evaluations to a release of its latest bank, or to the bank as it was locked."""
    latest, chosen = place.latest("bank"), place.pointer("release_in_use")
    of = chosen["of"] if chosen and chosen["folder"] == latest["folder"] else latest["bank_id"]
    entry = _entry(release or place.banks / of)
    place.point("bank", entry)
    if release is None:
        (place.root / "latest_release_in_use.json").unlink(missing_ok=True)
    else:
        place.point("release_in_use", {"of": of, **entry})


def _entry(folder: Path) -> dict[str, Any]:
    manifest = store.read_json(folder / "bank.lock.json")
    items = pq.read_metadata(folder / "bank.parquet").num_rows
    return {"bank_id": manifest["bank_id"], "folder": str(folder), "items": items}
