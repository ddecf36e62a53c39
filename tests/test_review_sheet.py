"""Sheets out and back in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from openpyxl import load_workbook

from examgen.errors import InputError
from examgen.records import Decision, ReviewRow
from examgen.review_sheet import read_decisions, to_csv, to_xlsx

ROW = ReviewRow(
    item_id="0001", reason="queue", topic="t", stratum="easy", stem="=1+1, what?", options="A. x\nB. y", key="A",
    evidence="A quote; with, marks", decision="wrong key", correct_letter="B", comment="ö", reviewer="Ann",
)  # fmt: skip
EXPECTED = [Decision(item_id="0001", reviewer="Ann", decision="wrong key", correct_letter="B", comment="ö")]


@pytest.mark.parametrize(("name", "write"), [("sheet.csv", to_csv), ("sheet.xlsx", to_xlsx)])
def test_a_sheet_comes_back(tmp_path: Path, name: str, write: object) -> None:
    (tmp_path / name).write_bytes(write([ROW]))  # type: ignore[operator]
    assert read_decisions(tmp_path / name) == EXPECTED


def test_the_same_rows_give_the_same_bytes() -> None:
    assert to_xlsx([ROW]) == to_xlsx([ROW])


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "sheet.xlsx"
    path.write_bytes(to_xlsx([ROW]))
    sheet = load_workbook(path).active
    assert {cell.data_type for line in sheet.iter_rows() for cell in line} <= {"s", "n"}
    assert b"'=1+1" in to_csv([ROW])


def test_a_spreadsheet_s_semicolons_are_read(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("item_id;decision;reviewer\n0001;accept;Ann\n", encoding="utf-8")
    assert read_decisions(path)[0].decision == "accept"


def test_the_page_s_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "decisions.json"
    path.write_text(json.dumps({"bank_id": "b", "decisions": [EXPECTED[0].model_dump()]}), encoding="utf-8")
    assert read_decisions(path) == EXPECTED


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.csv", None, "no such file"),
        ("sheet.ods", b"x", "decisions are read from"),
        ("sheet.xlsx", b"no archive", "not a readable XLSX"),
        ("sheet.json", b"[1]", "no list of decisions"),
        ("sheet.json", b"{", "not a file of the review page"),
        ("sheet.csv", b"\xff\xfe\x00", "not UTF-8"),
    ],
)
def test_bad_files_say_what_to_do(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_decisions(tmp_path / name)
