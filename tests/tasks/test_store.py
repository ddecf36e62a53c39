from __future__ import annotations

from pathlib import Path

import pytest

from examgen import tables
from examgen.errors import RunError, TableError
from examgen.records import Topic
from tasks import store

TOPIC = Topic(topic_id="t", topic="A", subtopic="B")


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        store.write(tmp_path / f"{name}.parquet", "topics", [TOPIC])
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_a_stream_is_the_table_whole_or_nothing(tmp_path: Path) -> None:
    topics = [TOPIC.model_copy(update={"topic_id": f"t{n}"}) for n in range(25)]
    store.write(tmp_path / "whole.parquet", "topics", topics)
    for name, group in (("one", 100), ("many", 4)):
        with store.TableStream(tmp_path / f"{name}.parquet", "topics", group) as stream:
            for topic in topics:
                stream.add(topic)
        assert tables.read_records(str(tmp_path / f"{name}.parquet"), Topic) == topics
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    with store.TableStream(tmp_path / "none.parquet", "topics"):
        pass
    assert tables.read_records(str(tmp_path / "none.parquet"), Topic) == []

    def given_up() -> None:
        with store.TableStream(tmp_path / "half.parquet", "topics", 4) as stream:
            for topic in topics:
                stream.add(topic)
            raise KeyError

    with pytest.raises(KeyError):
        given_up()
    assert {place.name for place in tmp_path.iterdir()} == {f"{n}.parquet" for n in ("whole", "one", "many", "none")}


def test_a_stream_the_disk_refuses_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    said = pytest.raises(RunError, match="No space left on device")
    with said, store.TableStream(tmp_path / "a", "topics") as stream:
        stream.add(TOPIC)
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_beside_a_written_file(tmp_path: Path) -> None:
    store.write_json(tmp_path / "deep" / "a.json", {"b": 1, "a": "é"})
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["a.json"]
    assert store.read_json(tmp_path / "deep" / "a.json") == {"a": "é", "b": 1}


def test_a_disk_that_refuses_is_said_and_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write_text(tmp_path / "a.txt", "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(RunError, match="No space left on device"):
        store.write_text(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_settles_once(tmp_path: Path) -> None:
    for number in (1, 2):
        temporary = tmp_path / f".{number}.tmp"
        temporary.mkdir()
        (temporary / "a").write_text(str(number))
        store.settle(temporary, tmp_path / "final")
    assert (tmp_path / "final" / "a").read_text() == "1"
    assert [p.name for p in tmp_path.iterdir()] == ["final"]


def test_a_damaged_manifest_is_named(tmp_path: Path) -> None:
    (tmp_path / "bank.lock.json").write_text("broken")
    with pytest.raises(TableError, match=r"bank\.lock\.json: is damaged"):
        store.read_manifest(tmp_path)
