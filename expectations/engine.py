"""The engine: one frame against one suite with Great Expectations, every answer accounted for or the run stops."""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import pandas as pd

from examgen.errors import InputError, TableError
from expectations.suites import Check, Suite

_LOCK = threading.Lock()
_EXAMPLES = 20
_LISTS = ("unexpected_list", "unexpected_index_list", "partial_unexpected_list", "partial_unexpected_index_list")
_NOT_NULL = "expect_column_values_to_not_be_null"
_NULL = "expect_column_values_to_be_null"
SLICE = 10_000
"""Rows that are validated at a time: every failing row is several objects in a complete result."""
_ROW_BY_ROW = frozenset(
    {
        "expect_measure_to_be_at_most",
        "expect_measure_to_be_at_least",
        "expect_measure_to_be_below",
        "expect_column_values_to_be_in_set",
        _NOT_NULL,
        _NULL,
    }
)
"""Expectations whose answer for a row rests on that row alone: only these may see a large frame slice by slice."""


@dataclass(frozen=True)
class Outcome:
    """What came of one check: the rows that failed it by id, or, for a check of the whole table, what was observed."""

    check: Check
    success: bool
    rows: tuple[str, ...]
    observed: Mapping[str, Any]
    whole_table: bool
    examined: int


@dataclass(frozen=True)
class Validation:
    """The outcomes of a suite in its order, and the result as JSON with at most twenty examples a check."""

    outcomes: tuple[Outcome, ...]
    result: dict[str, Any]


