"""From a finished stage to the place where people look: bank and evaluation folders under their own ids."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

from tasks import store
from tasks.stages import DONE_FILE, Done
from tasks.workplace import Workplace


def publish(done: Done, final: Path) -> Path:
    """Copy what a stage left into a folder of that name, whole or not at all; an existing one is left as it is."""
    if not final.is_dir():
        temporary = final.with_name(f".{final.name}.{uuid.uuid4().hex[:8]}.tmp")
        try:
            shutil.copytree(done.folder, temporary, ignore=shutil.ignore_patterns(DONE_FILE))
            store.settle(temporary, final)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return final


def publish_bank(place: Workplace, done: Done) -> Path:
    """The bank folder of a lock stage, and the pointer to it."""
    bank_id = str(done.facts["bank_id"])
    folder = publish(done, place.banks / bank_id)
    place.point("bank", {"bank_id": bank_id, "folder": str(folder), "items": done.counts["locked"]})
    return folder
