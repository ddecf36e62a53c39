"""Memory and recall of the index at sizes the paper did not reach, with vectors that are given.

    python benchmarks/index_scale.py memory PASSAGES [DIMENSIONS]   embeddings table, index and queries, all in streams
    python benchmarks/index_scale.py recall PASSAGES [DIMENSIONS]   recall@30 of Chroma's graph against brute force

`memory` writes PASSAGES passages of 1,200 characters as a table, their vectors through the embeddings table as an
embedder's would be, builds the index from the two and asks it. It prints how much memory each step added; anonymous
memory is what the process itself holds, the rest are pages of files that the system may drop. Chroma's graph is part
of the index: a query process that opens the finished index shows what it takes.

`recall` asks the graph for 30, 170 and 500 neighbours, of which the 30 nearest by exact distance count. Its vectors lie
around centres as passages of one topic do, with some that lie alone; the queries are not in the index.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from examgen.ids import passage_ids, seed_of  # noqa: E402
from examgen.records import Chunk  # noqa: E402
from tasks import index as vector_index  # noqa: E402
from tasks import store  # noqa: E402
from tasks.embed import StoredVectors, Vectors, add_missing, normalised  # noqa: E402
from tasks.stored_chunks import StoredChunks  # noqa: E402

PASSAGES_PER_SOURCE = 100
PER_CENTRE = 100
LETTERS = 1_180
K = 30


def say(name: str, value: float, unit: str) -> None:
    """One figure."""
    print(f"{name:<62} {value:>12.3f} {unit}", flush=True)


def memory(pid: int | str = "self") -> tuple[float, float]:
    """Memory of a process in MiB: its own (anonymous), and all with the pages of files."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    own, all_of_it = (int(fields[name].split()[0]) / 1024 for name in ("RssAnon", "VmRSS"))
    return own, all_of_it


class Peak:
    """The highest memory of this process while a block runs, looked at ten times a second."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._over = threading.Event()
        self._own = self._all = 0.0

    def __enter__(self) -> Peak:
        self._before = memory()[0]
        self._clock, self._used = time.perf_counter(), time.process_time()
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()
        return self

    def _look(self) -> None:
        while not self._over.wait(0.1):
            own, all_of_it = memory()
            self._own, self._all = max(self._own, own), max(self._all, all_of_it)

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watch.join()
        say(f"{self._name}: time", time.perf_counter() - self._clock, "s")
        say(f"{self._name}: processor time", time.process_time() - self._used, "s")
        say(f"{self._name}: own memory, highest", self._own, f"MiB ({self._own - self._before:+.0f})")
        say(f"{self._name}: with pages of files, highest", self._all, "MiB")


def passages(count: int) -> Iterator[Chunk]:
    """Passages of 1,200 characters, no two alike."""
    filler = "In multiple sclerosis, lesions are typically ovoid and perpendicular to the ventricles. " * 14
    for number in range(count):
        source = f"{number // PASSAGES_PER_SOURCE:016x}"
        ordinal = number % PASSAGES_PER_SOURCE
        text = f"Passage {number}: {filler[:LETTERS]}"
        chunk_id, content = passage_ids(source)(ordinal * 1000, text)
        yield Chunk(
            chunk_id=chunk_id, content_hash=content, source_id=source, path=f"{source}.md", start=ordinal * 1000,
            end=ordinal * 1000 + len(text), ordinal=ordinal, heading="Lesions > Site", text=text,
        )


class Centred:
    """Stands for a model: vectors around centres, made from the number in the text, so that none has to be kept."""

    def __init__(self, count: int, dimensions: int) -> None:
        self.id, self.dimensions = f"given:{count}", dimensions
        self._centres = max(1, count // PER_CENTRE)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1; each tenth lies alone."""
        return self.at([int(text[8 : text.index(":")]) for text in texts])

    def at(self, numbers: Sequence[int]) -> Vectors:
        """Vectors of the passages with these numbers."""
        rows = []
        for number in numbers:
            noise = np.random.default_rng(seed_of("noise", number)).normal(size=self.dimensions)
            centre = np.random.default_rng(seed_of("centre", number % self._centres)).normal(size=self.dimensions)
            rows.append(noise if number % 10 == 9 else centre + 0.8 * noise)
        return normalised(np.array(rows))


