"""Acceptance: items are accepted or rejected by what the suites say, and by nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from examgen.audits import AuditItem, audit_items, duplicates, measure_items
from examgen.errors import TableError
from examgen.ids import digest
from examgen.records import BankItem, Candidate, Chunk, Finding
from expectations import engine
from expectations.suites import SEVERITIES, Check, Suite, load_suite

ITEM_SUITE = "item_acceptance"
DUPLICATE_SUITE = "item_duplicates"
_ROUNDS = 25


@dataclass(frozen=True)
class Judgement:
    """What a suite said of a frame: every offered item is accepted or rejected, and each finding says why."""

    suite: str
    suite_hash: str
    accepted_ids: tuple[str, ...]
    rejected_ids: tuple[str, ...]
    findings: list[Finding]
    table_findings: list[Finding] = field(default_factory=list)
    examined: dict[str, int] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)

    def funnel(self) -> dict[str, int]:
        """Rejected items by the first check of the suite that they failed."""
        first: dict[str, str] = {}
        for finding in self.findings:
            if finding.severity == "reject":
                first.setdefault(finding.candidate_id, finding.check_id)
        return dict(Counter(first.values()))


class _Columns:
    """Columns of a frame as lists, each read once: a row of a wide frame is dear to reach."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame
        self._lists: dict[str, list[Any]] = {}

    def value(self, column: str, place: int) -> Any:
        """The value of a column in a row; empty where the frame has no such column."""
        if column not in self._lists:
            known = column in self._frame.columns
            self._lists[column] = self._frame[column].tolist() if known else [""] * len(self._frame)
        return self._lists[column][place]


def _finding(columns: _Columns, place: int, suite: Suite, check: Check) -> Finding:
    value = columns.value(check.column, place)
    detail = str(columns.value(f"{check.column}_seen", place))
    measured = isinstance(value, int | float) and not pd.isna(value)
    told = f"{float(value):g}" if measured else "not measured" if pd.isna(value) else str(value)[:200]
    return Finding.model_construct(
        candidate_id=str(columns.value("candidate_id", place)),
        item_id=str(columns.value("item_id", place)),
        suite=suite.name,
        expectation=check.type,
        check_id=check.check_id,
        severity="reject" if SEVERITIES[check.severity] == "reject" else "flag",
        observed=f"{told} ({detail})" if detail else told,
        limit=check.limit,
        reason=check.reason,
        partner=str(columns.value(check.partner, place)) if check.partner else "",
        score=float(value) if measured else None,
    )


def _check_floor(frame: pd.DataFrame, suite: Suite) -> None:
    """A limit below the similarity from which pairs were looked for would accept what was never compared."""
    floor = frame.attrs.get("floor")
    for check in suite.checks.values():
        if floor is not None and check.column in duplicates.SCORED and float(check.kwargs.get("limit", 1)) < floor:
            raise TableError(
                f"{suite.path}: {check.check_id}: the limit {check.kwargs['limit']} is below the similarity from "
                f"which pairs "
                f"were looked for ({floor}): measure with floor={check.kwargs['limit']}"
            )


def search_floor(suites: str | Path, suite: str, limits: Mapping[str, float] | None = None) -> float:
    """The similarity from which pairs must be looked for: the lowest limit that a suite judges them by."""
    asked = load_suite(suites, suite, limits)
    found = [check.kwargs.get("limit") for check in asked.checks.values() if check.column in duplicates.SCORED]
    return min((float(limit) for limit in found if limit is not None), default=duplicates.FLOOR)


def judge(
    frame: pd.DataFrame, suites: str | Path, suite: str, limits: Mapping[str, float] | None = None
) -> Judgement:
    """Judge a frame of measures (see `examgen.audits.measure`) by the suite `<suites>/<suite>.json`; `limits` by
    column take the place of the suite's.

    A failed check of severity critical rejects the item, any other flags it. A critical check of the whole table that
    fails is a `TableError`. Accepted and rejected add up to the rows offered.
    """
    asked = load_suite(suites, suite, limits)
    _check_floor(frame, asked)
    validation = engine.validate(frame, asked, "candidate_id")
    places = {str(name): place for place, name in enumerate(frame["candidate_id"])}
    columns = _Columns(frame)
    findings: list[Finding] = []
    table_findings: list[Finding] = []
    for outcome in validation.outcomes:
        if outcome.whole_table and not outcome.success:
            table_findings.append(_table_finding(asked, outcome))
        findings += [_finding(columns, places[name], asked, outcome.check) for name in outcome.rows]
    rejected = {finding.candidate_id for finding in findings if finding.severity == "reject"}
    accepted_ids = tuple(name for name in places if name not in rejected)
    rejected_ids = tuple(name for name in places if name in rejected)
    if len(accepted_ids) + len(rejected_ids) != len(frame) or not rejected <= set(places):
        raise TableError(
            f"{suite}: {len(accepted_ids)} accepted and {len(rejected_ids)} rejected of {len(frame)} offered"
        )
    findings.sort(key=lambda finding: places[finding.candidate_id])
    examined = {outcome.check.check_id: outcome.examined for outcome in validation.outcomes}
    return Judgement(
        asked.name, asked.hash, accepted_ids, rejected_ids, findings, table_findings, examined, validation.result
    )


