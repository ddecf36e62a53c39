"""The audit of anybody's bank: measures, the suite `external_bank`, a summary, and the funnel of what was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from examgen.audits import AuditItem, measure, measure_rows
from examgen.audits.bank_summary import BankSummary, Probe, default_probe, summarise
from examgen.audits.external import ExternalBank, read_bank
from examgen.errors import BankError
from examgen.records import Finding, FunnelRow
from expectations.acceptance import Judgement, judge
from expectations.suites import load_suite

SUITE = "external_bank"


@dataclass(frozen=True)
class CheckCount:
    """How many items a check found wanting."""

    check_id: str
    severity: str
    reason: str
    source: str
    count: int
    share: float


@dataclass(frozen=True)
class BankAudit:
    """The audit of one bank."""

    bank: ExternalBank
    summary: BankSummary
    judgement: Judgement
    frame: pd.DataFrame
    checks: tuple[CheckCount, ...]

    @property
    def findings(self) -> list[Finding]:
        """Findings of the items, then those of the bank as a whole (without an item id)."""
        return self.judgement.findings + self.judgement.table_findings

    def measures(self) -> list[dict[str, Any]]:
        """Rows of the table `measures`."""
        return measure_rows(self.frame)

    def funnel(self) -> list[FunnelRow]:
        """Rows read, left out with the reason, rejected by the first check failed, and accepted: they add up."""
        unread = Counter(reason for _, reason in self.bank.left_out)
        rejected = self.judgement.funnel()
        rows = [FunnelRow(stage="read", stratum="", outcome="entered", count=self.bank.rows)]
        rows += [
            FunnelRow(stage="read", stratum="", outcome="rejected", reason=reason, count=count)
            for reason, count in sorted(unread.items())
        ]
        rows.append(FunnelRow(stage="read", stratum="", outcome="accepted", count=len(self.bank.items)))
        rows.append(FunnelRow(stage="audit", stratum="", outcome="entered", count=len(self.bank.items)))
        rows += [
            FunnelRow(stage="audit", stratum="", outcome="rejected", reason=check, count=count)
            for check, count in sorted(rejected.items())
        ]
        rows.append(FunnelRow(stage="audit", stratum="", outcome="accepted", count=len(self.judgement.accepted_ids)))
        return rows


def _counts(judgement: Judgement, items: Sequence[AuditItem], suites: str | Path) -> tuple[CheckCount, ...]:
    found = Counter(finding.check_id for finding in judgement.findings)
    raw: dict[str, Any] = {}
    suite = load_suite(suites, SUITE)
    for expectation in suite.content["expectations"]:
        raw[expectation["meta"]["check_id"]] = expectation["meta"].get("source", "")
    counts = [
        CheckCount(
            check.check_id,
            "reject" if check.severity == "critical" else "flag",
            check.reason,
            raw[check.check_id],
            found[check.check_id],
            found[check.check_id] / len(items),
        )
        for check in suite.checks.values()
        if check.column != "key_letter"
    ]
    return tuple(sorted(counts, key=lambda count: (-count.count, count.check_id)))


def audit_items_of(bank: ExternalBank, suites: str | Path = "", probing: Probe | None = default_probe) -> BankAudit:
    """Audit a bank that has been read; `BankError` where it holds no usable item."""
    if not bank.items:
        reasons = Counter(reason for _, reason in bank.left_out).most_common(3)
        told = "; ".join(f"{count} x {reason}" for reason, count in reasons)
        raise BankError(f"{bank.path}: no row could be read as an item ({told}): give a mapping of its columns")
    frame = measure(bank.items, None)
    judgement = judge(frame, suites, SUITE)
    summary = summarise(Path(bank.path).name, bank.items, probing)
    return BankAudit(bank, summary, judgement, frame, _counts(judgement, bank.items, suites))


def audit_bank(
    path: str | Path,
    mapping: Mapping[str, str] | None = None,
    suites: str | Path = "",
    probing: Probe | None = default_probe,
) -> BankAudit:
    """Read and audit a bank file (see `examgen.audits.external.read_bank` for what is read)."""
    return audit_items_of(read_bank(path, mapping), suites, probing)
