"""The command `examgen keys` as a person uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.keys_command import keys
from tasks import store
from tasks.workplace import Workplace
from tests.flows.test_command_line import examgen
from tests.panels import answer
from tests.tasks.bank_folder import keys_csv, make_bank_folder


def test_keys_make_a_release_that_verifies(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path)
    done = examgen("keys", str(folder), str(keys_csv(bank, tmp_path / "keys.csv")))
    assert done.returncode == 0, done.stderr
    assert "tiers A 11, probe 1" in done.stdout
    assert "fixed before scoring" in done.stdout
    assert "evaluations ask about this release, until a build locks other items" in done.stdout
    release = done.stdout.split(": tiers")[0]
    assert examgen("verify", release).returncode == 0
    assert Workplace(tmp_path, "small").latest("bank")["folder"] == release
    done = examgen("keys", str(folder), str(tmp_path / "keys.csv"), "--no-use")
    assert "evaluations ask about the bank as it was locked" in done.stdout
    assert Workplace(tmp_path, "small").latest("bank")["folder"] == str(folder.resolve())


def test_tiers_of_a_scored_bank_are_marked_as_chosen_afterwards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, bank = make_bank_folder(tmp_path)
    rows = [answer(item, "a", item.key) for item in bank]
    store.write(tmp_path / "small/evaluations/e1/responses/endpoint_id=a/part.parquet", "responses", rows)
    keys(folder, [keys_csv(bank, tmp_path / "keys.csv")])
    told = capsys.readouterr().out
    assert "fixed after scoring: responses to 12 of its items" in told
    assert "exploratory" in told


def test_wrong_input_is_exit_code_2(tmp_path: Path) -> None:
    folder, _ = make_bank_folder(tmp_path)
    (tmp_path / "keys.csv").write_text("item_id,source,letter,human\nq,ann,A,1\n")
    done = examgen("keys", str(folder), str(tmp_path / "keys.csv"))
    assert (done.returncode, "line 2: the bank has no item 'q'" in done.stderr) == (2, True)
    done = examgen("keys", str(tmp_path), str(tmp_path / "keys.csv"))
    assert (done.returncode, "no bank.lock.json" in done.stderr) == (2, True)
