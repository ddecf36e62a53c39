"""The tables: one explicit Parquet schema each, whole or absent on disk, readable with any Parquet reader alone."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
from pydantic import BaseModel

from examgen import records
from examgen.errors import TableError

R = TypeVar("R", bound=records.Record)

SCHEMA_VERSION = 1
"""Version written into every table; a reader refuses a newer one."""

_VERSION_KEY = b"examgen.schema_version"
_NAME_KEY = b"examgen.table"

_RECORDS: dict[str, type[records.Record]] = {
    "sources": records.Source,
    "texts": records.SourceText,
    "chunks": records.Chunk,
    "retrievals": records.Retrieval,
    "topics": records.Topic,
    "coverage": records.Coverage,
    "candidates": records.Candidate,
    "findings": records.Finding,
    "measures": records.Measure,
    "verdicts": records.Verdict,
    "funnel": records.FunnelRow,
    "bank": records.BankItem,
    "responses": records.Response,
    "endpoints": records.EndpointRow,
    "calls": records.Call,
    "review": records.ReviewRow,
    "decisions": records.Decision,
    "bank_diff": records.BankDiffRow,
    "retired": records.RetiredItem,
    "release_sets": records.ReleaseItem,
}

_SCALARS: dict[Any, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
}


def _arrow_type(annotation: Any) -> pa.DataType:
    """The Arrow type of a record's field."""
    origin = typing.get_origin(annotation)
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if origin is typing.Literal:
        return pa.string()
    if origin in (typing.Union, types.UnionType):
        inner = [a for a in typing.get_args(annotation) if a is not type(None)]
        return _arrow_type(inner[0])
    if origin is tuple:
        return pa.list_(_arrow_type(typing.get_args(annotation)[0]))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return pa.struct([(n, _arrow_type(f.annotation)) for n, f in annotation.model_fields.items()])
    raise TableError(f"no Arrow type for {annotation!r}: add it to examgen/tables.py")


def _schema_of(name: str, record: type[records.Record]) -> pa.Schema:
    fields = []
    for field_name, info in record.model_fields.items():
        optional = type(None) in typing.get_args(info.annotation)
        doc = {"doc": info.description} if info.description else None
        fields.append(pa.field(field_name, _arrow_type(info.annotation), nullable=optional, metadata=doc))
    about = {_NAME_KEY: name.encode(), b"doc": (record.__doc__ or "").encode()}
    return pa.schema(fields, metadata=about)


RESULT_COLUMNS: tuple[tuple[str, pa.DataType, bool], ...] = (
    ("statistic", pa.string(), False),
    ("value", pa.float64(), True),
    ("low", pa.float64(), True),
    ("high", pa.float64(), True),
    ("method", pa.string(), False),
    ("n", pa.int64(), True),
    ("seed", pa.int64(), True),
    ("note", pa.string(), False),
)
"""What every results table carries behind its own label columns."""

_RESULT_LABELS: dict[str, tuple[str, ...]] = {
    "accuracy": ("endpoint_id", "axis", "level"),
    "topic_accuracy": ("endpoint_id", "topic"),
    "contrasts": ("endpoint_a", "endpoint_b", "scope"),
    "cue_probe": ("bank", "features"),
    "option_order": ("endpoint_id", "scope"),
    "leave_one_out": ("endpoint_id",),
    "reliability": ("scope",),
    "construction": ("stratum",),
    "profiles": ("endpoint_id", "axes", "cell"),
    "sizing": ("contrast", "scope"),
    "short_form": ("scope",),
    "abstention": ("endpoint_id",),
    "agreement": ("scope",),
}


def _result_schema(name: str) -> pa.Schema:
    labels = [pa.field(label, pa.string(), nullable=False) for label in _RESULT_LABELS[name]]
    columns = [pa.field(n, t, nullable=nullable) for n, t, nullable in RESULT_COLUMNS]
    return pa.schema(labels + columns, metadata={_NAME_KEY: name.encode()})


