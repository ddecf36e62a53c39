"""Shards of responses and journals of calls as single tables."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from examgen import tables
from examgen.errors import TableError
from examgen.records import Call, Response
from tasks import compaction, store
from tasks.ledger import Ledger
from tests.panels import answer, make_bank


def test_shards_become_one_sorted_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "PIECE", 7)
    items = enumerate(make_bank())
    rows = [answer(item, "m", n % 4 if n % 5 else None, order) for n, item in items for order in (1, 0)]
    random.Random(1).shuffle(rows)
    paths = [str(tmp_path / f"{start}.parquet") for start in range(0, len(rows), 25)]
    for path, start in zip(paths, range(0, len(rows), 25), strict=True):
        store.write(path, "responses", rows[start : start + 25])
    place = tmp_path / "whole" / "responses.parquet"
    statuses = compaction.compact_responses(paths, place, "m", len(rows))
    found = tables.read_records(str(place), Response)
    assert found == sorted(rows, key=lambda row: (row.item_id, row.order, row.repeat, row.mode))
    assert statuses == {"parsed": 76, "unparseable": 20}
    assert list(tmp_path.glob("**/.*.tmp")) == []
    before = place.read_bytes()
    compaction.compact_responses(paths, place, "m", len(rows))
    assert place.read_bytes() == before
    for wrong, message in ((paths[1:], "responses of 96"), (["again", *paths], "25 of them twice")):
        given = [paths[0] if path == "again" else path for path in wrong]
        with pytest.raises(TableError, match=message):
            compaction.compact_responses(given, place, "m", len(rows))
    with pytest.raises(TableError, match="96 of other endpoints"):
        compaction.compact_responses(paths, place, "other", len(rows))
    assert place.read_bytes() == before


def test_journals_become_the_table_of_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "PIECE", 2)
    for name in "ab":
        with Ledger(str(tmp_path / f"{name}.calls.jsonl")) as ledger:
            for number in range(3):
                known = {"purpose": "t", "endpoint_id": "e", "model": "m", "outcome": "answered"}
                known["reported"] = f"m-2026 (fp_{number % 2})" if name == "b" else ""
                ledger.add(Call.model_validate({"request_hash": f"{name}{number}", **known}), None)
    journals = sorted(tmp_path.glob("*.calls.jsonl"))
    assert compaction.write_calls(journals, tmp_path / "calls.parquet") == (
        6, {("e", "m"): {"m-2026 (fp_0)", "m-2026 (fp_1)"}}
    )
    rows = tables.read_rows(str(tmp_path / "calls.parquet"))
    assert [row["request_hash"] for row in rows] == ["a0", "a1", "a2", "b0", "b1", "b2"]
    assert compaction.write_calls([], tmp_path / "none.parquet") == (0, {})
    assert tables.read_rows(str(tmp_path / "none.parquet")) == []
