"""Embedders, and the table of embeddings: kept, resumed, never paid for twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from examgen.errors import EndpointError, InputError, RunError
from examgen.study import Embedding
from examgen.tables import read_table
from tasks import embed, embed_minilm
from tasks.embed import EndpointEmbedder, compact, embed_missing, make_embedder, read_embeddings

TOPICS = [
    "The central vein sign is seen on susceptibility-weighted images of white matter lesions.",
    "Natalizumab treatment needs surveillance for progressive multifocal leukoencephalopathy.",
    "Optic nerve lesions in MOG antibody disease are long and anterior.",
    "The brain protocol uses three-dimensional FLAIR at three tesla.",
    "Children with multiple sclerosis have more infratentorial lesions than adults.",
]


class Counting:
    """An embedder whose vectors are made from the text's hash, and which counts and can be made to fail."""

    id = "counting:1"
    dimensions = 8

    def __init__(self, fail_after: int = 10**9) -> None:
        self.seen: list[str] = []
        self._fail_after = fail_after

    def embed(self, texts: Sequence[str]) -> embed.Vectors:
        if len(self.seen) + len(texts) > self._fail_after:
            raise KeyboardInterrupt
        self.seen += texts
        rows = [np.random.default_rng(abs(hash(text)) % 2**32).normal(size=8) for text in texts]
        return embed.normalised(np.array(rows).reshape(len(texts), 8))


@pytest.fixture(scope="module")
def minilm() -> embed.Embedder:
    return make_embedder(Embedding())


def test_minilm_vectors_are_unit_and_find_what_is_meant(minilm: embed.Embedder) -> None:
    vectors = minilm.embed(TOPICS)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    asked = minilm.embed(["PML risk under natalizumab", "veins inside lesions", "MRI of paediatric patients"])
    assert list((asked @ vectors.T).argmax(axis=1)) == [1, 0, 4]


def test_a_vector_does_not_depend_on_its_company(minilm: embed.Embedder) -> None:
    long = " ".join(TOPICS * 12)
    together = minilm.embed([*TOPICS, long, ""])
    for row, text in enumerate([*TOPICS, long, ""]):
        assert np.array_equal(minilm.embed([text])[0], together[row])


def test_the_tail_of_a_long_text_counts(minilm: embed.Embedder) -> None:
    head = " ".join(f"Slice thickness of sequence {n} is at most three millimetres." for n in range(40))
    plain, tailed, tail = minilm.embed([head, f"{head} {TOPICS[1]} {TOPICS[1]}", TOPICS[1]])
    assert float(tailed @ tail) > float(plain @ tail) + 0.02


def test_windows_hold_every_token_evenly() -> None:
    for count in (0, 1, 254, 255, 508, 509, 1000):
        windows = embed_minilm._windows(list(range(count)))
        assert [token for window in windows for token in window] == list(range(count))
        assert all(len(window) <= 254 for window in windows)
        assert max(map(len, windows)) - min(map(len, windows)) <= 1


def test_changed_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed_minilm, "MODEL", (*embed_minilm.MODEL[:2], "0" * 64))
    with pytest.raises(RunError, match="SHA-256"):
        make_embedder(Embedding())
    monkeypatch.setattr(embed_minilm, "MODEL", ("no_such_package", "model.onnx", "0" * 64))
    with pytest.raises(RunError, match="missing"):
        make_embedder(Embedding())


def test_latent_semantics_needs_no_model_and_repeats_itself() -> None:
    first, second = make_embedder(Embedding(kind="lsa"), TOPICS), make_embedder(Embedding(kind="lsa"), TOPICS[::-1])
    assert first.id == second.id
    assert first.dimensions == second.dimensions == 4
    assert np.array_equal(first.embed(TOPICS), second.embed(TOPICS))
    assert list((first.embed(["central vein", "natalizumab"]) @ first.embed(TOPICS).T).argmax(axis=1)) == [0, 1]
    assert make_embedder(Embedding(kind="lsa"), TOPICS[:4]).id != first.id
    assert not first.embed(["qqqq"]).any()
    with pytest.raises(InputError):
        make_embedder(Embedding(kind="lsa"), ["", "  "])


