"""The passages of a table on disk, gone through as often as wanted with one batch in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from examgen import tables
from examgen.records import Chunk


class StoredChunks:
    """Passages of a `chunks` table in its order."""

    def __init__(self, path: Path, batch: int = 4096) -> None:
        self._path = path
        self._batch = batch

    def __iter__(self) -> Iterator[Chunk]:
        for batch in tables.iter_batches(str(self._path), self._batch):
            for row in batch.to_pylist():
                yield Chunk.model_validate(row)
