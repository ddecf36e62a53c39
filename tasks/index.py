"""The vector index: built from the embeddings in its own folder, swapped in when complete, exact at paper scale."""

from __future__ import annotations

import itertools
import json
import sys
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from examgen import nearest
from examgen.errors import IndexMismatchError, RunError
from examgen.ids import digest
from examgen.records import Chunk, Retrieval
from tasks import store
from tasks.embed import Embedder, Vectors
from tasks.index_folder import locked, mark_in_use, remove_old

INDEX_VERSION = 1
EXACT_UP_TO = 50_000
"""Up to this many passages a query compares all of them; above, Chroma's graph proposes and exact distances decide."""

BATCH = 2_000
_NO_SERVER = "no Chroma answers there: start it (`chroma run --host 127.0.0.1`) or leave index.server empty"

GRAPH = {"space": "cosine", "ef_construction": 200, "ef_search": 200, "max_neighbors": 32}
"""HNSW settings of the Chroma collection: twice the defaults, for recall."""


VectorBatches: TypeAlias = Iterable[tuple[Sequence[str], Vectors]]
"""Content hashes and their vectors (n, d), batch by batch, as `StoredVectors` gives them; others may be among them."""


def build(
    chunks: Iterable[Chunk], vectors: VectorBatches, embedder: Embedder, folder: Path, server: str = ""
) -> Index:
    """The index of these passages: opened when it exists, else built, or built on from where a run was killed.

    `chunks` is gone through twice (a list, or `StoredChunks`), `vectors` once: what is in memory besides Chroma's graph
    is the ids. One process at a time builds; others wait. Indexes of other passages or embedders are removed unless a
    process has them open.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        rows = sorted((chunk.chunk_id, sys.intern(chunk.source_id), chunk.content_hash) for chunk in chunks)
        fingerprint = _fingerprint([row[0] for row in rows], embedder, server)
        place = folder / f"index-{fingerprint}"
        if not (place / "index.json").exists():
            building = folder / f"building-{fingerprint}"
            _build(building, chunks, rows, vectors, embedder, server)
            building.replace(place)
        index = Index(place, server)
        remove_old(folder, place, index.forget)
        return index


def open_index(folder: Path, fingerprint: str, embedder: Embedder, server: str = "") -> Index:
    """The index of that fingerprint; `IndexMismatchError` when it is missing or was built with another embedder."""
    place = folder / f"index-{fingerprint}"
    if not folder.is_dir():
        raise IndexMismatchError(f"{folder}: no such folder: build the index with `examgen build`")
    with locked(folder):
        if not (place / "index.json").exists():
            raise IndexMismatchError(f"{folder}: holds no complete index {fingerprint}: build it with `examgen build`")
        index = Index(place, server)
    built, dimensions = index.about["embedder"], index.about["dimensions"]
    if built != embedder.id or dimensions != embedder.dimensions:
        index.close()
        raise IndexMismatchError(
            f"{place}: built with embedder {built} ({dimensions} dimensions), the study asks for {embedder.id}"
            f" ({embedder.dimensions}): rebuild with `examgen build`, or set embedding back in the study"
        )
    return index


class Index:
    """A complete index, read only. Close it, or use it in a `with`: an open one is not removed by a later build."""

    def __init__(self, place: Path, server: str = "") -> None:
        self.place = place
        self.about: dict[str, Any] = store.read_json(place / "index.json")
        self.fingerprint: str = self.about["fingerprint"]
        self._in_use = mark_in_use(place)
        self._vectors: Vectors = np.load(place / "vectors.npy", mmap_mode="r")
        names = store.read_json(place / "rows.json")
        self.chunk_ids: list[str] = names["chunk_ids"]
        self._source_ids: list[str] = names["source_ids"]
        self._source_of = np.array(names["source_of"], dtype=np.int32)
        self._row_of = {name: row for row, name in enumerate(self.chunk_ids)}
        self._server = server
        self._collection: _Collection | None = None

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.chunk_ids)

    def close(self) -> None:
        """Let go of the folder."""
        if self._collection is not None:
            self._collection.close()
            self._collection = None
        self._in_use.close()

    def forget(self, fingerprint: str) -> None:
        """Delete the collection of an older index from the server; in a folder it went with the folder."""
        if self._server:
            self._opened().drop(fingerprint)

    def vector_of(self, chunk_id: str) -> Vectors:
        """Vector of a passage."""
        return np.array(self._vectors[self._row_of[chunk_id]])

    def query(
        self, vectors: Vectors, k: int, exclude_sources: Collection[str] = (), purpose: str = "",
        query_ids: Sequence[str] | None = None, queries: Sequence[str] | None = None,
    ) -> list[Retrieval]:
        """The k nearest passages of each query vector (q, d), nearest first, as rows with their cosine distance.

        Passages of `exclude_sources` are passed over; equal distances go by chunk id. Fewer than k rows only when the
        index holds fewer. Up to `EXACT_UP_TO` passages nothing is approximate and every run gives the same rows.
        """
        asked = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
        if len(asked) and asked.shape[1] != self.about["dimensions"]:
            dimensions = f"vectors of {self.about['dimensions']} dimensions, asked with {asked.shape[1]}"
            raise IndexMismatchError(f"{self.place}: holds {dimensions}: ask with the embedder it was built with")
        texts = list(queries) if queries is not None else [""] * len(asked)
        names = list(query_ids) if query_ids is not None else [digest("query", purpose, text) for text in texts]
        barred = None
        if exclude_sources:
            left_out = np.array([name in set(exclude_sources) for name in self._source_ids], dtype=bool)
            barred = left_out[self._source_of]
        found = []
        for vector, name, text in zip(asked, names, texts, strict=True):
            for rank, (distance, row) in enumerate(self._nearest(vector, k, barred), start=1):
                found.append(
                    Retrieval(
                        query_id=name, purpose=purpose, query=text, rank=rank, chunk_id=self.chunk_ids[row],
                        source_id=self._source_ids[self._source_of[row]], distance=distance,
                    )
                )
        return found

    def _nearest(self, vector: Vectors, k: int, barred: npt.NDArray[np.bool_] | None) -> list[tuple[float, int]]:
        # Rows stand in the order of chunk ids, so a tie by row is a tie by id.
        if len(self) > EXACT_UP_TO:
            proposed = self._proposed(vector, k, barred)
            if proposed is not None:
                return nearest.ranked(self._vectors, vector, proposed, k)
        return nearest.exact(self._vectors, vector, k, barred)

    def _proposed(self, vector: Vectors, k: int, barred: npt.NDArray[np.bool_] | None) -> nearest.Rows | None:
        """Rows Chroma proposes, at least k that are not barred; None when only a full scan can find as many.

        Filtering afterwards is much faster than a filter in the query, which Chroma answers by scanning its metadata.
        """
        wanted = 4 * k + 50
        while wanted < len(self) // 4:
            rows = self.graph_rows(vector, wanted)
            kept = rows[~barred[rows]] if barred is not None else rows
            if len(kept) >= k:
                return kept
            wanted *= 4
        return None

    def graph_rows(self, vector: Vectors, k: int) -> nearest.Rows:
        """Rows of the k passages that Chroma's graph finds, as it orders them."""
        return np.array([self._row_of[name] for name in self._opened().ask(vector, k)], dtype=np.int64)

    def _opened(self) -> _Collection:
        if self._collection is None:
            self._collection = _Collection(self.place, self.about, self._server, complete=True)
        return self._collection

    def graph_recall(self, k: int = 30, sample: int = 50) -> float:
        """Share of the exact k nearest that Chroma's graph finds, over evenly spaced passages as queries."""
        return nearest.recall(self._vectors, self.graph_rows, k, sample)


