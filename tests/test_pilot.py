"""Pilot tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from examgen.errors import StudyError
from examgen.pilot import discordant_counts, parse_pilot, read_pilot

TEXT = "item_id,endpoint,correct\nq1,a,1\nq2,a,1\nq3,a,0\nq4,a,\nq3,b,yes\nq1,b,0\nq2,b,TRUE\nq4,b,1\nq5,b,1\n"


def test_counts_are_joined_by_item_and_unresolved_answers_left_out() -> None:
    scores = parse_pilot(TEXT, "p.csv")
    assert discordant_counts(scores, ("a", "b"), "p.csv") == (1, 1, 3)
    assert discordant_counts(parse_pilot("\ufeff" + TEXT, "p.csv"), ("b", "a"), "p.csv") == (1, 1, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,endpoint,correct\n", "column 'item_id' is missing"),
        (TEXT + "q1,a,0\n", "line 11: a second answer of 'a' to item 'q1'"),
        (TEXT + "q9,a,right\n", "line 11: correct is 'right'"),
        ("item_id,endpoint,correct\nq1,a,1\n", "no endpoint is called 'b'; it holds a"),
        ("item_id,endpoint,correct\nq1,a,1\nq2,b,1\n", "no item was answered by both"),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(StudyError) as caught:
        discordant_counts(parse_pilot(text, "p.csv"), ("a", "b"), "p.csv")
    assert message in str(caught.value)
    assert str(caught.value).startswith("p.csv")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no such pilot table"):
        read_pilot(tmp_path / "none.csv")
    (tmp_path / "bad.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(StudyError, match="UTF-8"):
        read_pilot(tmp_path / "bad.csv")
