"""A release with keys: the locked bank untouched, the tiers hashed, the release verified."""

from __future__ import annotations

from pathlib import Path

import pytest

from examgen.errors import BankError
from tasks import store
from tasks.key_release import FIXED_BEFORE, release_keys, use
from tasks.verification import verify_bank
from tasks.workplace import Workplace
from tests.panels import answer
from tests.tasks.bank_folder import keys_csv, make_bank_folder


def listing(folder: Path) -> dict[str, bytes]:
    return {place.name: place.read_bytes() for place in folder.iterdir()}


def test_the_release_stands_beside_the_locked_bank_and_verifies(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path)
    before = listing(folder)
    release, note = release_keys(folder, keys_csv(bank, tmp_path / "keys.csv"))
    assert listing(folder) == before
    assert release.parent == folder.parent
    assert note["counts"] == {"A": 11, "probe": 1}
    assert note["fixed"] == FIXED_BEFORE
    assert verify_bank(release)[0].endswith("holds")
    assert release_keys(folder, tmp_path / "keys.csv") == (release, note)
    with pytest.raises(BankError, match="is itself a release"):
        release_keys(release, tmp_path / "keys.csv")


def test_a_changed_tier_is_found(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path)
    release, _ = release_keys(folder, keys_csv(bank, tmp_path / "keys.csv"))
    note = store.read_json(release / "bank.lock.json")
    note["key_release"]["tier_hash"] = "0" * 64
    store.write_json(release / "bank.lock.json", note)
    with pytest.raises(BankError, match="does not hash to the tiers that were fixed"):
        verify_bank(release)


def test_tiers_fixed_after_scoring_say_so(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path)
    rows = [answer(item, "a", item.key) for item in bank[:5]]
    store.write(tmp_path / "small/evaluations/e1/responses/endpoint_id=a/part.parquet", "responses", rows)
    _, note = release_keys(folder, keys_csv(bank, tmp_path / "keys.csv"))
    assert note["fixed"].startswith("after scoring: responses to 5 of its items")


def test_the_study_s_next_evaluation_asks_about_the_release(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path)
    release, _ = release_keys(folder, keys_csv(bank, tmp_path / "keys.csv"))
    assert use(folder, release)
    assert Workplace(tmp_path, "small").latest("bank")["folder"] == str(release)
    alone = tmp_path / "elsewhere" / "bank" / "b"
    assert not use(alone, release)


def test_without_the_bank_s_key_two_sources_are_too_few(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path)
    _, note = release_keys(folder, keys_csv(bank, tmp_path / "keys.csv"), bank_key=False)
    assert note["counts"] == {"B": 11, "probe": 1}
    assert note["reasons"]["2 of 3 keys"] == 11


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    folder, _ = make_bank_folder(tmp_path)
    with pytest.raises(BankError, match="no such table of keys"):
        release_keys(folder, tmp_path / "none.csv")
