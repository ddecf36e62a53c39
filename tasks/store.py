"""Writing: a file is whole or absent. Temporary name in the same folder, fsync, rename; object stores get one PUT."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel

from examgen import tables
from examgen.errors import RunError, TableError


def _disk_error(path: str, error: OSError) -> RunError:
    return RunError(
        f"{path}: cannot be written ({error.strerror or error}): free space or choose another results folder"
    )


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file whole or not at all; `RunError` when the disk refuses."""
    place = str(path)
    if "://" in place:
        found, inner = tables.filesystem(place)
        with found.open_output_stream(inner) as stream:
            stream.write(data)
        return
    target = Path(place)
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise _disk_error(place, error) from error


def write_arrow(path: str | Path, table: pa.Table) -> None:
    """Write an Arrow table as Parquet, whole or not at all. The bytes depend on nothing but the table."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", version="2.6", store_schema=True)
    write_bytes(path, sink.getvalue().to_pybytes())


def write_stream(path: str | Path, name: str, tables_: Iterable[pa.Table]) -> int:
    """Write the named table from pieces of it, one row group each, whole or not at all; returns how many rows.

    No more than one piece is in memory. The bytes depend on the pieces alone.
    """
    schema = tables.as_table(name, []).schema
    place, count = str(path), 0
    remote = "://" in place
    target = Path(place)
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        if not remote:
            target.parent.mkdir(parents=True, exist_ok=True)
        found, inner = tables.filesystem(place if remote else str(temporary))
        with (
            found.open_output_stream(inner) as sink,
            pq.ParquetWriter(sink, schema, compression="zstd", version="2.6", store_schema=True) as writer,
        ):
            for piece in tables_:
                writer.write_table(piece.cast(schema))
                count += piece.num_rows
        if not remote:
            with temporary.open("rb") as handle:
                os.fsync(handle.fileno())
            temporary.replace(target)
            _sync_folder(target.parent)
    except OSError as error:
        raise _disk_error(place, error) from error
    finally:
        if not remote:
            temporary.unlink(missing_ok=True)
    return count


def write(path: str | Path, name: str, rows: Iterable[BaseModel | Mapping[str, Any]]) -> int:
    """Write rows as the named table; returns how many."""
    table = tables.as_table(name, rows)
    write_arrow(path, table)
    return int(table.num_rows)


class TableStream:
    """A table of one of the named schemas written bit by bit, so that it may be larger than memory.

    Used in a `with`: the file is whole when the block ends, and absent when it ends with an error. Local paths only.
    The bytes depend on nothing but the rows.
    """

    def __init__(self, path: str | Path, name: str, group: int = 8_192) -> None:
        self._target = Path(path)
        self._temporary = self._target.with_name(f".{self._target.name}.{uuid.uuid4().hex[:8]}.tmp")
        self._name = name
        self._group = group
        self._rows: list[BaseModel | Mapping[str, Any]] = []
        self._handle: IO[bytes] | None = None
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> TableStream:
        return self

    def add(self, row: BaseModel | Mapping[str, Any]) -> None:
        """One more row; `RunError` when the disk refuses."""
        self._rows.append(row)
        if len(self._rows) >= self._group:
            self._flush()

    def _flush(self) -> None:
        table = tables.as_table(self._name, self._rows)
        self._rows = []
        try:
            if self._writer is None:
                self._target.parent.mkdir(parents=True, exist_ok=True)
                self._handle = self._temporary.open("wb")
                self._writer = pq.ParquetWriter(self._handle, table.schema, compression="zstd", version="2.6")
            self._writer.write_table(table)
        except OSError as error:
            raise _disk_error(str(self._target), error) from error

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            if self._handle is not None:
                # A file that is given up may well refuse its last bytes: the error that ended the block is to be seen.
                with contextlib.suppress(OSError):
                    if self._writer is not None:
                        self._writer.close()
                    self._handle.close()
            self._temporary.unlink(missing_ok=True)

    def _finish(self) -> None:
        if self._rows or self._writer is None:
            self._flush()
        assert self._writer is not None
        assert self._handle is not None
        try:
            self._writer.close()
            self._handle.flush()
            os.fsync(self._handle.fileno())
            self._temporary.replace(self._target)
            _sync_folder(self._target.parent)
        except OSError as error:
            raise _disk_error(str(self._target), error) from error


def write_json(path: str | Path, value: Any) -> None:
    """Write JSON with sorted keys, whole or not at all."""
    write_bytes(path, (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode())


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    write_bytes(path, text.encode())


def read_json(path: str | Path) -> Any:
    """Read a JSON file; `TableError` names one that holds something else."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise TableError(f"{path}: is damaged, it holds no JSON ({error}): take a copy, or make it anew") from error


def read_manifest(bank: str | Path) -> dict[str, Any]:
    """`bank.lock.json` of a bank's folder; `TableError` when a newer version of the program wrote it."""
    place = Path(bank) / "bank.lock.json"
    found: dict[str, Any] = read_json(place)
    tables.refuse_newer(int(found.get("schema_version", 0)), str(place))
    return found


def settle(temporary: Path, final: Path) -> None:
    """Give a finished folder its name. Somebody else's finished folder of the same content is left as it is."""
    try:
        for found in sorted(temporary.rglob("*")):
            if found.is_dir():
                _sync_folder(found)
        _sync_folder(temporary)
        final.parent.mkdir(parents=True, exist_ok=True)
        if final.exists():
            shutil.rmtree(temporary)
            return
        temporary.replace(final)
        _sync_folder(final.parent)
    except OSError as error:
        if final.exists():
            shutil.rmtree(temporary, ignore_errors=True)
            return
        raise _disk_error(str(final), error) from error
