from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from examgen.study import Corpus
from tasks.corpus_files import scan
from tasks.fingerprint import fingerprint


def test_content_counts_and_time_does_not(tmp_path: Path) -> None:
    corpus, cache = tmp_path / "docs", tmp_path / "files.json"
    corpus.mkdir()
    (corpus / "a.md").write_text("one")
    (corpus / "b.zip").write_bytes(b"PK")
    about = Corpus(folder=str(corpus))
    first = fingerprint(scan(corpus, about), cache)
    assert [row[0] for row in first.rows] == ["a.md", "b.zip"]
    os.utime(corpus / "a.md", (1, 1))
    assert fingerprint(scan(corpus, about), cache).rows == first.rows
    (corpus / "a.md").write_text("two")
    assert fingerprint(scan(corpus, about), cache).rows != first.rows


def test_what_is_unchanged_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, cache = tmp_path / "docs", tmp_path / "files.json"
    corpus.mkdir()
    about = Corpus(folder=str(corpus))
    for number in range(40):
        (corpus / f"{number}.md").write_text(f"text {number}")
    first = fingerprint(scan(corpus, about), cache)
    assert (first.known, first.hashed) == (0, 40)
    opened: list[str] = []
    real = Path.open

    def watched(self: Path, *given: Any, **named: Any) -> Any:
        opened.append(self.name)
        return real(self, *given, **named)

    monkeypatch.setattr(Path, "open", watched)
    again = fingerprint(scan(corpus, about), cache)
    assert (again.rows, again.known, again.hashed) == (first.rows, 40, 0)
    assert not [name for name in opened if name.endswith(".md")]
    os.utime(corpus / "7.md", (1, 1))
    touched = fingerprint(scan(corpus, about), cache)
    assert (touched.rows, touched.known, touched.hashed) == (first.rows, 39, 1)
    assert [name for name in opened if name.endswith(".md")] == ["7.md"]