class Answers:
    """Stands for the client of an embeddings endpoint."""

    def __init__(self, dimensions: int, lose: int = 0) -> None:
        self.dimensions, self.lose, self.batches = dimensions, lose, list[int]()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.batches.append(len(texts))
        return [[float(len(text)), *([2.0] * (self.dimensions - 1))] for text in texts[self.lose :]]


def asked(answers: Answers, **settings: object) -> EndpointEmbedder:
    embedder = EndpointEmbedder(Embedding(kind="openai", model="text-embedding-3-large", batch=2, **settings))  # type: ignore[arg-type]
    embedder._model = answers
    return embedder


def test_an_endpoint_is_asked_in_batches_and_checked() -> None:
    answers = Answers(3)
    embedder = asked(answers)
    vectors = embedder.embed(TOPICS)
    assert answers.batches == [2, 2, 1]
    assert embedder.dimensions == 3
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    with pytest.raises(EndpointError, match="for 5 texts"):
        asked(Answers(3, lose=1)).embed(TOPICS)
    with pytest.raises(EndpointError, match=r"embedding\.dimensions"):
        asked(Answers(3), dimensions=256).embed(TOPICS)


def test_the_id_of_an_endpoint_tells_servers_apart_and_shows_no_address() -> None:
    here, there = (
        asked(Answers(3), base_url="http://a.example/v1").id,
        asked(Answers(3), base_url="http://b.example/v1").id,
    )
    assert here != there
    assert "example" not in here
    assert here.startswith("openai:text-embedding-3-large@")


def test_what_is_embedded_is_kept_and_only_the_rest_is_paid_for(tmp_path: Path) -> None:
    texts = {f"h{n}": f"text {n}" for n in range(600)}
    first = Counting()
    vectors = embed_missing(first, texts, tmp_path)
    assert len(first.seen) == 600
    assert set(vectors) == set(texts)
    again = Counting()
    told: list[int] = []
    more = embed_missing(again, {**texts, "new": "new text"}, tmp_path, told.append)
    assert again.seen == ["new text"]
    assert told == [1]
    assert all(np.array_equal(more[name], vectors[name]) for name in texts)
    assert read_table(str(next(tmp_path.glob("part-*.parquet")))).schema.names == ["content_hash", "embedder", "vector"]


def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    texts = {f"h{n}": f"text {n}" for n in range(600)}
    killed = Counting(fail_after=520)
    with pytest.raises(KeyboardInterrupt):
        embed_missing(killed, texts, tmp_path)
    rest = Counting()
    embed_missing(rest, texts, tmp_path)
    assert len(killed.seen) == 480
    assert len(rest.seen) == 120


def test_a_slow_embedder_is_kept_in_small_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "PART_SECONDS", 0.0)
    killed = Counting(fail_after=110)
    with pytest.raises(KeyboardInterrupt):
        embed_missing(killed, {f"h{n}": f"text {n}" for n in range(200)}, tmp_path)
    assert len(read_embeddings(tmp_path, killed.id)) == 96


def test_embedders_do_not_mix(tmp_path: Path) -> None:
    embed_missing(Counting(), {"h": "text"}, tmp_path)
    other = Counting()
    other.id = "counting:2"
    embed_missing(other, {"h": "text"}, tmp_path)
    assert other.seen == ["text"]
    assert set(read_embeddings(tmp_path, "counting:1")) == set(read_embeddings(tmp_path, "counting:2")) == {"h"}


def test_compacting_keeps_what_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "PARTS_AT_MOST", 3)
    vectors = {}
    for n in range(6):
        vectors |= embed_missing(Counting(), {f"h{n}": f"text {n}"}, tmp_path)
    assert len(list(tmp_path.glob("part-*.parquet"))) <= 3
    assert {name: vector.tolist() for name, vector in read_embeddings(tmp_path, "counting:1").items()} == {
        name: vector.tolist() for name, vector in vectors.items()
    }
    compact(tmp_path, keep={"h1", "h4"})
    assert set(read_embeddings(tmp_path, "counting:1")) == {"h1", "h4"}


def test_vectors_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    class Broken(Counting):
        def embed(self, texts: Sequence[str]) -> embed.Vectors:
            return np.full((len(texts), 8), np.nan, dtype=np.float32)

    with pytest.raises(RunError, match="no numbers"):
        embed_missing(Broken(), {"h": "text"}, tmp_path)
    assert not list(tmp_path.glob("*"))
