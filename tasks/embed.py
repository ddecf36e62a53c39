"""Embedders, and the table of embeddings: what is embedded once is never embedded again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from examgen import study, tables
from examgen.errors import EndpointError, RunError
from examgen.ids import digest
from tasks import store, tally

Vectors = npt.NDArray[np.float32]

PART_ROWS = 256
"""Vectors written together at most; a killed run loses no more than these."""

FIRST_ROWS = 32
"""Vectors written together at first, and again where more would take longer than `PART_SECONDS`."""

PART_SECONDS = 5.0
"""What a killed run may lose of a slow embedder's work, and how long a person waits for a sign of it."""

PARTS_AT_MOST = 64
"""More part files than this are written anew as few."""

COMPACT_ROWS = 20_000
"""Vectors in a file of the compacted table."""


class Embedder(Protocol):
    """What turns texts into vectors: float32 of shape (n, dimensions), rows of length 1 (0 without any known word)."""

    @property
    def id(self) -> str:
        """Name of model, weights and recipe: vectors of two embedders are comparable only when their ids are equal."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, in their order."""


def make_embedder(embedding: study.Embedding, fit_texts: Iterable[str] = ()) -> Embedder:
    """The embedder a study asks for; `fit_texts` are the passages of the corpus, which only "lsa" learns from."""
    if embedding.kind == "minilm":
        from tasks.embed_minilm import MiniLM

        return MiniLM()
    if embedding.kind == "lsa":
        from tasks.embed_lsa import LatentSemantics

        return LatentSemantics(list(fit_texts), embedding.dimensions or 256)
    return EndpointEmbedder(embedding)


def normalised(vectors: npt.NDArray[np.floating]) -> Vectors:
    """Rows scaled to length 1 in float32; a row of zeros stays."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1.0, lengths), dtype=np.float32)


class EndpointEmbedder:
    """Any OpenAI-compatible embeddings endpoint, asked through `tasks.llm` when the first text comes."""

    def __init__(self, embedding: study.Embedding) -> None:
        self._embedding = embedding
        self._model: Any = None
        self._dimensions = embedding.dimensions
        # The address is part of the id, for two servers may call different weights by one name; hashed, for privacy.
        place = f"@{digest('endpoint', embedding.base_url, length=8)}" if embedding.base_url else ""
        self.id = f"openai:{embedding.model}{place}:{embedding.dimensions or 'native'}"

    @property
    def dimensions(self) -> int:
        """Length of a vector; asks the endpoint for one when the study does not say."""
        if self._dimensions is None:
            self._dimensions = int(self.embed(["dimension"]).shape[1])
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors from the endpoint; `EndpointError` when it answers with another number or another length of them."""
        if self._model is None:
            from tasks.llm import make_embeddings

            self._model = make_embeddings(self._embedding)
        size = self._embedding.batch
        found = [
            np.atleast_2d(self._model.embed_documents(list(texts[at : at + size]))) for at in range(0, len(texts), size)
        ]
        if not found:
            return np.zeros((0, self._dimensions or 0), dtype=np.float32)
        lengths = {part.shape[1] for part in found}
        name = f"embedding model {self._embedding.model}"
        if sum(map(len, found)) != len(texts) or len(lengths) > 1:
            counts = f"{sum(map(len, found))} vectors of lengths {sorted(lengths)}"
            raise EndpointError(f"{name}: {counts} for {len(texts)} texts")
        if self._dimensions is not None and lengths != {self._dimensions}:
            raise EndpointError(
                f"{name}: vectors of length {lengths.pop()}, the study says {self._dimensions}:"
                " set embedding.dimensions to what the model gives"
            )
        return normalised(np.vstack(found))


def embed_missing(
    embedder: Embedder, texts: Mapping[str, str], path: Path, progress: Callable[[int], object] | None = None
) -> dict[str, Vectors]:
    """Vectors of all texts by content hash; those the table does not hold yet are embedded and added to it.

    For as many texts as fit in memory; see `add_missing`.
    """
    add_missing(embedder, sorted(texts.items()), path, progress)
    return read_embeddings(path, embedder.id, set(texts))


