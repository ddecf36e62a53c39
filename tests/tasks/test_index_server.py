"""Real servers on loopback: the index on a Chroma server, the vectors from an OpenAI-compatible endpoint."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from examgen.errors import EndpointError, IndexMismatchError, RunError, StudyError
from examgen.study import Study, load_study
from tasks import index as index_module
from tasks.corpus_stage import build_index, read
from tasks.embed import make_embedder
from tasks.index import build, open_index
from tasks.stages import Done, Shard, make_shard
from tests.stub_server import StubServer
from tests.tasks.test_index import Given, batches, passages, vectors_of

STUDY = """
study: remote
corpus: {{folder: docs}}
chunking: {{size: 200, overlap: 20}}
embedding: {{kind: openai, model: eight-numbers, base_url: "{url}", batch: 4{more}}}
index: {{server: "{server}"}}
seeds: [lesions]
endpoints: [{{id: longest, kind: baseline, model: longest}}]
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


class ChromaServer:
    """`chroma run` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(folder), "--host", "127.0.0.1"]
        self._process = subprocess.Popen(
            [*command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        self.stop()
        raise AssertionError("the Chroma server did not start")

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(timeout=60)

    def collections(self) -> dict[str, int]:
        """Passages held, by name of the collection."""
        import chromadb

        host, _, port = self.address.partition(":")
        client = chromadb.HttpClient(host=host, port=int(port))
        return {found.name: found.count() for found in client.list_collections()}


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    server = ChromaServer(tmp_path_factory.mktemp("chroma"))
    yield server
    server.stop()


def stages(folder: Path, url: str, server: str, more: str = "") -> tuple[Study, Shard]:
    """The study as configured, its documents read, and the shard of its index."""
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    for number in range(3):
        words = f"Lesions of kind {number} are seen on FLAIR in patients of group {number}. " * 8
        (docs / f"{number}.md").write_text(f"# Document {number}\n\n{words}")
    (folder / "study.yaml").write_text(STUDY.format(url=url, server=server, more=more))
    study = load_study(folder / "study.yaml")
    corpus, chunking = study.corpus.model_dump(mode="json"), study.chunking.model_dump(mode="json")
    inputs = {"folder": str(docs), "cache": str(folder / "texts")}
    shard = make_shard("remote", "read", "read", folder / "work", {"corpus": corpus, "chunking": chunking}, inputs)
    done: Done = read.work(shard)  # type: ignore[attr-defined]
    inputs = {
        "chunks": done.table("chunks"), "embeddings": str(folder / "embeddings"), "index": str(folder / "index"),
        "index_server": study.index.server,
    }
    depends = {"read": done.key, "embedding": study.embedding.model_dump(mode="json"), "server": server}
    return study, make_shard("remote", "index", "index", folder / "work", depends, inputs)


def test_a_study_with_remote_vectors_and_a_chroma_server(tmp_path: Path, chroma: ChromaServer) -> None:
    with StubServer() as stub:
        study, shard = stages(tmp_path, stub.base_url, chroma.address)
        done: Done = build_index.work(shard)  # type: ignore[attr-defined]
        assert done.facts["dimensions"] == 8
        assert done.counts["embedded"] == done.counts["passages"] > 3
        assert chroma.collections()[f"examgen-{done.facts['fingerprint']}"] == done.counts["passages"]
        embedder = make_embedder(study.embedding)
        asked = embedder.embed(["Lesions of kind 1"])
        fingerprint = done.facts["fingerprint"]
        with open_index(tmp_path / "index", fingerprint, embedder, chroma.address) as index:
            assert len(index.query(asked, 3)) == 3
            assert index.graph_recall(3) == 1.0
        other = make_embedder(study.embedding.model_copy(update={"model": "other"}))
        with pytest.raises(IndexMismatchError, match=r"built with embedder openai:eight.*rebuild with `examgen build`"):
            open_index(tmp_path / "index", fingerprint, other, chroma.address)
        _, shard = stages(tmp_path, stub.base_url, chroma.address, ", dimensions: 256")
        with pytest.raises(EndpointError, match=r"length 8, the study says 256: set embedding\.dimensions"):
            build_index.work(shard)  # type: ignore[attr-defined]
    with pytest.raises(EndpointError, match="embedding model eight-numbers: Connection error"):
        make_embedder(study.embedding).embed(["nobody answers"])


def test_on_a_server_the_collection_of_the_old_index_goes(tmp_path: Path, chroma: ChromaServer) -> None:
    chunks = passages(40)
    first = build(chunks, batches(vectors_of(chunks)), Given(), tmp_path, chroma.address)
    first.close()
    changed = chunks[3:]
    with build(changed, batches(vectors_of(changed)), Given(), tmp_path, chroma.address) as index:
        assert chroma.collections()[f"examgen-{index.fingerprint}"] == 37
        assert f"examgen-{first.fingerprint}" not in chroma.collections()
        assert index.graph_recall(5) == 1.0
    with build(changed, batches(vectors_of(changed)), Given(), tmp_path) as local:
        assert local.fingerprint != index.fingerprint, "in a folder it is another index"
        assert (local.place / "chroma").is_dir()


def test_a_collection_that_is_gone_is_told(tmp_path: Path, chroma: ChromaServer) -> None:
    chunks = passages(10)
    with build(chunks, batches(vectors_of(chunks)), Given("gone:1"), tmp_path, chroma.address) as index:
        index.forget(index.fingerprint)
    with (
        open_index(tmp_path, index.fingerprint, Given("gone:1"), chroma.address) as index,
        pytest.raises(IndexMismatchError, match=r"is gone: delete the folder .* and run `examgen build`"),
    ):
        index.graph_rows(np.ones(16, dtype=np.float32), 1)


def test_a_server_that_is_down_is_one_line(tmp_path: Path) -> None:
    chunks = passages(10)
    nowhere = f"127.0.0.1:{free_port()}"
    with pytest.raises(RunError, match=f"index.server {nowhere}: no Chroma answers there: start it"):
        build(chunks, batches(vectors_of(chunks)), Given(), tmp_path / "a", nowhere)
    server = ChromaServer(tmp_path / "store")
    with build(chunks, batches(vectors_of(chunks)), Given(), tmp_path / "b", server.address) as index:
        assert index.graph_recall(5) == 1.0
        server.stop()
        with pytest.raises(RunError, match="no Chroma answers there: start it"):
            index.graph_rows(np.ones(16, dtype=np.float32), 1)
        rows = index.query(np.ones((1, 16), dtype=np.float32), 3)
        assert len(rows) == 3, "what is compared exactly needs no server"
    with StubServer() as stub:
        another = stub.base_url.removeprefix("http://").removesuffix("/v1")
        with pytest.raises(RunError, match=f"index.server {another}: no Chroma answers there"):
            build(chunks, batches(vectors_of(chunks)), Given(), tmp_path / "c", another)


def test_an_address_that_is_none_is_told_before_anything_runs(tmp_path: Path) -> None:
    place = tmp_path / "study.yaml"
    place.write_text(STUDY.format(url="", server="http://127.0.0.1:8000", more=""))
    with pytest.raises(StudyError, match=r"index\.server"):
        load_study(place)


def test_at_paper_scale_nothing_is_approximate(tmp_path: Path) -> None:
    """Recall@30 against brute force is 1.0 up to `EXACT_UP_TO`, which is eleven times the paper's 4,289 passages."""
    chunks = passages(600)
    assert index_module.EXACT_UP_TO > 4_289
    vectors = vectors_of(chunks)
    names = sorted(vectors)
    matrix = np.stack([vectors[name] for name in names]).astype(float)
    chunk_of = {chunk.content_hash: chunk.chunk_id for chunk in chunks}
    asked = np.random.default_rng(3).normal(size=(20, 16))
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    with build(chunks, batches(vectors), Given(), tmp_path) as index:
        for vector in asked:
            right = {chunk_of[names[row]] for row in np.argsort(-(matrix @ vector))[:30]}
            assert {row.chunk_id for row in index.query(vector, 30)} == right