def _fields(*columns: tuple[str, pa.DataType]) -> list[pa.Field]:
    return [pa.field(name, kind, nullable=True) for name, kind in columns]


def _columns(names: str, kind: pa.DataType) -> list[tuple[str, pa.DataType]]:
    """Several columns of one type."""
    return [(name, kind) for name in names.split()]


_PLAIN: dict[str, list[pa.Field]] = {
    "embeddings": _fields(("content_hash", pa.string()), ("embedder", pa.string()), ("vector", pa.list_(pa.float32()))),
    "rejected_drafts": _fields(
        ("topic_id", pa.string()), ("stratum", pa.string()), ("number", pa.int64()), ("attempt", pa.int64()),
        ("reason", pa.string()), ("outcome", pa.string()), ("raw", pa.string()), ("request_hash", pa.string()),
        ("repairs", pa.int64()),
    ),
    "item_difficulty": _fields(
        ("item_id", pa.string()),
        ("topic", pa.string()),
        ("stratum", pa.string()),
        ("misses", pa.int64()),
        ("seen", pa.int64()),
        ("miss_rate", pa.float64()),
        ("easiness", pa.float64()),
        ("easiness_se", pa.float64()),
        ("bin", pa.string()),
        ("queue", pa.string()),
    ),
    "key_risk": _fields(
        ("item_id", pa.string()),
        ("queue", pa.string()),
        ("option", pa.int64()),
        ("votes", pa.int64()),
        ("seen", pa.int64()),
        ("stem", pa.string()),
        ("key_text", pa.string()),
        ("chosen_text", pa.string()),
        ("quotes", pa.string()),
        ("note", pa.string()),
    ),
    "power_curves": _fields(
        *_columns("contrast assumption", pa.string()),
        *_columns("p_b p_c alpha", pa.float64()),
        *_columns("test alternative", pa.string()),
        *_columns("items effective_items", pa.int64()),
        *_columns("power floor_reached perfect_score", pa.float64()),
    ),
    "pair_comparisons": _fields(
        *_columns("family axis level first second", pa.string()),
        *_columns("n both_right first_only second_only both_wrong", pa.int64()),
        *_columns("gain gain_low gain_high p_exact p_midp p_holm", pa.float64()),
        ("clusters", pa.int64()),
        *_columns("cluster_low cluster_high cluster_p cluster_p_holm sign_flip_p design_effect", pa.float64()),
        ("minimum_gain", pa.float64()),
        ("planned", pa.string()),
        *_columns("power_planned observed_effect_power planning_alpha", pa.float64()),
        ("items_needed", pa.int64()),
        *_columns("items_for verdict note", pa.string()),
    ),
    "pair_interactions": _fields(
        *_columns("family axis first second levels", pa.string()),
        ("test_statistic", pa.float64()),
        ("df", pa.int64()),
        *_columns("p p_holm p_permutation difference low high", pa.float64()),
        *_columns("n seed", pa.int64()),
        *_columns("method note", pa.string()),
    ),
    "increments": _fields(
        *_columns("system before after", pa.string()),
        *_columns("n before_right after_right fixed broken changed", pa.int64()),
        *_columns("gain gain_low gain_high p_exact p_midp p_holm", pa.float64()),
        *_columns("fixed_items broken_items", pa.list_(pa.string())),
        *_columns("calls_before calls_after tokens_before tokens_after", pa.int64()),
        *_columns("cost_before cost_after", pa.float64()),
        ("note", pa.string()),
    ),
    "keys": _fields(
        *_columns("item_id source letter", pa.string()), *_columns("human endorses", pa.bool_()), ("never", pa.string())
    ),
    "tiers": _fields(
        *_columns("item_id tier key", pa.string()),
        ("n_keys", pa.int64()),
        ("agreement", pa.float64()),
        *_columns("key_source reasons", pa.string()),
    ),
}