def add_missing(
    embedder: Embedder, texts: Iterable[tuple[str, str]], path: Path, progress: Callable[[int], object] | None = None
) -> int:
    """Embed the texts (content hash, text) that the table does not hold yet and add them to it; returns how many.

    `path` is the folder of the table: Parquet part files of the table `embeddings`, each written whole, so that a
    killed run goes on where it stopped. One part is in memory at a time, and the hashes of all. `progress`, if given,
    is called with the number embedded after each part.
    """
    held = held_hashes(path, embedder.id)
    done = 0
    rows = FIRST_ROWS
    part: dict[str, str] = {}

    def finish() -> None:
        nonlocal done, rows
        names, began = list(part), time.monotonic()
        vectors = embedder.embed(list(part.values()))
        if vectors.shape[0] != len(names) or not np.isfinite(vectors).all():
            given = f"{vectors.shape[0]} vectors for {len(names)} texts"
            raise RunError(f"embedder {embedder.id}: gave {given}, or values that are no numbers: rebuild it")
        tally.add("embeddings", len(names))
        _write_part(path, embedder.id, names, vectors)
        part.clear()
        done += len(names)
        pace = (time.monotonic() - began) / len(names)
        rows = max(FIRST_ROWS, min(PART_ROWS, 2 * rows, int(PART_SECONDS / max(pace, 1e-6))))
        if progress is not None:
            progress(done)

    for name, text in texts:
        if name in held:
            continue
        held.add(name)
        part[name] = text
        if len(part) >= rows:
            finish()
    if part:
        finish()
    if done and len(_parts(path)) > PARTS_AT_MOST:
        compact(path)
    return done


def held_hashes(path: Path, embedder_id: str) -> set[str]:
    """Content hashes of which the table holds a vector of this embedder."""
    found: set[str] = set()
    for part in _parts(path):
        for batch in tables.iter_batches(str(part), columns=["content_hash", "embedder"]):
            mine = batch.filter(pc.equal(batch.column("embedder"), embedder_id))
            found.update(mine.column("content_hash").to_pylist())
    return found


def read_embeddings(path: Path, embedder_id: str, wanted: set[str] | None = None) -> dict[str, Vectors]:
    """Vectors of one embedder by content hash, all of them or the wanted ones."""
    found: dict[str, Vectors] = {}
    for names, matrix in StoredVectors(path, embedder_id):
        found.update((name, matrix[row]) for row, name in enumerate(names) if wanted is None or name in wanted)
    return found


def compact(path: Path, keep: set[str] | None = None) -> None:
    """Write the table anew in few files, without repeated rows; with `keep`, without other content hashes too.

    The new files are complete before an old one goes: a reader in between finds rows twice, never less than all.
    One new file is in memory at a time, and the hashes of all rows.
    """
    old = _parts(path)
    embedders: set[str] = set()
    for part in old:
        for batch in tables.iter_batches(str(part), columns=["embedder"]):
            embedders.update(batch.column("embedder").unique().to_pylist())
    new = set()
    for embedder_id in sorted(embedders):
        seen: set[str] = set()
        rows: dict[str, Vectors] = {}
        for names, matrix in StoredVectors(path, embedder_id):
            for name, vector in zip(names, matrix, strict=True):
                if name in seen or (keep is not None and name not in keep):
                    continue
                seen.add(name)
                rows[name] = vector
                if len(rows) == COMPACT_ROWS:
                    new.add(_write_part(path, embedder_id, list(rows), rows.values()))
                    rows = {}
        if rows:
            new.add(_write_part(path, embedder_id, list(rows), rows.values()))
    for part in old:
        if part not in new:
            part.unlink(missing_ok=True)


class StoredVectors:
    """The vectors of one embedder in the table of that folder: gone through as (content hashes, matrix (n, d)).

    One batch is in memory at a time, and a hash may come twice.
    """

    def __init__(self, path: Path, embedder_id: str) -> None:
        self._path = path
        self._embedder_id = embedder_id

    def __iter__(self) -> Iterator[tuple[list[str], Vectors]]:
        for part in _parts(self._path):
            for batch in tables.iter_batches(str(part), 4096):
                # Rows of several embedders may stand in one batch, with vectors of several lengths.
                rows = batch.filter(pc.equal(batch.column("embedder"), self._embedder_id))
                if not rows.num_rows:
                    continue
                flat = rows.column("vector").flatten().to_numpy(zero_copy_only=False)
                matrix = np.asarray(flat, dtype=np.float32).reshape(rows.num_rows, -1)
                yield rows.column("content_hash").to_pylist(), matrix


def _parts(path: Path) -> list[Path]:
    return sorted(path.glob("part-*.parquet"))


def _write_part(path: Path, embedder_id: str, names: Sequence[str], vectors: Iterable[Vectors]) -> Path:
    """A part named by what it holds: two runs that embed the same write the same file, never half of one."""
    place = path / f"part-{digest(embedder_id, *names)}.parquet"
    rows = ({"content_hash": n, "embedder": embedder_id, "vector": v} for n, v in zip(names, vectors, strict=True))
    store.write(place, "embeddings", rows)
    return place
