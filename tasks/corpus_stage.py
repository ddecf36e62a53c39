"""The first stages: documents to passages, passages to an index."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from examgen import chunks
from examgen.errors import CorpusError
from examgen.records import Source
from examgen.study import Chunking, Corpus, Embedding
from tasks import embed, index, read_sources, store
from tasks.progress import bars
from tasks.stages import Shard, stage
from tasks.stored_chunks import StoredChunks

TEXTS_AT_ONCE = 64
"""Texts written together."""


@stage("read")
def read(shard: Shard, folder: Path) -> dict[str, Any]:
    """Read every file of the corpus and cut the texts into passages: tables sources, texts, chunks."""
    corpus = Corpus.model_validate(shard.inputs["corpus"])
    chunking = Chunking.model_validate(shard.inputs["chunking"])
    entries = read_sources.scan(Path(shard.inputs["folder"]), corpus)
    bars.start("reading files", len(entries))
    sources: list[Source] = []
    # Texts and passages go to disk as they come: memory holds a row for each file, not the corpus.
    with (
        store.TableStream(folder / "texts.parquet", "texts", TEXTS_AT_ONCE) as texts,
        store.TableStream(folder / "chunks.parquet", "chunks") as passages,
    ):
        for source, text in read_sources.iter_files(entries, corpus, Path(shard.inputs["cache"])):
            bars.advance("reading files")
            cut = chunks.cut(text, chunking) if text is not None and source.status == "indexed" else []
            sources.append(source.model_copy(update={"chunks": len(cut)}))
            if text is not None and cut:
                texts.add(text)
                for passage in cut:
                    passages.add(passage)
    count = sum(source.chunks for source in sources)
    if not count:
        reasons = Counter(source.reason or source.status for source in sources)
        raise CorpusError(f"{shard.inputs['folder']}: no text in any of {len(sources)} files ({dict(reasons)})")
    store.write(folder / "sources.parquet", "sources", sources)
    statuses = Counter(str(source.status) for source in sources)
    counts: dict[str, int] = {"files": len(sources), "chunks": count, **statuses}
    return {"counts": counts, "facts": {"warnings": _warnings(sources)}}


NOTES_AT_MOST = 10
"""Files named in the notes of one kind; the table `sources` names all."""


def _warnings(sources: list[Source]) -> list[str]:
    """What an author should know of the corpus: sources that dominate, files that gave nothing, documents twice."""
    lost = [f"{source.path}: {source.reason or source.status}" for source in sources if source.status in _LOST]
    twins = [source for source in sources if source.near_duplicate_of]
    copies = [
        f"{source.path}: left out, {source.reason}"
        for source in twins
        if source.status == "duplicate"
    ]
    near = [
        f"{source.path}: {source.reason}: both are used, corpus.exclude can leave one out"
        for source in twins
        if source.status != "duplicate"
    ]
    found = _dominance(sources)
    for kind, notes in (("files gave no text", lost), ("copies were left out", copies), ("near duplicates", near)):
        found += notes[:NOTES_AT_MOST]
        if len(notes) > NOTES_AT_MOST:
            found.append(f"{len(notes)} {kind} in all: the table sources names each with its reason")
    return found


_LOST = ("unreadable", "empty")


def _dominance(sources: list[Source]) -> list[str]:
    """A note when one of three or more sources, or three of eight or more, hold more than half of the passages."""
    share = Counter({source.path: source.chunks for source in sources if source.chunks})
    for top, among in ((1, 3), (3, 8)):
        held = share.most_common(top)
        part = sum(count for _, count in held) / max(share.total(), 1)
        if len(share) >= among and part > 0.5:
            names = ", ".join(path for path, _ in held)
            how_many = "one" if top == 1 else "three"
            return [f"{how_many} of {len(share)} sources hold{'s' * (top == 1)} {part:.0%} of the passages: {names}"]
    return []


@stage("index")
def build_index(shard: Shard, _folder: Path) -> dict[str, Any]:
    """Embed what is not embedded yet and build the Chroma index of this set of passages."""
    passages = StoredChunks(Path(shard.inputs["chunks"]))
    embedding = Embedding.model_validate(shard.inputs["embedding"])
    # Only "lsa" learns from the passages, and has to hold all of them for that.
    embedder = embed.make_embedder(embedding, (chunk.text for chunk in passages))
    place = Path(shard.inputs["embeddings"])
    wanted = {chunk.content_hash for chunk in passages}
    bars.start("embedding passages", len(wanted - embed.held_hashes(place, embedder.id)))
    texts = ((chunk.content_hash, chunk.text) for chunk in passages)
    embedded = embed.add_missing(embedder, texts, place, lambda done: bars.reach("embedding passages", done))
    vectors = embed.StoredVectors(place, embedder.id)
    with index.build(passages, vectors, embedder, Path(shard.inputs["index"]), shard.inputs["index_server"]) as built:
        facts = {"embedder": embedder.id, "dimensions": embedder.dimensions, "fingerprint": built.fingerprint}
        count = len(built)
    return {"counts": {"passages": count, "embedded": embedded}, "facts": facts}
