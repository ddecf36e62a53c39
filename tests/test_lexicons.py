"""The project's lexicons load, hold what they promise, and say what is wrong when they do not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from examgen.errors import InputError
from examgen.lexicons import DEFAULT_FOLDER, any_of, load_lexicons, third_person


def test_contraries_are_mutual_where_neither_is_one_way() -> None:
    contraries = load_lexicons().contrary_of
    assert contraries["hyperintense"].opposite == "hypointense"
    assert contraries["hypointense"].opposite == "hyperintense"
    assert all(found.opposite.lower() != term for term, found in contraries.items())


def test_siblings_leave_out_kin_and_longer_names() -> None:
    diseases = next(group for group in load_lexicons().siblings if group.name == "diseases")
    others = diseases.strangers("NMOSD")
    assert "CADASIL" in others
    assert not {"NMOSD", "MOGAD", "AQP4-IgG NMOSD"} & set(others)


def test_terms_are_whole_words_and_the_longest_wins() -> None:
    pattern = any_of(["central", "central vein"])
    assert [match.group() for match in pattern.finditer("a central vein, centrally, non-central, central")] == [
        "central vein",
        "central",
    ]


def test_scenes_name_only_what_the_writer_fills() -> None:
    for scene in load_lexicons().scenes:
        for text in scene.scenes:
            text.format(frame="f", patient="p", Patient="P", group="g", lead="l")


def test_forms() -> None:
    lexicons = load_lexicons()
    assert [third_person(verb) for verb in ("carry", "reach", "lie")] == ["carries", "reaches", "lies"]
    assert [lexicons.plural(noun) for noun in ("criterion", "topography", "lesion")] == [
        "criteria",
        "topographies",
        "lesions",
    ]
    assert lexicons.finite["requires"] == "require"


def test_version_follows_content(tmp_path: Path) -> None:
    shutil.copytree(DEFAULT_FOLDER, tmp_path / "lexicons")
    same = load_lexicons(tmp_path / "lexicons")
    assert same.version == load_lexicons().version
    place = tmp_path / "lexicons" / "grammar.yaml"
    place.write_text(place.read_text(encoding="utf-8") + "extra: [word]\n", encoding="utf-8")
    assert load_lexicons(tmp_path / "lexicons").version != same.version


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("quantities.yaml", None, "no such lexicon"),
        ("siblings.yaml", "sets: [", "cannot be read as YAML"),
        ("contraries.yaml", "- a\n- b\n", "a mapping of keys"),
        ("contraries.yaml", "sets: [{name: x, type: x, weight: 1, pairs: [[a, a]]}]\n", "its own contrary"),
        (
            "siblings.yaml",
            "sets: [{name: x, type: x, weight: 1, cues: [], members: [a, b], kin: [[c]]}]\n",
            "kin names no member",
        ),
    ],
)
def test_a_broken_lexicon_is_named(tmp_path: Path, name: str, content: str | None, said: str) -> None:
    shutil.copytree(DEFAULT_FOLDER, tmp_path / "lexicons")
    place = tmp_path / "lexicons" / name
    if content is None:
        place.unlink()
    else:
        place.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        load_lexicons(tmp_path / "lexicons")
