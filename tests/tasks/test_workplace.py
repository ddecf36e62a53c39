from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from examgen.errors import BankError, RunError
from tasks.workplace import Workplace


def hold(folder: str, ready: object, leave: object) -> None:
    with Workplace(folder, "s").alone():
        ready.set()  # type: ignore[attr-defined]
        leave.wait(30)  # type: ignore[attr-defined]


def test_two_runs_of_one_study_do_not_mix(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready, leave = context.Event(), context.Event()
    other = context.Process(target=hold, args=(str(tmp_path), ready, leave))
    other.start()
    assert ready.wait(60)
    with pytest.raises(RunError, match=f"process {other.pid} is running this study"), Workplace(tmp_path, "s").alone():
        pass
    with pytest.raises(RunError, match="wait for it, or stop it"):
        Workplace(tmp_path, "s").check_free()
    with Workplace(tmp_path, "another").alone():
        pass
    leave.set()
    other.join()
    with Workplace(tmp_path, "s").alone(), Workplace(tmp_path, "s").alone():
        Workplace(tmp_path, "s").check_free()  # a flow within a flow of one process
    after = context.Process(target=hold, args=(str(tmp_path), ready, leave))
    after.start()
    after.join()
    assert after.exitcode == 0, "and it is free afterwards"
    Workplace(tmp_path, "never ran").check_free()
    assert not (tmp_path / "never ran").exists()


def test_pointers(tmp_path: Path) -> None:
    place = Workplace(tmp_path, "s")
    with pytest.raises(BankError, match="examgen build"):
        place.latest("bank")
    place.point("bank", {"bank_id": "b"})
    assert place.latest("bank") == {"bank_id": "b"}
