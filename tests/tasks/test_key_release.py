"""A release with keys: the locked bank untouched, the tiers hashed, the release verified."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from examgen import tables
from examgen.errors import BankError
from tasks import store
from tasks.calibration_stage import read_hard_stops
from tasks.key_release import FIXED_BEFORE, release_keys, use
from tasks.publishing import publish_bank
from tasks.stages import Done
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


def locked(folder: Path, items: int) -> Done:
    """What the lock stage of a build leaves, as far as publishing looks at it."""
    facts = {"bank_id": folder.name}
    return Done(stage="lock", label="lock", key="k", folder=str(folder), counts={"locked": items}, facts=facts)


def test_a_release_stays_in_use_until_a_build_locks_other_items(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path)
    release, _ = release_keys(folder, keys_csv(bank, tmp_path / "keys.csv"))
    place = Workplace(tmp_path, "small")
    assert use(folder, release)
    assert place.latest("bank")["folder"] == str(release)
    found, told = publish_bank(place, locked(folder, 12))
    assert (found, place.latest("bank")["folder"]) == (folder, str(release)), "a rerun of the build keeps it"
    assert told.startswith(f"evaluations ask about {release.name}")

    assert use(folder, None)
    assert place.latest("bank")["folder"] == str(folder)
    assert publish_bank(place, locked(folder, 12)) == (folder, "")

    assert use(folder, release)
    other = folder.with_name("other")
    shutil.copytree(folder, other)
    found, told = publish_bank(place, locked(other, 12))
    assert (found, place.latest("bank")["folder"]) == (other, str(other))
    assert f"other items than those of {release.name}" in told
    assert not use(folder, release), "it is not the study's latest bank any more"


def test_a_bank_of_no_study_has_no_next_evaluation(tmp_path: Path) -> None:
    folder, _ = make_bank_folder(tmp_path)
    (tmp_path / "small" / "latest_bank.json").unlink()
    assert not use(folder, folder)


def test_sources_in_tables_of_their_own(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path)
    for source in ("ann", "ben"):
        rows = [f"{item.item_id},{source},{item.key_letter},yes,{'ABCD'[(item.key + 1) % 4]}" for item in bank]
        (tmp_path / f"{source}.csv").write_text("\n".join(["item_id,source,letter,human,never", *rows]))
    files = (tmp_path / "ann.csv", tmp_path / "ben.csv")
    release, note = release_keys(folder, *files)
    assert (note["counts"], note["sources"]) == ({"A": 12}, {"ann": "human", "bank": "model", "ben": "human"})
    assert (note["label"], note["hard_stops"]) == ("keys", 12)
    never = read_hard_stops(release)
    assert {set(marks) == {"ABCD"[(item.key + 1) % 4]} for item in bank for marks in [never[item.item_id]]} == {True}
    assert release_keys(folder, files[0])[0] != release
    with pytest.raises(BankError, match="a second key of 'ann'"):
        release_keys(folder, files[0], Path(shutil.copy(files[0], tmp_path / "again.csv")))


def test_keys_of_models_alone_are_labelled(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path)
    rows = [f"{item.item_id},{source},{item.key_letter},no" for item in bank for source in ("m1", "m2")]
    (tmp_path / "keys.csv").write_text("\n".join(["item_id,source,letter,human", *rows]))
    release, note = release_keys(folder, tmp_path / "keys.csv")
    assert note["label"] == "model-keys: no person gave one"
    assert {row["key_source"] for row in tables.read_rows(str(release / "tiers.parquet"))} == {"model"}


def test_without_the_bank_s_key_two_sources_are_too_few(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path)
    _, note = release_keys(folder, keys_csv(bank, tmp_path / "keys.csv"), bank_key=False)
    assert note["counts"] == {"B": 11, "probe": 1}
    assert note["reasons"]["2 of 3 keys"] == 11


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    folder, _ = make_bank_folder(tmp_path)
    with pytest.raises(BankError, match="no such table of keys"):
        release_keys(folder, tmp_path / "none.csv")