class _Collection:
    """The Chroma collection of an index, in its folder or on a server."""

    def __init__(self, place: Path, about: Mapping[str, Any], server: str, complete: bool = False) -> None:
        """Open the collection, or make it unless the index is complete and it must be there."""
        from chromadb.errors import NotFoundError

        self._place = place
        self._server = server
        self._client: Any = self._connected()
        name = f"examgen-{about['fingerprint']}"
        told = {key: about[key] for key in ("embedder", "dimensions", "fingerprint", "normalised")}
        try:
            with self._answering():
                if complete:
                    self._collection = self._client.get_collection(name, embedding_function=None)
                else:
                    self._collection = self._client.get_or_create_collection(
                        name, configuration={"hnsw": GRAPH}, metadata=told, embedding_function=None
                    )
        except NotFoundError as error:
            self.close()
            where = f"index.server {server}" if server else f"{place}"
            told_how = f"delete the folder {place} and run `examgen build`"
            raise IndexMismatchError(f"{where}: the collection {name} is gone: {told_how}") from error
        found = self._collection.metadata or {}
        if any(found.get(key) != value for key, value in told.items()):
            self.close()
            raise IndexMismatchError(
                f"Chroma collection {name} records {found}, expected {told}: remove the index and run `examgen build`"
            )

    def _connected(self) -> Any:
        import chromadb
        from chromadb.config import Settings

        settings = Settings(anonymized_telemetry=False)
        if not self._server:
            return chromadb.PersistentClient(str(self._place / "chroma"), settings=settings)
        host, _, port = self._server.partition(":")
        try:
            with self._answering():
                return chromadb.HttpClient(host=host, port=int(port or 8000), settings=settings)
        except ValueError as error:
            raise RunError(f"index.server {self._server}: {_NO_SERVER}") from error

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """What Chroma or the way to it does wrong as one line that says what to do."""
        import httpx
        from chromadb.errors import ChromaError, NotFoundError

        try:
            yield
        except NotFoundError:
            raise
        except httpx.HTTPError as error:
            raise RunError(f"index.server {self._server}: {_NO_SERVER}") from error
        except ChromaError as error:
            told = " ".join(str(error).split())[:200]
            where = f"index.server {self._server}" if self._server else f"{self._place}"
            raise RunError(f"{where}: Chroma says: {told}: remove {self._place} and run `examgen build`") from error

    def held(self) -> set[str]:
        """Ids stored already."""
        names: set[str] = set()
        with self._answering():
            while page := self._collection.get(include=[], limit=50_000, offset=len(names))["ids"]:
                names.update(page)
        return names

    def add(self, batch: Sequence[Chunk], vectors: Vectors) -> None:
        """Store passages with their vectors and places."""
        fields = {"source_id", "path", "page", "start", "end", "ordinal", "heading"}
        with self._answering():
            self._collection.upsert(
                ids=[chunk.chunk_id for chunk in batch], embeddings=vectors, documents=[chunk.text for chunk in batch],
                metadatas=[chunk.model_dump(include=fields) for chunk in batch],
            )

    def ask(self, vector: Vectors, k: int) -> list[str]:
        """Ids of the k nearest, as the graph finds them."""
        with self._answering():
            found: list[str] = self._collection.query(query_embeddings=[vector], n_results=k, include=[])["ids"][0]
        return found

    def drop(self, fingerprint: str) -> None:
        """Delete another collection of ours, on a server."""
        from chromadb.errors import NotFoundError

        with self._answering(), suppress(NotFoundError):
            self._client.delete_collection(f"examgen-{fingerprint}")

    def close(self) -> None:
        """Let go of the files."""
        self._client.close()


