"""A broken table stops the run with a message that names the table and the check."""

from __future__ import annotations

import pytest

from examgen import ids
from examgen.errors import TableError
from examgen.records import BankItem, Chunk, Evidence, FunnelRow, Response, Source
from expectations import contracts
from expectations.suites import SUITES, load_suite

TEXT = "The pons is infratentorial."
OPTIONS = ("Pons", "Cord", "Eye", "Arm")


def chunk(**changes):
    return (
        Chunk(
            chunk_id="k",
            content_hash=ids.content_hash(TEXT),
            source_id="s",
            path="a",
            start=0,
            end=len(TEXT),
            ordinal=0,
            text=TEXT,
        ).model_dump()
        | changes
    )


def bank(**changes):
    row = BankItem(
        item_id=ids.item_id("Where?", OPTIONS, "Cord"),
        candidate_id="c",
        topic_id="t",
        topic="T",
        subtopic="S",
        stratum="easy",
        stem="Where?",
        options=OPTIONS,
        key=1,
        key_letter="B",
        explanation="x",
        writer="w",
        evidence=(Evidence(source_id="s", chunk_id="k", quote="q", start=0, end=1),),
    )
    return row.model_dump() | changes


def response(**changes):
    return Response(item_id="i", endpoint_id="e", status="parsed", correct=True, choice=1).model_dump() | changes


def source(**changes):
    return (
        Source(source_id="s", path="a.md", media_type="text/markdown", bytes=3, status="indexed", chunks=2).model_dump()
        | changes
    )


def result(**changes):
    row = {
        "endpoint_id": "e",
        "topic": "T",
        "statistic": "accuracy",
        "value": 0.5,
        "low": 0.4,
        "high": 0.6,
        "method": "m",
        "n": 9,
        "seed": None,
        "note": "",
    }
    return row | changes


BROKEN = [
    ("chunks", chunk(end=3), "chunks.span"),
    ("chunks", chunk(text=" ", end=1), "chunks.text"),
    ("chunks", chunk(content_hash="x"), "chunks.hash"),
    ("bank", bank(key=4), "bank.key"),
    ("bank", bank(key_letter="A"), "bank.letter"),
    ("bank", bank(stem="Elsewhere?"), "bank.item_id"),
    ("bank", bank(evidence=()), "bank.evidence"),
    ("bank", bank(options=("Pons", "Cord")), "bank.options"),
    ("bank", bank(stratum="odd"), "bank.stratum"),
    ("responses", response(correct=None), "responses.correct"),
    ("responses", response(status="error"), "responses.correct"),
    ("responses", response(choice=None), "responses.choice"),
    ("responses", response(status="lost"), "responses.status"),
    ("sources", source(status="unreadable"), "sources.reason"),
    ("sources", source(chunks=0), "sources.indexed_chunks"),
    ("topic_accuracy", result(low=0.7), "results.interval"),
    ("topic_accuracy", result(value=float("inf"), high=None), "results.finite"),
    ("accuracy", result(value=1.2, low=None, high=None), "accuracy.range"),
]


@pytest.mark.parametrize(
    "row",
    [
        ("chunks", chunk()),
        ("bank", bank()),
        ("responses", response()),
        ("sources", source()),
        ("topic_accuracy", result()),
        ("accuracy", result()),
        ("accuracy", result(statistic="accuracy change", value=-0.1, low=None, high=None)),
        ("responses", response(status="error", correct=None, choice=None)),
    ],
)
def test_whole_tables_pass(row):
    assert contracts.check(row[0], [row[1]])["success"]


@pytest.mark.parametrize(("table", "row", "check"), BROKEN)
def test_broken_tables_are_named(table, row, check):
    with pytest.raises(TableError, match=rf"table {table} breaks its contract.*{check}"):
        contracts.check(table, [row])


@pytest.mark.parametrize(
    ("table", "row"), [("chunks", chunk()), ("bank", bank()), ("responses", response()), ("sources", source())]
)
def test_repeated_rows_are_refused(table, row):
    with pytest.raises(TableError, match="names one row"):
        contracts.check(table, [row, row])


def test_the_funnel_adds_up():
    rows = [
        FunnelRow(stage="audit", stratum="easy", outcome="entered", count=5),
        FunnelRow(stage="audit", stratum="easy", outcome="accepted", count=3),
        FunnelRow(stage="audit", stratum="easy", outcome="rejected", reason="x", count=2),
    ]
    assert contracts.check("funnel", [row.model_dump() for row in rows])["success"]
    with pytest.raises(TableError, match=r"funnel\.balance"):
        contracts.check("funnel", [row.model_dump() for row in rows[:2]])


def test_empty_tables():
    with pytest.raises(TableError, match="table bank is empty"):
        contracts.check("bank", [])
    assert contracts.check("contrasts", []) == {}
    assert contracts.check("calls", []) == {}


def test_every_contract_of_the_suites_is_tested_here():
    tested = {check for _, _, check in BROKEN} | {"funnel.balance"}
    columns = {
        "expect_column_values_to_be_unique",
        "expect_column_values_to_not_be_null",
        "expect_column_values_to_be_between",
        "expect_column_values_to_be_in_set",
        "expect_table_row_count_to_be_between",
    }
    for path in SUITES.glob("table_*.json"):
        for check in load_suite(SUITES, path.stem).checks.values():
            known = (
                check.check_id in tested
                or check.type in columns
                or check.check_id in ("accuracy.interval", "topics.labels")
            )
            assert known, check.check_id
