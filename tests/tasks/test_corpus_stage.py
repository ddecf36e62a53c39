"""Files to passages as a stage: whole tables from a stream, and notes that a person sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from examgen import tables
from examgen.errors import CorpusError
from examgen.records import Chunk, Source, SourceText
from examgen.study import Chunking, Corpus
from tasks.corpus_stage import NOTES_AT_MOST, _warnings, read
from tasks.stages import Done, Shard, make_shard


def shard_of(folder: Path) -> Shard:
    depends = {"corpus": Corpus(folder="docs").model_dump(mode="json"), "chunking": Chunking().model_dump(mode="json")}
    inputs = {"folder": str(folder / "docs"), "cache": str(folder / "texts")}
    return make_shard("s", "read", "read", folder / "work", depends, inputs)


def test_tables_and_notes_of_a_corpus(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    words = " ".join(f"Lesion {n} is seen on FLAIR in region {n % 17}." for n in range(150))
    first = f"# A\n\n{words}"
    texts = {"a.md": first, "b.md": first, "c.md": f"{first} And more.", "d.md": "# D\n\nText.", "e.md": ""}
    for name, text in texts.items():
        (tmp_path / "docs" / name).write_text(text)
    done: Done = read.work(shard_of(tmp_path))  # type: ignore[attr-defined]
    chunks = tables.read_records(done.table("chunks"), Chunk)
    whole = {text.source_id: text.text for text in tables.read_records(done.table("texts"), SourceText)}
    assert done.counts == {"files": 5, "chunks": len(chunks), "indexed": 3, "duplicate": 1, "empty": 1}
    assert all(whole[chunk.source_id][chunk.start : chunk.end] == chunk.text for chunk in chunks)
    notes = done.facts["warnings"]
    assert "e.md: empty: no bytes" in notes
    assert "b.md: left out, same bytes as a.md" in notes
    assert any(note.startswith("c.md: near duplicate of a.md (") and "corpus.exclude" in note for note in notes)
    sources = {row["path"]: row["chunks"] for row in tables.read_rows(done.table("sources"))}
    assert sources["b.md"] == sources["e.md"] == 0
    assert sum(sources.values()) == len(chunks)


def test_a_corpus_without_text_leaves_no_table(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "e.md").write_text("")
    with pytest.raises(CorpusError, match="no text in any of 1 files"):
        read.work(shard_of(tmp_path))  # type: ignore[attr-defined]
    assert not list((tmp_path / "work").rglob("*.parquet"))


def source(path: str, chunks: int, status: str = "indexed") -> Source:
    return Source(source_id=path, path=path, media_type="text/markdown", bytes=1, chunks=chunks, status=status)  # type: ignore[arg-type]


def test_sources_that_dominate_are_named() -> None:
    assert _warnings([source("big", 60), source("b", 20), source("c", 20)]) == [
        "one of 3 sources holds 60% of the passages: big"
    ]
    eight = [source(f"s{n}", 20 if n < 3 else 5) for n in range(8)]
    assert _warnings(eight) == ["three of 8 sources hold 71% of the passages: s0, s1, s2"]
    assert _warnings([source(f"s{n}", 10) for n in range(8)]) == []


def test_hundreds_of_files_without_text_are_counted_not_listed() -> None:
    notes = _warnings([source(f"f{n}", 0, "empty") for n in range(300)])
    assert len(notes) == NOTES_AT_MOST + 1
    assert notes[-1].startswith("300 files gave no text in all")
