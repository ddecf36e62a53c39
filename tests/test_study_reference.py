from __future__ import annotations

from pathlib import Path

from examgen.study import Study
from examgen.study_reference import reference

PAGE = Path(__file__).resolve().parents[1] / "docs" / "study.md"


def test_the_page_is_the_definition() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference()


def test_every_key_is_in_it() -> None:
    for name in Study.model_fields:
        assert f"| `{name}` |" in reference()
