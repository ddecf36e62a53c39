"""Records of runs, and what is removed because no late run rested on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tasks import run_record, tally
from tasks.run_record import prune, recorded, records
from tasks.stages import Shard, forget, make_shard, stage
from tasks.workplace import Workplace


@stage("recorded-stage")
def twice(shard: Shard, folder: Path) -> dict[str, Any]:
    (folder / "out.txt").write_text(str(2 * shard.inputs["number"]))
    tally.add("model calls", 2)
    return {"counts": {"rows": 1}}


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path, "s")


def run(place: Workplace, *numbers: int, flow: str = "a-flow") -> dict[str, Any]:
    """A run of a flow over some shards, and its record."""
    with recorded(place, flow):
        for number in numbers:
            twice.work(make_shard("s", "recorded-stage", f"n{number}", place.work, {"number": number}))
    return list(records(place).values())[-1]


def broken(place: Workplace, number: int) -> None:
    with recorded(place, "a-flow"):
        twice.work(make_shard("s", "recorded-stage", f"n{number}", place.work, {"number": number}))
        raise RuntimeError("the disk is full")


def did(record: dict[str, Any]) -> dict[str, str]:
    return {shard["label"]: shard["did"] for shard in record["shards"]}


def there(place: Workplace) -> set[str]:
    return {(folder / "out.txt").read_text() for folder in (place.work / "recorded-stage").glob("*")}


def test_a_record_says_what_was_done_and_what_was_found(place: Workplace) -> None:
    first, second = run(place, 1, 2), run(place, 2, 3)
    assert did(first) == {"n1": "done", "n2": "done"}
    assert did(second) == {"n2": "found", "n3": "done"}
    assert first["paid"]["model calls"] == 4
    assert second["paid"]["model calls"] == 2
    assert run(place, 2, 3)["paid"]["model calls"] == 0
    assert len(records(place)) == 2, "the same run again takes the place of its earlier record"


def test_a_shard_that_is_forgotten_is_done(place: Workplace) -> None:
    run(place, 1)
    with recorded(place, "a-flow"):
        shard = make_shard("s", "recorded-stage", "n1", place.work, {"number": 1})
        forget(shard)
        twice.work(shard)
    assert did(list(records(place).values())[-1]) == {"n1": "done"}


def test_shards_no_late_run_rests_on_are_removed(place: Workplace) -> None:
    for number in range(1, run_record.RUNS_KEPT + 1):
        run(place, 0, number)
    assert there(place) == {"0", "2", "4", "6"}
    run(place, 0, 9, flow="another-flow")
    run(place, 0, 4)
    assert there(place) == {"0", "4", "6", "8", "18"}, "what another flow rests on stays"
    for _ in range(5):
        run(place, 0, 4)
    assert there(place) == {"0", "4", "6", "8", "18"}, "reruns of the same push nothing out"


def test_fewer_runs_than_are_kept_remove_nothing(place: Workplace) -> None:
    lonely = place.work / "recorded-stage" / "of-an-older-version"
    lonely.mkdir(parents=True)
    (lonely / "out.txt").write_text("old")
    run(place, 1)
    assert "old" in there(place)
    assert prune(place, 1) == [lonely]


def test_an_unfinished_run_keeps_its_shards_until_it_is_finished(place: Workplace) -> None:
    for number in range(1, 4):
        run(place, number)
    with pytest.raises(RuntimeError, match="disk"):
        broken(place, 7)
    prune(place)
    assert there(place) == {"2", "4", "6", "14"}
    run(place, 5)
    assert there(place) == {"4", "6", "10"}


def test_leftovers_of_killed_runs_are_swept_when_a_run_starts(place: Workplace) -> None:
    halves = [place.work / "stage" / ".k.1.tmp", place.banks / ".b.2.tmp", place.root / "data_docs" / ".b.3.tmp"]
    for half in halves:
        half.mkdir(parents=True)
        (half / "half.parquet").write_text("half")
    place.replies.mkdir()
    (place.replies / "stub.calls.jsonl").write_text("{}")
    (place.root / ".latest_bank.json.4.tmp").write_text("{")
    run(place, 1)
    assert not [half for half in halves if half.exists()]
    assert not list(place.root.glob(".*.tmp"))
    assert (place.replies / "stub.calls.jsonl").is_file()
