"""The command `examgen keys` as a person uses it."""

from __future__ import annotations

from pathlib import Path

from tests.flows.test_command_line import examgen
from tests.tasks.bank_folder import keys_csv, make_bank_folder


def test_keys_make_a_release_that_verifies(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path)
    done = examgen("keys", str(folder), str(keys_csv(bank, tmp_path / "keys.csv")))
    assert done.returncode == 0, done.stderr
    assert "tiers A 11, probe 1" in done.stdout
    assert "fixed before scoring" in done.stdout
    assert "next `examgen evaluate` asks about this release" in done.stdout
    release = done.stdout.split(": tiers")[0]
    assert examgen("verify", release).returncode == 0


def test_wrong_input_is_exit_code_2(tmp_path: Path) -> None:
    folder, _ = make_bank_folder(tmp_path)
    (tmp_path / "keys.csv").write_text("item_id,source,letter,human\nq,ann,A,1\n")
    done = examgen("keys", str(folder), str(tmp_path / "keys.csv"))
    assert (done.returncode, "line 2: the bank has no item 'q'" in done.stderr) == (2, True)
    done = examgen("keys", str(tmp_path), str(tmp_path / "keys.csv"))
    assert (done.returncode, "no bank.lock.json" in done.stderr) == (2, True)
