"""Stages without Prefect: `.work` is the work of a shard and its bookkeeping, without the task around it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tasks.stages import DONE_FILE, Shard, make_shard, stage

CALLS: list[str] = []


@stage("test-stage")
def double(shard: Shard, folder: Path) -> dict[str, Any]:
    CALLS.append(shard.label)
    (folder / "out.txt").write_text(str(2 * shard.inputs["number"]))
    if shard.inputs["number"] < 0:
        raise ValueError("negative")
    return {"counts": {"rows": 1}}


def shard_of(tmp_path: Path, number: int, **inputs: Any) -> Shard:
    return make_shard("s", "test-stage", f"n{number}", tmp_path, {"number": number}, inputs)


def test_finished_work_is_not_done_again(tmp_path: Path) -> None:
    CALLS.clear()
    first = double.work(shard_of(tmp_path, 2))
    again = double.work(shard_of(tmp_path, 2, elsewhere="another path"))
    assert first == again
    assert CALLS == ["n2"]
    assert Path(first.folder, "out.txt").read_text() == "4"


def test_other_inputs_are_other_work(tmp_path: Path) -> None:
    assert shard_of(tmp_path, 1).key != shard_of(tmp_path, 2).key
    assert shard_of(tmp_path, 1).key == shard_of(tmp_path, 1, address="x").key


def test_failed_work_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="negative"):
        double.work(shard_of(tmp_path, -1))
    assert list((tmp_path / "test-stage").iterdir()) == []


def test_half_a_folder_is_not_a_result(tmp_path: Path) -> None:
    shard = shard_of(tmp_path, 3)
    left = tmp_path / "test-stage" / ".left.tmp"
    left.mkdir(parents=True)
    (left / "out.txt").write_text("half")
    assert shard.finished() is None
    assert double.work(shard).counts == {"rows": 1}
    assert Path(shard.folder, DONE_FILE).is_file()
