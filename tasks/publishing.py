"""From a finished stage to the place where people look: bank and evaluation folders under their own ids."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

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


def publish_bank(place: Workplace, done: Done) -> Path:
    """The bank folder of a lock stage, and the pointer to it."""
    bank_id = str(done.facts["bank_id"])
    folder = publish(done, place.banks / bank_id)
    place.point("bank", {"bank_id": bank_id, "folder": str(folder), "items": done.counts["locked"]})
    return folder
