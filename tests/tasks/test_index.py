"""The index: exact, the same in every run, swapped in whole, resumed after a kill, safe with two processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from examgen.errors import IndexMismatchError
from examgen.ids import chunk_id, content_hash
from examgen.records import Chunk
from tasks import index as index_module
from tasks import store
from tasks.embed import Vectors
from tasks.index import Index, build, open_index
from tasks.stored_chunks import StoredChunks

ROOT = Path(__file__).resolve().parents[2]


class Given:
    """An embedder known by its name alone: the vectors are given."""

    def __init__(self, name: str = "given:1", dimensions: int = 16) -> None:
        self.id, self.dimensions = name, dimensions

    def embed(self, texts: list[str]) -> Vectors:
        raise AssertionError("nothing is embedded here")


def passages(count: int, first: int = 0) -> list[Chunk]:
    found = []
    for n in range(first, first + count):
        text = f"Passage {n} tells of finding {n % 7}."
        source = f"s{n % 5}"
        found.append(
            Chunk(
                chunk_id=chunk_id(source, n, text),
                content_hash=content_hash(text),
                source_id=source,
                path=f"{source}.md",
                page=None if n % 2 else 3,
                start=n,
                end=n + len(text),
                ordinal=n,
                heading="H",
                text=text,
            )
        )
    return found


def vectors_of(chunks: list[Chunk], dimensions: int = 16) -> dict[str, Vectors]:
    found = {}
    for chunk in chunks:
        values = np.random.default_rng(int(chunk.content_hash[:8], 16)).normal(size=dimensions)
        found[chunk.content_hash] = np.asarray(values / np.linalg.norm(values), dtype=np.float32)
    return found


def batches(vectors: dict[str, Vectors], size: int = 100) -> list[tuple[list[str], Vectors]]:
    """Vectors as they come from their table."""
    names = list(vectors)
    parts = [names[at : at + size] for at in range(0, len(names), size)]
    return [(part, np.stack([vectors[name] for name in part])) for part in parts]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Index, list[Chunk], dict[str, Vectors]]:
    chunks = passages(300)
    vectors = vectors_of(chunks)
    return build(chunks, batches(vectors), Given(), tmp_path_factory.mktemp("index")), chunks, vectors


def test_queries_are_exact_and_say_where_they_come_from(built: tuple[Index, list[Chunk], dict[str, Vectors]]) -> None:
    index, chunks, vectors = built
    asked = np.stack([vectors[chunks[n].content_hash] for n in (3, 70)])
    rows = index.query(asked, 5, purpose="seed", query_ids=["q1", "q2"], queries=["one", "two"])
    assert [(row.query_id, row.rank, row.purpose, row.query) for row in rows[:2]] == [
        ("q1", 1, "seed", "one"),
        ("q1", 2, "seed", "one"),
    ]
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    for number, vector in enumerate(asked):
        distances = {
            c.chunk_id: round(1 - float(vectors[c.content_hash].astype(float) @ vector.astype(float)), 6)
            for c in chunks
        }
        nearest = sorted(distances, key=lambda name: (distances[name], name))[:5]
        mine = rows[5 * number : 5 * number + 5]
        assert [row.chunk_id for row in mine] == nearest
        assert [row.distance for row in mine] == pytest.approx([distances[name] for name in nearest], abs=2e-6)
        assert all(by_id[row.chunk_id].source_id == row.source_id for row in mine)
    assert rows[0].chunk_id == chunks[3].chunk_id
    assert rows[0].distance == 0.0


def test_sources_can_be_passed_over_and_k_may_exceed_what_there_is(
    built: tuple[Index, list[Chunk], dict[str, Vectors]],
) -> None:
    index, chunks, vectors = built
    asked = vectors[chunks[3].content_hash]
    rows = index.query(asked, 500, exclude_sources=["s0", "s3"])
    assert len(rows) == 180
    assert {row.source_id for row in rows} == {"s1", "s2", "s4"}
    assert index.query(asked, 3, exclude_sources=[f"s{n}" for n in range(5)]) == []
    assert np.array_equal(index.vector_of(chunks[9].chunk_id), vectors[chunks[9].content_hash])


def test_chroma_holds_it_all_and_its_graph_finds_the_same(built: tuple[Index, list[Chunk], dict[str, Vectors]]) -> None:
    index, chunks, _ = built
    assert index.graph_recall(30) == 1.0
    collection = index._opened()._collection
    stored = collection.get(ids=[chunks[0].chunk_id, chunks[1].chunk_id], include=["documents", "metadatas"])
    assert set(stored["documents"]) == {chunks[0].text, chunks[1].text}
    assert {place["start"] for place in stored["metadatas"]} == {0, 1}
    assert collection.metadata["embedder"] == "given:1"
    assert collection.metadata["dimensions"] == 16


def test_above_the_limit_the_graph_proposes_and_exact_distances_decide(
    built: tuple[Index, list[Chunk], dict[str, Vectors]], monkeypatch: pytest.MonkeyPatch
) -> None:
    index, chunks, vectors = built
    asked = np.stack([vectors[chunk.content_hash] for chunk in chunks[::30]])
    for excluded in ((), ("s1", "s2")):
        exact = index.query(asked, 2, exclude_sources=excluded)
        monkeypatch.setattr(index_module, "EXACT_UP_TO", 10)
        assert index.query(asked, 2, exclude_sources=excluded) == exact
        monkeypatch.undo()


def test_the_order_of_passages_changes_nothing(tmp_path: Path) -> None:
    chunks = passages(50)
    vectors = vectors_of(chunks)
    with (
        build(chunks, batches(vectors), Given(), tmp_path / "a") as first,
        build(chunks[::-1], batches(vectors), Given(), tmp_path / "b") as second,
    ):
        assert first.fingerprint == second.fingerprint
        asked = np.stack(list(vectors.values()))
        assert first.query(asked, 7) == second.query(asked, 7)


def test_equal_texts_tie_by_id(tmp_path: Path) -> None:
    text = "The same words."
    chunks = [
        Chunk(
            chunk_id=chunk_id(f"s{n}", 0, text),
            content_hash=content_hash(text),
            source_id=f"s{n}",
            path="p",
            start=0,
            end=15,
            ordinal=0,
            text=text,
        )
        for n in range(20)
    ]
    vectors = vectors_of(chunks)
    with build(chunks, batches(vectors), Given(), tmp_path) as index:
        rows = index.query(vectors[chunks[0].content_hash], 10)
    assert [row.chunk_id for row in rows] == sorted(chunk.chunk_id for chunk in chunks)[:10]


def test_an_unchanged_index_is_opened_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = passages(20)
    build(chunks, batches(vectors_of(chunks)), Given(), tmp_path).close()
    monkeypatch.setattr(index_module, "_build", None)
    build(chunks, [], Given(), tmp_path).close()


def test_changed_passages_make_a_new_index_and_the_old_one_goes(tmp_path: Path) -> None:
    chunks = passages(30)
    build(chunks, batches(vectors_of(chunks)), Given(), tmp_path).close()
    changed = chunks[5:] + passages(5, first=100)
    with build(changed, batches(vectors_of(changed)), Given(), tmp_path) as index:
        rows = index.query(np.stack(list(vectors_of(changed).values())), 30)
        assert {row.chunk_id for row in rows} == {chunk.chunk_id for chunk in changed}
    assert len(list(tmp_path.glob("index-*"))) == 1


def test_an_index_in_use_stays_until_it_is_closed(tmp_path: Path) -> None:
    chunks = passages(30)
    old = build(chunks, batches(vectors_of(chunks)), Given(), tmp_path)
    build(chunks[1:], batches(vectors_of(chunks)), Given(), tmp_path).close()
    assert old.graph_recall() == 1.0
    assert len(list(tmp_path.glob("index-*"))) == 2
    old.close()
    build(chunks[1:], batches(vectors_of(chunks)), Given(), tmp_path).close()
    assert len(list(tmp_path.glob("index-*"))) == 1


def test_what_does_not_fit_is_told_with_what_to_do(tmp_path: Path) -> None:
    chunks = passages(10)
    index = build(chunks, batches(vectors_of(chunks)), Given(), tmp_path)
    index.close()
    open_index(tmp_path, index.fingerprint, Given()).close()
    with pytest.raises(IndexMismatchError, match=r"given:1 \(16 dimensions\).*given:2.*rebuild"):
        open_index(tmp_path, index.fingerprint, Given("given:2"))
    with pytest.raises(IndexMismatchError, match="examgen build"):
        open_index(tmp_path, "other", Given())
    with pytest.raises(IndexMismatchError, match="examgen build"):
        open_index(tmp_path / "none", "other", Given())
    with pytest.raises(IndexMismatchError, match="16 dimensions, asked with 8"):
        index.query(np.ones((1, 8), dtype=np.float32), 1)
    with pytest.raises(IndexMismatchError, match="3 of 13 passages have no vector"):
        build(passages(13), batches(vectors_of(chunks)), Given(), tmp_path / "other")
    with pytest.raises(IndexMismatchError, match="16 dimensions, the embedder gives 8 now: delete its folder"):
        build(chunks, batches(vectors_of(chunks)), Given(dimensions=8), tmp_path / "third")


def test_an_empty_index_answers_with_nothing(tmp_path: Path) -> None:
    with build([], [], Given(), tmp_path) as index:
        assert index.query(np.ones((2, 16), dtype=np.float32), 3) == []
        assert index.graph_recall() == 1.0


SCRIPT = """
import sys
from pathlib import Path
from tests.tasks.test_index import Given, batches, passages, vectors_of
from tasks import index
index.BATCH = 20
chunks = passages(int(sys.argv[2]))
with index.build(chunks, batches(vectors_of(chunks)), Given(), Path(sys.argv[1])) as found:
    print(len(found), found.graph_recall())