def _build(
    building: Path, chunks: Iterable[Chunk], rows: Sequence[tuple[str, str, str]], vectors: VectorBatches,
    embedder: Embedder, server: str,
) -> None:
    """Write everything of an index into `building`; what a killed run has stored in Chroma stays."""
    building.mkdir(exist_ok=True)
    matrix = _matrix(building / "vectors.npy", [row[2] for row in rows], vectors, embedder.dimensions)
    chunk_ids = [row[0] for row in rows]
    source_ids = sorted({row[1] for row in rows})
    number_of = {name: number for number, name in enumerate(source_ids)}
    source_of = [number_of[row[1]] for row in rows]
    names = {"chunk_ids": chunk_ids, "source_ids": source_ids, "source_of": source_of}
    store.write_bytes(building / "rows.json", json.dumps(names).encode())
    about: dict[str, Any] = {
        "fingerprint": _fingerprint(chunk_ids, embedder, server), "embedder": embedder.id, "normalised": True,
        "dimensions": embedder.dimensions, "chunks": len(rows), "version": INDEX_VERSION, "graph": GRAPH,
    }
    collection = _Collection(building, about, server)
    try:
        _fill(collection, chunks, chunk_ids, matrix)
    finally:
        collection.close()
    store.write_json(building / "index.json", about)