@lru_cache(maxsize=1)
def _context() -> Any:
    """One ephemeral context a process, silent and private; the custom expectations are registered on the way."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    import expectations.custom  # noqa: F401

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False, metric_calculations=False)
    # The engine reports every exception itself; GX's own log line would print the whole traceback a second time.
    logging.getLogger("great_expectations").setLevel(logging.CRITICAL)
    return context


def prepare() -> None:
    """Import Great Expectations and register the custom expectations; seconds the first time, nothing later."""
    with _LOCK:
        _context()


def _gx_suite(suite: Suite, types: Collection[str]) -> Any:
    """The checks of these types as a suite of Great Expectations."""
    import great_expectations as gx
    from great_expectations.compatibility.pydantic import ValidationError
    from great_expectations.exceptions import GreatExpectationsError
    from great_expectations.expectations.registry import list_registered_expectation_implementations

    known = set(list_registered_expectation_implementations())
    for check in suite.checks.values():
        if check.type not in known:
            raise InputError(f"{suite.path}: {check.check_id}: no expectation is called {check.type!r}")
    try:
        return gx.ExpectationSuite(
            name=suite.name,
            expectations=[asked for asked in suite.content["expectations"] if asked["type"] in types],
            meta=dict(suite.content.get("meta") or {}),
        )
    except (GreatExpectationsError, ValidationError, TypeError, ValueError) as error:
        raise InputError(f"{suite.path}: not a suite that Great Expectations takes: {error}") from error


def validate(frame: pd.DataFrame, suite: Suite, id_column: str) -> Validation:
    """Validate a frame of scalar columns against a suite.

    Fails closed with a `TableError`: an empty frame, an empty or repeated id, a missing column, an exception inside a
    check, a check without an answer, counts that do not agree, empty values that a built-in check would pass over.
    """
    _check_frame(frame, suite, id_column)
    types = {check.type for check in suite.checks.values()}
    apart = types & _ROW_BY_ROW if len(frame) > SLICE else set()
    needed = frame[_needed(suite, id_column)].reset_index(drop=True)
    parts = [(types - apart, needed)] if types - apart else []
    parts += [(apart, needed.iloc[start : start + SLICE]) for start in range(0, len(needed) if apart else 0, SLICE)]
    outcomes: dict[str, list[Outcome]] = {name: [] for name in suite.checks}
    answers: dict[str, dict[str, Any]] = {}
    with _LOCK:
        _context()
        for asked, rows in parts:
            result = _run(rows, _gx_suite(suite, asked), id_column)
            for answer in result["results"]:
                name = answer["expectation_config"]["meta"]["check_id"]
                outcomes[name].append(_outcome(suite, suite.checks[name], answer, id_column))
                _trim(answer)
                answers[name] = _together(answers[name], answer) if name in answers else answer
    for name, found in outcomes.items():
        due = [part for part in parts if suite.checks[name].type in part[0]]
        if len(found) != len(due):
            raise TableError(f"{suite.path}: no answer to {name}: the suite was not judged as a whole")
    said = _whole_result(result, [answers[name] for name in suite.checks])
    return Validation(tuple(_joined(found) for found in outcomes.values()), said)


def _run(rows: pd.DataFrame, gx_suite: Any, id_column: str) -> dict[str, Any]:
    """One validation by Great Expectations, as JSON."""
    source = _context().data_sources.add_or_update_pandas(name="frame")
    batch = (
        source.add_dataframe_asset(name="rows")
        .add_batch_definition_whole_dataframe("whole")
        .get_batch(batch_parameters={"dataframe": rows.reset_index(drop=True)})
    )
    told: dict[str, Any] = batch.validate(
        gx_suite,
        result_format={
            "result_format": "COMPLETE",
            "unexpected_index_column_names": [id_column],
            "return_unexpected_index_query": False,
        },
    ).to_json_dict()
    return told


def _check_frame(frame: pd.DataFrame, suite: Suite, id_column: str) -> None:
    if id_column not in frame.columns:
        raise TableError(f"{suite.name}: the frame has no column {id_column!r}; every row needs an id")
    if not len(frame):
        raise TableError(f"{suite.name}: the frame is empty; an empty frame would pass every check")
    ids = frame[id_column]
    if ids.isna().any() or (ids.astype(str) == "").any():
        raise TableError(f"{suite.name}: a row has no {id_column}")
    if ids.duplicated().any():
        raise TableError(f"{suite.name}: two rows share the {id_column} {ids[ids.duplicated()].iloc[0]!r}")
    for column in _needed(suite, id_column):
        if column not in frame.columns:
            asking = [check.check_id for check in suite.checks.values() if column in check.columns]
            raise TableError(f"{suite.path}: {', '.join(asking)}: the frame has no column {column!r}")


def _needed(suite: Suite, id_column: str) -> list[str]:
    """The columns a suite looks at, with the id."""
    return list(dict.fromkeys([id_column, *(name for check in suite.checks.values() for name in check.columns)]))


def _raised(info: Any) -> str:
    """The message of an exception inside a check; GX keys it by metric, or holds it flat."""
    if not isinstance(info, dict):
        return ""
    if "raised_exception" in info:
        return str(info.get("exception_message") or "unknown exception") if info["raised_exception"] else ""
    messages = [_raised(inner) for inner in info.values()]
    return next((message for message in messages if message), "")


def _outcome(suite: Suite, check: Check, answer: dict[str, Any], id_column: str) -> Outcome:
    where = f"{suite.path}: {check.check_id} ({check.type})"
    problem = _raised(answer.get("exception_info"))
    if problem:
        raise TableError(f"{where}: raised {' '.join(problem.split())[:300]}")
    seen = answer.get("result") or {}
    if "unexpected_count" not in seen:
        if "observed_value" not in seen and not answer["success"] and "details" not in seen:
            raise TableError(f"{where}: failed without saying what it saw")
        return Outcome(check, bool(answer["success"]), (), seen, True, 0)
    rows = [str(row[id_column]) for row in seen.get("unexpected_index_list") or ()]
    if len(rows) != seen["unexpected_count"] or len(set(rows)) != len(rows):
        raise TableError(f"{where}: {seen['unexpected_count']} failures but {len(rows)} ids: they cannot be told apart")
    if "mostly" in check.kwargs:
        raise TableError(f"{where}: `mostly` lets rows fail unseen; leave it out of suites that judge rows")
    if not rows and not answer["success"]:
        raise TableError(f"{where}: failed without naming a row")
    # A column without any value is a success to Great Expectations, whatever the rows say: the rows decide.
    answer["success"] = not rows
    skipped = seen.get("missing_count") or 0
    if skipped and "unmeasured" not in check.kwargs and check.type not in (_NOT_NULL, _NULL):
        raise TableError(
            f"{where}: {skipped} empty values, which this expectation passes over: check for them first, "
            "or use expect_measure_to_be_... with `unmeasured`"
        )
    return Outcome(check, not rows, tuple(rows), {}, False, int(seen["element_count"]))


def _joined(found: list[Outcome]) -> Outcome:
    """The outcome of a check over all slices."""
    rows = tuple(name for one in found for name in one.rows)
    examined = sum(one.examined for one in found)
    return replace(found[0], success=all(one.success for one in found), rows=rows, examined=examined)


def _trim(answer: dict[str, Any]) -> None:
    """Keep twenty failing rows of a check; Data Docs show them by id."""
    seen = answer.get("result", {})
    seen.pop("unexpected_index_query", None)
    for name in _LISTS:
        if name in seen:
            seen[name] = (seen[name] or [])[:_EXAMPLES]


def _together(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Two slices' answers to one check as the answer over both: counts added, shares anew, the first examples."""
    seen, more = first["result"], second["result"]
    told = dict(seen)
    for name in ("element_count", "unexpected_count", "missing_count"):
        if name in seen:
            told[name] = seen[name] + more[name]
    for name in _LISTS:
        if name in seen:
            told[name] = (seen[name] + more[name])[:_EXAMPLES]
    if "partial_unexpected_counts" in seen:
        told["partial_unexpected_counts"] = _most_frequent(seen, more)
    rows, failed, empty = told["element_count"], told["unexpected_count"], told.get("missing_count", 0)
    shares = {
        "unexpected_percent": (failed, rows - empty),
        "unexpected_percent_nonmissing": (failed, rows - empty),
        "unexpected_percent_total": (failed, rows),
        "missing_percent": (empty, rows),
    }
    told |= {name: 100 * part / whole if whole else None for name, (part, whole) in shares.items() if name in seen}
    return {**first, "success": first["success"] and second["success"], "result": told}


def _most_frequent(seen: dict[str, Any], more: dict[str, Any]) -> list[dict[str, Any]]:
    """The failing values of two slices, the most frequent first; each slice told its own twenty."""
    counts: Counter[Any] = Counter()
    for one in (*seen["partial_unexpected_counts"], *more["partial_unexpected_counts"]):
        counts[one["value"]] += one["count"]
    return [{"value": value, "count": count} for value, count in counts.most_common(_EXAMPLES)]


def _whole_result(last: dict[str, Any], answers: list[dict[str, Any]]) -> dict[str, Any]:
    """The result over all slices, the checks in the suite's order."""
    passed = sum(bool(answer["success"]) for answer in answers)
    statistics = {
        "evaluated_expectations": len(answers),
        "successful_expectations": passed,
        "unsuccessful_expectations": len(answers) - passed,
        "success_percent": 100 * passed / len(answers),
    }
    # The time of loading and the fingerprint of the frame would make equal results unequal.
    meta = {"great_expectations_version": last["meta"].get("great_expectations_version", "")}
    return {**last, "success": passed == len(answers), "results": answers, "statistics": statistics, "meta": meta}
