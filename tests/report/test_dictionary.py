"""The data dictionary."""

from __future__ import annotations

from pathlib import Path

from examgen.report.dictionary import ABOUT, COLUMNS, dictionary, markdown, refreshed
from examgen.tables import SCHEMAS


def test_every_table_and_column_is_there() -> None:
    found = {entry["table"]: entry for entry in dictionary()}
    assert set(found) == set(SCHEMAS)
    for name, schema in SCHEMAS.items():
        assert found[name]["about"], name
        assert [column["name"] for column in found[name]["columns"]] == schema.names


def test_every_column_is_explained() -> None:
    unexplained = [
        f"{entry['table']}.{column['name']}"
        for entry in dictionary()
        for column in entry["columns"]
        if not column["meaning"]
    ]
    assert unexplained == []


def test_notes_speak_of_columns_that_exist() -> None:
    names = {column for schema in SCHEMAS.values() for column in schema.names}
    whole = {f"{table}.{column}" for table, schema in SCHEMAS.items() for column in schema.names}
    assert set(COLUMNS) <= names | whole
    assert set(ABOUT) <= set(SCHEMAS)


def test_the_markdown_is_a_table_a_table() -> None:
    assert markdown().count("### ") == len(SCHEMAS)


def test_the_analyst_s_page_is_up_to_date() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "analyst.md").read_text("utf-8")
    assert refreshed(page) == page