SCHEMAS: dict[str, pa.Schema] = {
    **{name: _schema_of(name, record) for name, record in _RECORDS.items()},
    **{name: _result_schema(name) for name in _RESULT_LABELS},
    **{name: pa.schema(fields, metadata={_NAME_KEY: name.encode()}) for name, fields in _PLAIN.items()},
}
"""Schema of every table, by name."""


def rows_of(items: Iterable[BaseModel]) -> list[dict[str, Any]]:
    """Records as plain rows."""
    return [item.model_dump() for item in items]


def as_table(name: str, rows: Iterable[BaseModel | Mapping[str, Any]]) -> pa.Table:
    """Rows or records as an Arrow table of the named schema; a missing required value is a `TableError`."""
    schema = SCHEMAS[name]
    plain = [row.model_dump() if isinstance(row, BaseModel) else dict(row) for row in rows]
    for row in plain:
        unknown = set(row) - set(schema.names)
        if unknown:
            raise TableError(f"table {name}: unknown column {sorted(unknown)[0]!r}; its columns are {schema.names}")
    try:
        table = pa.Table.from_pylist(plain, schema=schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise TableError(f"table {name}: a value does not fit its column: {error}") from error
    for field in schema:
        if not field.nullable and table.column(field.name).null_count:
            raise TableError(f"table {name}: column {field.name!r} has empty values and may not")
    return table.replace_schema_metadata({**(schema.metadata or {}), _VERSION_KEY: str(SCHEMA_VERSION).encode()})


def filesystem(path: str) -> tuple[pafs.FileSystem, str]:
    """The file system and the path in it of a local path or a URL such as s3://bucket/key."""
    if "://" not in path:
        return pafs.LocalFileSystem(), path
    found, inner = pafs.FileSystem.from_uri(path)
    return found, inner


def check_version(schema: pa.Schema, path: str) -> None:
    """Refuse a table written by a newer version than this one."""
    refuse_newer(int((schema.metadata or {}).get(_VERSION_KEY, b"0")), path)


def refuse_newer(written: int, path: str) -> None:
    """Raise when what lies at `path` was written with a newer schema version than this program knows."""
    if written > SCHEMA_VERSION:
        raise TableError(
            f"{path}: written with schema version {written}, this program reads up to {SCHEMA_VERSION}: upgrade examgen"
        )


def read_table(path: str, columns: Sequence[str] | None = None) -> pa.Table:
    """A Parquet file as an Arrow table, all columns or some, its version checked."""
    found, inner = filesystem(str(path))
    try:
        table = pq.read_table(inner, columns=columns and list(columns), filesystem=found, partitioning=None)
    except pa.ArrowInvalid as error:
        raise TableError(f"{path}: is no readable Parquet file ({str(error).split('.')[0]})") from error
    check_version(table.schema, str(path))
    return table


def read_rows(path: str) -> list[dict[str, Any]]:
    """A Parquet file as plain rows."""
    rows: list[dict[str, Any]] = read_table(path).to_pylist()
    return rows


def read_records(path: str, record: type[R]) -> list[R]:
    """A Parquet file as records."""
    return [record.model_validate(row) for row in read_rows(path)]


def unique(rows: Sequence[Mapping[str, Any]], column: str, table: str) -> None:
    """Raise when two rows of a table share what must be unique."""
    seen: set[Any] = set()
    for row in rows:
        if row[column] in seen:
            raise TableError(f"table {table}: two rows share {column} {row[column]!r}")
        seen.add(row[column])


def iter_batches(
    path: str, size: int = 65_536, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The batches of a Parquet file, all columns or some, so that a table larger than memory can be read."""
    found, inner = filesystem(str(path))
    with found.open_input_file(inner) as handle:
        file = pq.ParquetFile(handle)
        check_version(file.schema_arrow, str(path))
        yield from file.iter_batches(batch_size=size, columns=columns)
