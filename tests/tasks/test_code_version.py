from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tasks import code_version

Version = Callable[[str], str]


def test_what_a_stage_calls_is_part_of_its_version() -> None:
    names = {path.as_posix().split("/")[-1] for path in code_version.reached("tasks.corpus_stage")}
    assert {"corpus_stage.py", "chunks.py", "read_sources.py", "ids.py", "tables.py"} <= names
    assert "locking.py" not in names


def test_readers_in_a_process_of_their_own_count() -> None:
    modules = {text.split("\n")[0] for text in code_version.definitions("tasks.read_child:main")}
    assert {"tasks.read_child", "tasks.read_pdf", "tasks.read_xml", "tasks.read_markup", "examgen.texts"} <= modules


@pytest.fixture
def version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Version]:
    """The version of a module, or of a name in it, of a project that lies in `tmp_path`."""

    def file_of(module: str) -> Path | None:
        base = tmp_path.joinpath(*module.split(".")[1:])
        return next((p for p in (base / "__init__.py", base.with_suffix(".py")) if p.is_file()), None)

    def found(name: str) -> str:
        code_version.forget_sources()
        return code_version.code_version(name)

    monkeypatch.setattr(code_version, "_file_of", file_of)
    yield found
    monkeypatch.undo()
    code_version.forget_sources()


def changed(version: Version, place: Path, text: str, *names: str) -> list[bool]:
    """Whether the version of each name changes when a file gets another text."""
    before = [version(name) for name in names]
    place.write_text(text)
    return [one != two for one, two in zip(before, map(version, names), strict=True)]


def test_a_changed_function_changes_the_version_of_its_callers_only(tmp_path: Path, version: Version) -> None:
    sources = {"a": "from examgen import b\n", "b": "VALUE = 1\n", "c": "VALUE = 1\n"}
    for name, text in sources.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert changed(version, tmp_path / "b.py", "VALUE = 2\n", "examgen.a", "examgen.b", "examgen.c") == [
        True, True, False,
    ]  # fmt: skip


STAGES = """\
from examgen import whole
from examgen.named import helped, other
LIMIT = 1
def one(): return inner() + helped()
def inner(): return LIMIT
def two(): return other() + whole.anything()
def three():
    from examgen.late import called
    return called()
"""


@pytest.fixture
def stages(tmp_path: Path) -> Path:
    (tmp_path / "stages.py").write_text(STAGES)
    (tmp_path / "named.py").write_text("def helped(): return 1\ndef other(): return 2\n")
    (tmp_path / "whole.py").write_text("def anything(): return 1\ndef unused(): return 2\n")
    (tmp_path / "late.py").write_text("def called(): return 1\n")
    return tmp_path


ALL = ("examgen.stages:one", "examgen.stages:two", "examgen.stages:three")


@pytest.mark.parametrize(
    ("file", "before", "after", "whose"),
    [
        ("stages", "LIMIT = 1", "LIMIT = 2", [True, False, False]),
        ("stages", "return inner()", "return 1 + inner()", [True, False, False]),
        ("named", "helped(): return 1", "helped(): return 3", [True, False, False]),
        ("named", "other(): return 2", "other(): return 3", [False, True, False]),
        ("whole", "unused(): return 2", "unused(): return 3", [False, True, False]),
        ("late", "return 1", "return 3", [False, False, True]),
        ("stages", "LIMIT = 1", "LIMIT = 1  # and why", [False, False, False]),
        ("named", "def helped", "STARTED = print('x')\nprint('at import')\ndef helped", [True, True, False]),
    ],
)
def test_of_a_stage_s_own_file_only_what_it_uses_counts(
    stages: Path, version: Version, file: str, before: str, after: str, whose: list[bool]
) -> None:
    place = stages / f"{file}.py"
    assert changed(version, place, place.read_text().replace(before, after), *ALL) == whose


def test_a_package_is_followed_where_a_name_is_taken_from_it(tmp_path: Path, version: Version) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("from examgen.pack.deep import made\nfrom examgen.far import away\n")
    (tmp_path / "pack" / "deep.py").write_text("def made(): return 1\n")
    (tmp_path / "far.py").write_text("def away(): return 1\n")
    (tmp_path / "user.py").write_text("from examgen.pack import made\ndef use(): return made()\n")
    assert changed(version, tmp_path / "pack" / "deep.py", "def made(): return 2\n", "examgen.user:use") == [True]
    assert changed(version, tmp_path / "far.py", "def away(): return 2\n", "examgen.user:use") == [False]


def test_data_files_count_by_name_and_content(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    one = code_version.folder_version(tmp_path, pattern="*.json")
    (tmp_path / "b.txt").write_text("other")
    assert code_version.folder_version(tmp_path, pattern="*.json") == one
    (tmp_path / "a.json").write_text("{ }")
    assert code_version.folder_version(tmp_path, pattern="*.json") != one
