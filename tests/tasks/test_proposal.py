from __future__ import annotations

from pathlib import Path

import pytest

from examgen.errors import CorpusError, StudyError
from examgen.study import load_study
from tasks.proposal import write_study

TEXT = (
    "# Optic nerve imaging\n\n## Acute optic neuritis\n\nThe lesion is long.\n\n"
    "## Orbit protocol\n\nFat is suppressed.\n"
)


def test_a_study_is_proposed_from_headings(tmp_path: Path) -> None:
    folder = tmp_path / "My Documents"
    folder.mkdir()
    (folder / "a.md").write_text(TEXT)
    study = load_study(write_study(folder, None))
    assert study.study == "my_documents"
    assert [seed.query for seed in study.seeds] == ["Optic nerve imaging", "Acute optic neuritis", "Orbit protocol"]
    assert (tmp_path / study.corpus.folder).resolve() == folder
    with pytest.raises(StudyError, match="exists already"):
        write_study(folder, None)


def test_headings_in_another_case_are_one_proposal(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text(TEXT)
    (folder / "b.md").write_text(TEXT.replace("Acute optic neuritis", "acute Optic Neuritis").replace("long", "short"))
    study = load_study(write_study(folder, None))
    assert [seed.query for seed in study.seeds] == ["Optic nerve imaging", "Acute optic neuritis", "Orbit protocol"]


def test_without_headings_phrases_are_proposed(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text("The optic nerve lesion is long. An optic nerve lesion enhances. " * 3)
    assert any("optic nerve" in seed.query for seed in load_study(write_study(folder, None)).seeds)


def test_folders_nothing_can_be_made_of(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no such folder"):
        write_study(tmp_path / "none", None)
    (tmp_path / "docs").mkdir()
    with pytest.raises(CorpusError, match="empty"):
        write_study(tmp_path / "docs", None)
