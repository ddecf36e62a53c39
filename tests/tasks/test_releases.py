"""Which bank a build follows."""

from __future__ import annotations

from pathlib import Path

import pytest

from examgen.errors import BankError
from tasks import store
from tasks.releases import documents_of, enter, followed, line_of, note_release, read_bank, release_of
from tasks.workplace import Workplace
from tests.tasks.bank_folder import make_bank_folder


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path, "s")


def build(place: Workplace, documents: str, bank: str, line: str = "rules") -> tuple[str, str]:
    """Lock a bank as a build does; the bank it followed and the one it is compared with."""
    parent = followed(place, documents, line)
    entry = enter(place, documents, line, parent, bank)
    (place.banks / bank).mkdir(parents=True, exist_ok=True)
    store.write_json(place.banks / bank / "bank.lock.json", {"facts": {"parent": parent} if parent else {}})
    place.point("bank", {"bank_id": bank, "folder": str(place.banks / bank)})
    return parent, entry["compared"]


def test_a_first_bank_follows_none(place: Workplace) -> None:
    assert build(place, "d1", "a") == ("", "")
    assert build(place, "d1", "a") == ("", ""), "nor does its rerun"


def test_other_documents_follow_the_latest_bank(place: Workplace) -> None:
    build(place, "d1", "a")
    assert build(place, "d2", "b") == ("a", "a")
    assert build(place, "d2", "b") == ("a", "a")
    assert build(place, "d3", "c") == ("b", "b")
    assert line_of(place.banks, "c") == ["a", "b", "c"]


def test_an_edited_study_follows_what_the_build_before_followed(place: Workplace) -> None:
    build(place, "d1", "a")
    assert build(place, "d1", "a2") == ("", "a"), "compared with, not followed"
    assert build(place, "d2", "b") == ("a2", "a2")
    assert build(place, "d2", "b2") == ("a2", "b")
    assert build(place, "d2", "b") == ("a2", "b2")


def test_documents_that_come_back_follow_what_they_followed(place: Workplace) -> None:
    build(place, "d1", "a")
    build(place, "d2", "b")
    assert build(place, "d1", "a") == ("", "")
    assert build(place, "d3", "c") == ("a", "a"), "the latest bank is that of the documents that came back"


def test_another_writer_starts_a_line_of_its_own(place: Workplace) -> None:
    build(place, "d1", "a")
    assert build(place, "d2", "m", line="llm") == ("", "a")
    assert build(place, "d2", "m", line="llm") == ("", "a")


def test_killed_after_entering_and_before_pointing(place: Workplace) -> None:
    build(place, "d1", "a")
    enter(place, "d2", "rules", followed(place, "d2", "rules"), "b")
    assert build(place, "d2", "b") == ("a", "a")


def test_a_bank_that_was_deleted_is_not_followed(place: Workplace) -> None:
    build(place, "d1", "a")
    build(place, "d2", "b")
    (place.banks / "a" / "bank.lock.json").unlink()
    (place.banks / "a").rmdir()
    assert followed(place, "d2", "rules") == ""


def test_the_results_a_release_rests_on_stay_the_same(place: Workplace) -> None:
    build(place, "d1", "a")
    place.point("results", {"folder": str(place.evaluations / "e1" / "results-1")})
    first = enter(place, "d2", "rules", "a", "b")
    assert first["results"] == "evaluations/e1/results-1"
    place.point("results", {"folder": str(place.evaluations / "e2" / "results-2")})
    assert enter(place, "d2", "rules", "a", "b") == first
    note_release(place, first, place.root / "releases" / "b" / "k")
    assert release_of(place, "b") == str(place.root / "releases" / "b" / "k")
    assert release_of(place, "a") == ""


def test_documents_are_known_by_content() -> None:
    one, two = "1" * 64, "2" * 64
    known = documents_of([["a.md", one], ["b.md", two]])
    assert documents_of([["a.md", two], ["c.md", one], ["d.log", "excluded: pattern"]]) == known
    assert documents_of([["a.md", one]]) != known


def test_a_bank_of_this_program_or_a_message(tmp_path: Path) -> None:
    folder, items = make_bank_folder(tmp_path)
    assert [item.item_id for item in read_bank(folder).items] == [item.item_id for item in items]
    with pytest.raises(BankError, match=r"no bank\.lock\.json in it"):
        read_bank(tmp_path)
