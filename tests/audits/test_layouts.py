"""Odd files of other people's banks: each gives the right items, or one clear line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from examgen.audits.external import ExternalBank, read_bank
from examgen.errors import BankError

HEAD = "Question,A,B,C,D,Answer\n"
ROWS = "Where is it?,Pons,Cord,Eye,Arm,B\nWhat is it?,a rim,a vein,a plaque,a cyst,D\n"


def keys(bank: ExternalBank) -> list[str]:
    return [item.key_text for item in bank.items]


def saved(folder: Path, name: str, content: str | bytes | list[dict[str, Any]]) -> Path:
    place = folder / name
    if isinstance(content, list):
        content = "\n".join(json.dumps(row) for row in content)
    place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return place


@pytest.mark.parametrize(
    ("name", "content", "note"),
    [
        ("plain.csv", HEAD + ROWS, ""),
        ("bom.csv", b"\xef\xbb\xbf" + (HEAD + ROWS).encode(), ""),
        ("semicolon.csv", (HEAD + ROWS).replace(",", ";"), "separated by semicolon"),
        ("commas_within.csv", (HEAD + ROWS).replace(",", ";").replace("it?", "it, then?"), "separated by semicolon"),
        ("tabs.tsv", (HEAD + ROWS).replace(",", "\t"), ""),
        ("utf16.csv", (HEAD + ROWS).encode("utf-16"), "UTF-16"),
        ("carriage.csv", (HEAD + ROWS).replace("\n", "\r\n"), ""),
        ("latin.csv", (HEAD + ROWS).replace("rim", "Säule").encode("latin-1"), "not UTF-8"),
        ("no_header.csv", ROWS, "no header"),
        ("ragged.csv", "Where is it?,Pons,Cord,Eye,Arm,B\nWhich?,a rim,a cyst,B\n" + ROWS[33:], "no header"),
    ],
)
def test_files_as_programs_write_them(tmp_path: Path, name: str, content: str | bytes, note: str) -> None:
    bank = read_bank(saved(tmp_path, name, content))
    assert keys(bank)[0] == "Cord"
    assert keys(bank)[-1] == "a cyst"
    assert not bank.left_out
    assert note in bank.layout
    if name == "latin.csv":
        assert bank.items[1].options[0] == "a Säule"


ITEM = {"question": "Where?", "choices": ["Pons", "Eye", "Arm", "Leg"]}
ONE = json.dumps({**ITEM, "answer": "C"})


@pytest.mark.parametrize(
    ("rows", "way"),
    [
        ([{**ITEM, "answer": "C"}], "key as label"),
        ([{**ITEM, "answer": " (c). "}], "key as label"),
        ([{**ITEM, "answer": "Option C"}], "key as label"),
        ([{**ITEM, "answer": "C) Arm"}], "key as label"),
        ([{**ITEM, "answer": "arm"}], "key as text"),
        ([{**ITEM, "answer": 2}, {**ITEM, "answer": 0}], "counted from 0"),
        ([{**ITEM, "answer": "3"}, {**ITEM, "answer": "4"}], "counted from 1"),
        ([{**ITEM, "answer": 2}], "give counted_from=1"),
        ([{**ITEM, "answer": ["C"]}], "key as label"),
        ([{**ITEM, "answer": [0, 0, 1, 0]}], "key as text"),
        ([{**ITEM, "answer": [False, False, True, False]}], "key as text"),
        ([{**ITEM, "choices": {"text": ["Pons", "Eye", "Arm"], "label": ["1", "2", "3"]}, "answer": "3"}], "label"),
        ([{**ITEM, "choices": {"A": "Pons", "B": "Eye", "C": "Arm", "D": None}, "answer": "C"}], "label"),
        ([{**ITEM, "choices": [{"id": "x", "text": "Pons"}, {"id": "y", "text": "Arm"}], "answer": "y"}], "label"),
        ([{**ITEM, "choices": "['Pons' 'Eye'\n 'Arm' \"Leg\"]", "answer": "C"}], "label"),
        ([{**ITEM, "choices": "{'text': array(['x', 'Arm']), 'label': ['A', 'B']}", "answer": "B"}], "label"),
        ([{**ITEM, "choices": "A) Pons B) Arm C) Leg", "answer": "B"}], "label"),
        ([{**ITEM, "choices": "a ) Pons , b ) Arm , c ) Leg", "answer": "b"}], "label"),
        ([{"question": "W?", "option_1": "Pons", "option_2": "Arm", "option_3": "Leg", "answer": "2"}], "label"),
        ([{"question": "W?", "ending0": "Pons", "ending1": "Arm", "ending2": "Leg", "label": 1}], "label"),
        ([{"question": "W?", "correct_answer": "Arm", "incorrect_answers": ["Leg", "Pons"]}], "ours"),
        ([{"question": "W?", "Correct Answer": "Arm", "Incorrect Answer 1": "a", "Incorrect Answer 2": ""}], "ours"),
        ([{"Question Text": "W?", "Option A": "Pons", "Option B": "Arm", "Correct Option": "B"}], "label"),
    ],
)  # fmt: skip
def test_ways_to_write_options_and_keys(tmp_path: Path, rows: list[dict[str, Any]], way: str) -> None:
    bank = read_bank(saved(tmp_path, "a.jsonl", rows))
    assert keys(bank)[0] == "Arm"
    assert way in bank.layout
    assert not bank.left_out


def test_a_number_is_read_the_same_way_in_the_whole_bank(tmp_path: Path) -> None:
    """"2" is the third option where the others count from 0, although it is the text of the first."""
    rows = [{**ITEM, "answer": n % 4} for n in range(8)]
    rows.append({"question": "2 x 3?", "choices": list("2468"), "answer": 2})
    assert keys(read_bank(saved(tmp_path, "a.jsonl", rows)))[-1] == "6"
    rows = [{"question": f"{n} + 1?", "choices": ["1", "2", "3"], "answer": str(n + 1)} for n in range(3)]
    assert keys(read_bank(saved(tmp_path, "b.jsonl", rows))) == ["1", "2", "3"]


@pytest.mark.parametrize(
    "whole",
    [
        [{**ITEM, "answer": 2}, {**ITEM, "answer": 0}],
        {"data": [{**ITEM, "answer": 2}, {**ITEM, "answer": 0}]},
        {"0": {**ITEM, "answer": 2}, "1": {**ITEM, "answer": 0}},
        {"question": ["W?", "V?"], "choices": [ITEM["choices"]] * 2, "answer": [2, 0]},
        {"rows": [{"row_idx": 0, "row": {**ITEM, "answer": 2}}, {"row_idx": 1, "row": {**ITEM, "answer": 0}}]},
    ],
)
def test_shapes_of_json(tmp_path: Path, whole: Any) -> None:
    assert keys(read_bank(saved(tmp_path, "a.json", json.dumps(whole)))) == ["Arm", "Pons"]


def test_one_item_alone_is_a_bank(tmp_path: Path) -> None:
    assert keys(read_bank(saved(tmp_path, "a.json", json.dumps({**ITEM, "answer": "C"})))) == ["Arm"]


def test_a_separator_of_lines_inside_a_text_ends_no_line(tmp_path: Path) -> None:
    row = json.dumps({**ITEM, "question": "Where\u2028then?", "answer": "C"}, ensure_ascii=False)
    assert keys(read_bank(saved(tmp_path, "a.jsonl", row))) == ["Arm"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.jsonl", ONE + '\n{"question": "Wh\n' + ONE, "JSON"),
        ("a.csv", HEAD + ROWS + "One, two, three: which?,a,b,c,d,A\n" + ROWS, "8 cells where the header has 6"),
        ("b.csv", HEAD + ROWS + '"Left open,a,b,c,d,A\n' + ROWS, "cannot be cut into cells"),
        ("c.csv", HEAD + ROWS + "Cut off,a,b\n" + ROWS, "no key is given"),
    ],
)  # fmt: skip
def test_one_broken_line_costs_itself_alone(tmp_path: Path, name: str, content: str, reason: str) -> None:
    bank = read_bank(saved(tmp_path, name, content))
    assert len(bank.items) == (4 if name.endswith(".csv") else 2)
    assert [reason in told for _, told in bank.left_out] == [True]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", "", "is empty"),
        ("blank.jsonl", " \n\n", "is empty"),
        ("head.csv", HEAD, "holds no rows of items"),
        ("a.json", "{", "is no JSON: "),
        ("a.jsonl", "{\n{", "line 1: is no JSON"),
        ("a.json", "[1, 2]", "row 1: is int, no mapping"),
        ("a.csv", b"PK\x03\x04\x00\x00", "is no text file"),
        ("a.docx", "x", "files ending in .docx are not read"),
        ("a", "x", "files without an ending are not read"),
        ("a.parquet", "no parquet", "cannot be read as parquet"),
        ("a.gift", "only words", "a description without answers"),
        ("a.csv", "Frage,A,B,Answer\nWo?,x,y,A\n", "which column holds the stem (its columns are Frage, A, B, Answer"),
        ("a.csv", "Question,eins,zwei,Answer\nWo?,x,y,A\n", "--column \"options=A|B|C|D\""),
        ("a.csv", "Question,Options,Answer\nWo?,x,A\n", "which column holds the options"),
        ("a.csv", HEAD + "Where?,a,b,c,d,Z\n", "no row could be read as an item"),
    ],
)
def test_what_cannot_be_audited_is_one_line(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    from expectations.bank_audit import audit_bank

    with pytest.raises(BankError) as caught:
        audit_bank(saved(tmp_path, name, content))
    assert message in str(caught.value)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("mapping", "wanted"),
    [
        ({"stem": "Frage"}, "Pons"),
        ({"stem": "frage", "key": "Answer"}, "Pons"),
        ({"stem": "Frage", "key": "Second opinion"}, "Cord"),
        ({"stem": "Frage", "options": "B|A", "key": "Answer"}, "Cord"),
        ({"stem": "Frage", "options": "A|B", "key": "No", "counted_from": "1"}, "Cord"),
        ({"stem": "Frage", "topic": "Fach"}, "Pons"),
    ],
)
def test_a_mapping_may_be_partial(tmp_path: Path, mapping: dict[str, str], wanted: str) -> None:
    text = "Frage,A,B,C,Answer,Second opinion,No,Fach\nWo?,Pons,Cord,Eye,A,B,2,Anatomie\n"
    bank = read_bank(saved(tmp_path, "a.csv", text), mapping)
    assert keys(bank) == [wanted]
    assert bank.items[0].topic == ("Anatomie" if "topic" in mapping else "a")


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"sten": "Frage"}, "there is no field 'sten': did you mean 'stem'?"),
        ({"stem": "Frag"}, "has no column 'Frag', given as stem (nearest: 'Frage'); its columns are Frage, A, B"),
        ({"stem": "Frage", "options": "A|Z"}, "has no column 'Z', given as options; its columns"),
        ({"stem": "Frage", "options": "A"}, "column 'A' holds 'Pons', no list of options"),
        ({"stem": "Frage|A"}, "stem=Frage|A: give one column"),
        ({"stem": "Frage", "counted_from": "2"}, "counted_from=2: say 0 or 1"),
    ],
)
def test_a_wrong_mapping_is_named(tmp_path: Path, mapping: dict[str, str], message: str) -> None:
    with pytest.raises(BankError) as caught:
        read_bank(saved(tmp_path, "a.csv", "Frage,A,B,Answer\nWo?,Pons,Cord,A\n"), mapping)
    assert message in str(caught.value)


def test_two_to_ten_options(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "choices": list("qrstuvwxyzk")[:n], "answer": 0} for n in range(1, 12)]
    bank = read_bank(saved(tmp_path, "a.jsonl", rows))
    assert [len(item.options) for item in bank.items] == list(range(2, 11))
    assert [told for _, told in bank.left_out] == [f"{n} options; 2 to 10 are audited" for n in (1, 11)]
    head = "question," + ",".join("ABCDEFGHIJ") + ",answer\n"
    ten = read_bank(saved(tmp_path, "b.csv", head + "Q?,a,b,c,d,e,f,g,h,i,j,J\nP?,a,b,c,,,,,,,,C\n"))
    assert [(len(item.options), item.key_text) for item in ten.items] == [(10, "j"), (3, "c")]


GIFT = r"""
// comment between

$CATEGORY: $course$/top/brain

::Q1:: Which sign is \= in 5 \: 1 \{ratio\}? {
// a comment inside
=first \~ one#right
~second \# one#wrong
~third\nline
}

// $CATEGORY: ignored
::Q2::Pick {~a ~=b ~c}

::Q3::Pick{
~%100%a
~%0%b
}
"""


def test_gift_with_comments_categories_and_escapes(tmp_path: Path) -> None:
    bank = read_bank(saved(tmp_path, "a.gift", GIFT))
    first = bank.items[0]
    assert first.stem == "Which sign is = in 5 : 1 {ratio}?"
    assert first.options == ("first ~ one", "second # one", "third\nline")
    assert first.topic == "$course$/top/brain"
    assert keys(bank)[0] == "first ~ one"
    assert keys(bank)[-1] == "a"
    with pytest.raises(BankError, match="GIFT has no columns"):
        read_bank(tmp_path / "a.gift", {"stem": "x"})
