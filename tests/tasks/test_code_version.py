from __future__ import annotations

from pathlib import Path

import pytest

from tasks import code_version


def test_what_a_stage_calls_is_part_of_its_version() -> None:
    names = {path.as_posix().split("/")[-1] for path in code_version.reached("tasks.corpus_stage")}
    assert {"corpus_stage.py", "chunks.py", "read_sources.py", "ids.py", "tables.py"} <= names
    assert "locking.py" not in names


def test_a_changed_function_changes_the_version_of_its_callers_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = {"a": "from examgen import b\n", "b": "VALUE = 1\n", "c": "VALUE = 1\n"}
    for name, text in sources.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr(code_version, "_file_of", lambda m: _place(tmp_path, m))

    def versions() -> list[str]:
        code_version.reached.cache_clear()
        code_version.code_version.cache_clear()
        return [code_version.code_version(f"examgen.{name}") for name in "abc"]

    before = versions()
    (tmp_path / "b.py").write_text("VALUE = 2\n")
    after = versions()
    monkeypatch.undo()
    code_version.reached.cache_clear()
    code_version.code_version.cache_clear()
    assert [x == y for x, y in zip(before, after, strict=True)] == [False, False, True]


def _place(folder: Path, module: str) -> Path | None:
    place = folder / f"{module.split('.')[-1]}.py"
    return place if place.is_file() else None


def test_data_files_count_by_name_and_content(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    one = code_version.folder_version(tmp_path, pattern="*.json")
    (tmp_path / "b.txt").write_text("other")
    assert code_version.folder_version(tmp_path, pattern="*.json") == one
    (tmp_path / "a.json").write_text("{ }")
    assert code_version.folder_version(tmp_path, pattern="*.json") != one