def _table_finding(suite: Suite, outcome: engine.Outcome) -> Finding:
    check = outcome.check
    observed = str(outcome.observed.get("observed_value", outcome.observed.get("details", "")))
    if SEVERITIES[check.severity] == "reject":
        raise TableError(f"{suite.path}: {check.check_id}: {check.reason} Observed {observed}, expected {check.limit}")
    return Finding(
        candidate_id="",
        item_id="",
        suite=suite.name,
        expectation=check.type,
        check_id=check.check_id,
        severity="flag",
        observed=observed,
        limit=check.limit,
        reason=check.reason,
    )


@dataclass(frozen=True)
class Acceptance:
    """The whole audit of a set of items: the frame of measures, and both judgements put together."""

    frame: pd.DataFrame
    accepted_ids: tuple[str, ...]
    rejected_ids: tuple[str, ...]
    findings: list[Finding]
    judgements: tuple[Judgement, ...]
    suite_hash: str


def accept(
    candidates: Sequence[Candidate | BankItem | AuditItem],
    chunks: Mapping[str, Chunk] | None,
    vectors: Mapping[str, np.ndarray] | None = None,
    suites: str | Path = "",
    earlier: Sequence[Candidate | BankItem | AuditItem] = (),
    item_suite: str = ITEM_SUITE,
    duplicate_suite: str = DUPLICATE_SUITE,
    limits: Mapping[str, float] | None = None,
) -> Acceptance:
    """Audit candidates by the item suite, then those that passed by the duplicate suite.

    Each survivor is compared with the survivors before it and with `earlier` (already accepted items, never rejected
    here), so that nothing is dropped as the duplicate of an item that is itself dropped. Pairs are looked for from the
    lowest limit that the duplicate suite sets, or `limits` in its place.
    """
    items, known = audit_items(candidates), audit_items(earlier)
    frame = measure_items(items, chunks)
    first = judge(frame, suites, item_suite)
    passed = set(first.accepted_ids)
    offered = [item for item in items if item.row_id in passed]
    if not offered:
        return Acceptance(frame, (), first.rejected_ids, first.findings, (first,), first.suite_hash)
    columns, second = _without_duplicates(frame, known, offered, vectors, suites, duplicate_suite, limits)
    frame = frame.join(columns)
    accepted = set(second.accepted_ids)
    return Acceptance(
        frame=frame,
        accepted_ids=tuple(i.row_id for i in items if i.row_id in accepted),
        rejected_ids=tuple(i.row_id for i in items if i.row_id not in accepted),
        findings=first.findings + second.findings,
        judgements=(first, second),
        suite_hash=digest("suites", first.suite_hash, second.suite_hash),
    )


def _without_duplicates(
    frame: pd.DataFrame,
    known: list[AuditItem],
    offered: list[AuditItem],
    vectors: Mapping[str, np.ndarray] | None,
    suites: str | Path,
    suite: str,
    limits: Mapping[str, float] | None,
) -> tuple[pd.DataFrame, Judgement]:
    """Judge duplicates until nobody's partner is a rejected item; each round settles at least one more link of a
    chain.
    """
    everyone = known + offered
    floor = search_floor(suites, suite, limits)
    pairs = duplicates.find_pairs(everyone, vectors, floor)
    texts = frame.loc[[item.row_id for item in offered], ["candidate_id", "item_id", "topic", "stratum", "key_letter"]]
    rejected: frozenset[str] = frozenset()
    for _ in range(_ROUNDS):
        columns = duplicates.duplicate_columns(everyone, pairs, bool(vectors), rejected).iloc[len(known) :]
        judged = pd.concat([texts, columns], axis=1)
        judged.attrs["floor"] = floor
        judgement = judge(judged, suites, suite, limits)
        if frozenset(judgement.rejected_ids) == rejected:
            break
        rejected = frozenset(judgement.rejected_ids)
    return columns, judgement
