"""Contracts of the tables: what must hold of a table as a whole, judged by the suites `table_<name>.json`.

A broken contract stops the run with a message, unlike a failed item, which is only rejected.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from examgen import ids
from examgen.audits.items import words
from examgen.errors import TableError
from examgen.records import LETTERS
from expectations import engine
from expectations.suites import SUITES, load_suite

Row = Mapping[str, Any]


def _sources(row: Row) -> dict[str, Any]:
    indexed = row["status"] == "indexed"
    return {
        "reason_missing": int(not indexed and not row["reason"]),
        "indexed_without_chunks": int(indexed and not row["chunks"]),
    }


def _chunks(row: Row) -> dict[str, Any]:
    return {
        "span_mismatch": abs(row["end"] - row["start"] - len(row["text"])),
        "empty_text": int(not row["text"].strip()),
        "hash_mismatch": int(ids.content_hash(row["text"]) != row["content_hash"]),
    }


def _topics(row: Row) -> dict[str, Any]:
    return {"empty_labels": int(not words(row["topic"])) + int(not words(row["subtopic"]))}


def _bank(row: Row) -> dict[str, Any]:
    options = list(row["options"])
    known = 0 <= row["key"] < len(options)
    key_text = options[row["key"]] if known else ""
    return {
        "options_not_four": int(len(options) != 4),
        "key_out_of_range": int(not known),
        "letter_mismatch": int(not known or LETTERS[row["key"]] != row["key_letter"]),
        "id_mismatch": int(ids.item_id(row["stem"], options, key_text) != row["item_id"]),
        "without_evidence": int(not len(row["evidence"])),
    }


def _responses(row: Row) -> dict[str, Any]:
    parsed = row["status"] == "parsed"
    return {
        "row_key": f"{row['item_id']} {row['endpoint_id']} {row['order']} {row['repeat']} {row['mode']}",
        "correct_without_parse": int(parsed != (row["correct"] is not None)),
        "choice_without_parse": int(parsed != (row["choice"] is not None)),
    }


def _interval(row: Row) -> dict[str, Any]:
    low, value, high = row["low"], row["value"], row["high"]
    known = None not in (low, value, high)
    wrong = known and not low - 1e-9 <= value <= high + 1e-9
    finite = all(number is None or math.isfinite(number) for number in (low, value, high))
    return {"interval_wrong": int(wrong), "not_finite": int(not finite)}


def _accuracy(row: Row) -> dict[str, Any]:
    numbers = [number for number in (row["low"], row["value"], row["high"]) if number is not None]
    share = row["statistic"].startswith("accuracy") and row["statistic"] != "accuracy change"
    return {**_interval(row), "share_out_of_range": int(share and not all(-1e-9 <= n <= 1 + 1e-9 for n in numbers))}


_DERIVED: dict[str, Callable[[Row], dict[str, Any]]] = {
    "sources": _sources,
    "chunks": _chunks,
    "topics": _topics,
    "bank": _bank,
    "responses": _responses,
    "accuracy": _accuracy,
}
_RESULTS = ("topic_accuracy", "contrasts", "cue_probe", "option_order", "leave_one_out", "reliability", "construction")


def _balances(rows: Sequence[Row]) -> list[int]:
    """How far each row's stage and stratum is from adding up."""
    sums: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows:
        sums[row["stage"], row["stratum"]] += row["count"] if row["outcome"] == "entered" else -row["count"]
    return [abs(sums[row["stage"], row["stratum"]]) for row in rows]


def _plain(value: Any) -> Any:
    """None for what pandas calls missing; lists and records stay as they are."""
    missing = value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value))
    return None if missing else value


def contract_name(table: str) -> str:
    """The suite that holds for a table; empty where none does."""
    if (SUITES / f"table_{table}.json").exists():
        return f"table_{table}"
    return "table_results" if table in _RESULTS else ""


def _scalar_frame(table: str, rows: Sequence[Row]) -> pd.DataFrame:
    """The scalar columns of the rows and what the contract derives of them; `row_id` numbers the rows."""
    derive = _DERIVED.get(table, _interval if table in _RESULTS else None)
    plain = [
        {
            **{name: value for name, value in row.items() if not isinstance(value, list | tuple | dict)},
            **(derive(row) if derive else {}),
            "row_id": f"row {number}",
        }
        for number, row in enumerate(rows)
    ]
    frame = pd.DataFrame(plain)
    if table == "funnel":
        frame["imbalance"] = _balances(rows)
    return frame


def check(table: str, rows: pd.DataFrame | Sequence[Row], suites: str | Path = "") -> dict[str, Any]:
    """Check the rows of a table (a frame or plain dictionaries) against its contract.

    Returns the validation result for Data Docs; a table without a contract returns {}. Raises `TableError` that names
    the table, the check, the number of bad rows and the first of them. An empty table breaks its contract, except
    results tables, which may have nothing to tell.
    """
    name = contract_name(table)
    if not name:
        return {}
    plain: list[Row] = (
        [{str(k): _plain(v) for k, v in row.items()} for row in rows.to_dict("records")]
        if isinstance(rows, pd.DataFrame)
        else list(rows)
    )
    if not plain and table in _RESULTS:
        return {}
    if not plain:
        raise TableError(f"table {table} is empty")
    try:
        frame = _scalar_frame(table, plain)
    except KeyError as error:
        raise TableError(f"table {table}: a row has no column {error.args[0]!r}") from error
    validation = engine.validate(frame, load_suite(suites or SUITES, name), "row_id")
    problems = []
    for outcome in validation.outcomes:
        if not outcome.success and outcome.check.severity == "critical":
            told = f"{len(outcome.rows)} rows, first {outcome.rows[0]}" if outcome.rows else f"{dict(outcome.observed)}"
            problems.append(f"{outcome.check.check_id}: {outcome.check.reason} ({told})")
    if problems:
        raise TableError(f"table {table} breaks its contract: {'; '.join(problems)}")
    return validation.result