def _matrix(place: Path, contents: Sequence[str], vectors: VectorBatches, dimensions: int) -> Vectors:
    """The vectors of these content hashes as rows of a file, filled in place; equal hashes get equal rows."""
    matrix: Vectors = np.lib.format.open_memmap(place, mode="w+", dtype=np.float32, shape=(len(contents), dimensions))
    by_hash = _Places(contents)
    filled = np.zeros(len(contents), dtype=bool)
    for names, batch in vectors:
        if len(names) and batch.shape[1] != dimensions:
            told = f"vectors of {batch.shape[1]} dimensions, the embedder gives {dimensions} now"
            raise IndexMismatchError(f"the embeddings table holds {told}: delete its folder and run `examgen build`")
        rows, numbers = by_hash.of(names)
        matrix[rows] = batch[numbers]
        filled[rows] = True
    lacking = len(contents) - int(filled.sum())
    if lacking:
        raise IndexMismatchError(f"{lacking} of {len(contents)} passages have no vector: embed them first")
    matrix.flush()  # type: ignore[attr-defined]
    return matrix


class _Places:
    """Where names stand in a sequence, in some bytes a name: a dictionary of lists would take hundreds."""

    def __init__(self, names: Sequence[str]) -> None:
        coded = np.array([name.encode() for name in names], dtype=bytes)
        self._order = np.argsort(coded, kind="stable")
        self._sorted = coded[self._order]

    def of(self, names: Sequence[str]) -> tuple[nearest.Rows, nearest.Rows]:
        """Each place of one of the names, and which of the names stands there."""
        asked = np.array([name.encode() for name in names], dtype=bytes)
        first = np.searchsorted(self._sorted, asked, side="left")
        counts = np.searchsorted(self._sorted, asked, side="right") - first
        numbers = np.repeat(np.arange(len(names)), counts)
        within = np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self._order[np.repeat(first, counts) + within], numbers


def _fill(collection: _Collection, chunks: Iterable[Chunk], chunk_ids: Sequence[str], matrix: Vectors) -> None:
    """Store the passages that the collection does not hold yet, then count. Rows of the matrix are in order of id."""
    held = collection.held()
    lacking = (chunk for chunk in chunks if chunk.chunk_id not in held)
    while batch := list(itertools.islice(lacking, BATCH)):
        rows = [bisect_left(chunk_ids, chunk.chunk_id) for chunk in batch]
        collection.add(batch, np.asarray(matrix[rows]))
    count = len(collection.held())
    if count != len(chunk_ids):
        told = f"Chroma holds {count} passages of {len(chunk_ids)}"
        raise RunError(f"{told}: remove the index folder and run `examgen build`")


def _fingerprint(chunk_ids: Sequence[str], embedder: Embedder, server: str) -> str:
    # The collection of an index lies on one server or in its folder: with another one it is another index.
    place = [server] if server else []
    return digest("index", INDEX_VERSION, embedder.id, embedder.dimensions, "\n".join(chunk_ids), *place)
