from __future__ import annotations

import os
from pathlib import Path

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
    assert [row[0] for row in first] == ["a.md", "b.zip"]
    os.utime(corpus / "a.md", (1, 1))
    assert fingerprint(scan(corpus, about), cache) == first
    (corpus / "a.md").write_text("two")
    assert fingerprint(scan(corpus, about), cache) != first
