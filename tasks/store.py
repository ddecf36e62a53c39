"""Writing: a file is whole or absent. Temporary name in the same folder, fsync, rename; object stores get one PUT."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel

from examgen import tables
from examgen.errors import RunError


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


def write(path: str | Path, name: str, rows: Iterable[BaseModel | Mapping[str, Any]]) -> int:
    """Write rows as the named table; returns how many."""
    table = tables.as_table(name, rows)
    write_arrow(path, table)
    return int(table.num_rows)


def write_json(path: str | Path, value: Any) -> None:
    """Write JSON with sorted keys, whole or not at all."""
    write_bytes(path, (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode())


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    write_bytes(path, text.encode())


def read_json(path: str | Path) -> Any:
    """Read a JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


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
