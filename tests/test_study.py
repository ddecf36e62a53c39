from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from examgen.errors import StudyError
from examgen.study import load_study, parse_study

ROOT = Path(__file__).resolve().parents[1]
MINIMAL: dict[str, Any] = {"study": "s", "corpus": {"folder": "docs"}, "seeds": ["a query"]}


def test_the_studies_of_the_project_are_valid() -> None:
    for path in sorted((ROOT / "data" / "studies").glob("*.yaml")):
        assert load_study(path).seeds


def test_the_default_study_is_the_paper_s() -> None:
    study = load_study(ROOT / "data" / "studies" / "ms_mri.yaml")
    assert len(study.seeds) == 18
    assert (study.chunking.size, study.chunking.overlap) == (1200, 200)
    assert (study.retrieval.passages_per_seed, study.retrieval.passage_cap) == (4, 60)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"panl": {}}, "panl: unknown key; did you mean 'panel'?"),
        ({"corpus": {"foldr": "x"}}, "corpus.foldr: unknown key; did you mean 'folder'?"),
        ({"chunking": {"size": 100, "overlap": 100}}, "overlap must be smaller than size"),
        ({"chunking": {"size": "large"}}, "chunking.size"),
        ({"seeds": []}, "seeds"),
        ({"writing": {"method": "llm"}}, "writing.endpoint: the method llm needs"),
        ({"screen": {"method": "llm", "endpoint": "gpt"}}, "screen.endpoint: no endpoint is called 'gpt'"),
        ({"endpoints": [{"id": "a"}, {"id": "a"}]}, "two endpoints are called 'a'"),
        ({"study": "Not A Name"}, "study"),
        (
            {"endpoints": [{"id": "a", "model": "gpt-5.1"}], "panel": {"allowed_models": ["gpt-5"]}},
            "endpoints.0.model: 'gpt-5.1' is not among panel.allowed_models; did you mean 'gpt-5'?",
        ),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as caught:
        parse_study({**MINIMAL, **change}, "my.yaml")
    assert message in str(caught.value)
    assert str(caught.value).startswith("my.yaml")


def test_files_that_cannot_be_a_study(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no such study file"):
        load_study(tmp_path / "none.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("study: [")
    with pytest.raises(StudyError, match="not valid YAML"):
        load_study(broken)
    broken.write_text("study: a\nseeds: [x]\nstudy: b\n")
    with pytest.raises(StudyError, match="'study' is given twice, on lines 1 and 3"):
        load_study(broken)
    broken.write_text("- a list")
    with pytest.raises(StudyError, match="a study is a mapping"):
        load_study(broken)
    broken.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StudyError, match="UTF-8"):
        load_study(broken)


def test_a_section_hash_changes_with_its_sections_only() -> None:
    one = parse_study(MINIMAL)
    two = parse_study({**MINIMAL, "statistics": {"seed": 1}})
    assert one.section_hash("corpus", "chunking") == two.section_hash("corpus", "chunking")
    assert one.section_hash("statistics") != two.section_hash("statistics")