"""


def started(folder: Path, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), str(count)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_a_killed_build_is_taken_up_again(tmp_path: Path) -> None:
    process = started(tmp_path, 2000)
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("building-*/chroma/chroma.sqlite3")) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not list(tmp_path.glob("index-*"))
    chunks = passages(2000)
    with build(chunks, batches(vectors_of(chunks)), Given(), tmp_path) as index:
        assert len(index) == 2000
        assert index.graph_recall() > 0.99
    assert not list(tmp_path.glob("building-*"))


def test_two_processes_build_one_after_the_other(tmp_path: Path) -> None:
    both = [started(tmp_path, 300), started(tmp_path, 300)]
    for process in both:
        out, errors = process.communicate(timeout=200)
        assert process.returncode == 0, errors
        assert out.split() == ["300", "1.0"]
    assert len(list(tmp_path.glob("index-*"))) == 1


def test_passages_are_read_from_their_table_batch_by_batch(tmp_path: Path) -> None:
    chunks = passages(25)
    store.write(tmp_path / "chunks.parquet", "chunks", chunks)
    stored = StoredChunks(tmp_path / "chunks.parquet", batch=4)
    assert list(stored) == chunks == list(stored)
    with build(stored, batches(vectors_of(chunks)), Given(), tmp_path / "index") as index:
        assert len(index) == 25