def memory_part(count: int, dimensions: int, place: Path) -> None:
    """Tables, index and queries at that size."""
    embedder = Centred(count, dimensions)
    say("passages", count, f"of 1,200 characters, vectors of {dimensions} dimensions")
    say("own memory after the imports", memory()[0], "MiB")
    chunks = StoredChunks(place / "chunks.parquet")
    with Peak("writing the passages"), store.TableStream(place / "chunks.parquet", "chunks") as stream:
        for chunk in passages(count):
            stream.add(chunk)
    with Peak("writing the embeddings"):
        add_missing(embedder, ((chunk.content_hash, chunk.text) for chunk in chunks), place / "embeddings")
    with Peak("building the index"):
        vectors = StoredVectors(place / "embeddings", embedder.id)
        vector_index.build(chunks, vectors, embedder, place / "index").close()
    size = sum(found.stat().st_size for found in place.rglob("*") if found.is_file()) / 2**20
    say("tables and index on disk", size, "MiB")
    asking = [sys.executable, __file__, "asking", str(count), str(dimensions), str(place)]
    subprocess.run(asking, check=True)


def asking_part(count: int, dimensions: int, place: Path) -> None:
    """Queries in a process of its own, that holds nothing but the finished index."""
    embedder = Centred(count, dimensions)
    fingerprint = next((place / "index").glob("index-*")).name.partition("-")[2]
    with vector_index.open_index(place / "index", fingerprint, embedder) as index:
        asked = embedder.at([-1 - number for number in range(60)])
        with Peak("asking 60 times for 30"):
            rows = index.query(asked, 30)
        assert len(rows) == 60 * 30
        say("recall of the graph alone at 30", index.graph_recall(30), "of the exact nearest")


def recall_part(count: int, dimensions: int, place: Path) -> None:
    """Recall@30 of the graph alone for several breadths of search, and of what the index answers, for new queries."""
    embedder = Centred(count, dimensions)
    made = list(passages(count))
    batches = [
        ([chunk.content_hash for chunk in made[at : at + 4096]], embedder.at(range(at, min(at + 4096, count))))
        for at in range(0, count, 4096)
    ]
    started = time.process_time()
    with vector_index.build(made, batches, embedder, place) as index:
        say(f"{count} passages, {dimensions} dimensions: building, processor time", time.process_time() - started, "s")
        asked = embedder.at([-1 - number for number in range(100)])
        matrix = np.load(index.place / "vectors.npy")
        right = [set(np.argsort(-(matrix @ vector), kind="stable")[:K].tolist()) for vector in asked]
        for wanted in (K, 4 * K + 50, 500):
            begin = time.process_time()
            found = [set(index.graph_rows(vector, wanted).tolist()) for vector in asked]
            spent = (time.process_time() - begin) / len(asked) * 1000
            told = f"{spent:.1f} ms of processor time a query"
            say(f"graph asked for {wanted}: recall@{K}", recall(right, found), told)
        row_of = {name: row for row, name in enumerate(index.chunk_ids)}
        for limit in (vector_index.EXACT_UP_TO, 0):
            vector_index.EXACT_UP_TO = limit
            rows = index.query(asked, K)
            answered = [{row_of[row.chunk_id] for row in rows[at : at + K]} for at in range(0, len(rows), K)]
            name = "all compared" if count <= limit else "the graph proposes, exact distances decide"
            say(f"as the index answers: recall@{K}", recall(right, answered), name)


def recall(right: Sequence[set[int]], found: Sequence[set[int]]) -> float:
    """Share of the right rows that were found."""
    return sum(len(true & mine) for true, mine in zip(right, found, strict=True)) / sum(map(len, right))


def main(arguments: list[str]) -> int:
    """Run the part that is named."""
    if len(arguments) < 2:
        print(__doc__)
        return 2
    part, count, dimensions = arguments[0], int(arguments[1]), int((arguments + ["384"] * 2)[2])
    say("machine load at the start", os.getloadavg()[0], "processes that want to run")
    if part == "asking":
        asking_part(count, dimensions, Path(arguments[3]))
        return 0
    with tempfile.TemporaryDirectory() as place:
        {"memory": memory_part, "recall": recall_part}[part](count, dimensions, Path(place))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
