from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from examgen import tables
from examgen.errors import TableError
from examgen.records import Chunk, Retrieval, Topic
from tasks import store

CHUNK = Chunk(
    chunk_id="c", content_hash="h", source_id="s", path="a.md", page=None, start=0, end=4, ordinal=0, text="text"
)


def test_every_record_survives_the_round_trip(tmp_path: Path) -> None:
    topic = Topic(topic_id="t", topic="A", subtopic="B", chunk_ids=("c", "d"))
    for name, record in (("chunks", CHUNK), ("topics", topic)):
        store.write(tmp_path / f"{name}.parquet", name, [record])
        assert tables.read_records(str(tmp_path / f"{name}.parquet"), type(record)) == [record]


def test_a_shard_of_empty_columns_reads_beside_a_full_one(tmp_path: Path) -> None:
    store.write(tmp_path / "a.parquet", "chunks", [CHUNK])
    store.write(tmp_path / "b.parquet", "chunks", [CHUNK.model_copy(update={"page": 2})])
    assert pq.read_table(tmp_path).column("page").to_pylist() == [None, 2]


def test_no_rows_still_have_the_schema(tmp_path: Path) -> None:
    assert store.write(tmp_path / "e.parquet", "retrievals", []) == 0
    assert tables.read_table(str(tmp_path / "e.parquet")).schema.names == list(Retrieval.model_fields)


@pytest.mark.parametrize("row", [{"query_id": "q"}, {"no_such_column": 1}, {"rank": "first"}])
def test_rows_that_break_the_contract_are_refused(row: dict[str, object]) -> None:
    with pytest.raises(TableError, match="table retrievals"):
        tables.as_table("retrievals", [row])


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    table = tables.as_table("chunks", [CHUNK])
    newer = table.replace_schema_metadata({b"examgen.schema_version": b"99"})
    pq.write_table(newer, tmp_path / "n.parquet")
    with pytest.raises(TableError, match="upgrade"):
        tables.read_table(str(tmp_path / "n.parquet"))


def test_every_schema_is_explicit() -> None:
    for name, schema in tables.SCHEMAS.items():
        assert not any(pa.types.is_null(field.type) for field in schema), name


def test_unique_names_what_occurs_twice() -> None:
    with pytest.raises(TableError, match="share item_id 'x'"):
        tables.unique([{"item_id": "x"}, {"item_id": "x"}], "item_id", "bank")
