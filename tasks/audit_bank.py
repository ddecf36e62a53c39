"""Auditing a bank file: its findings, measures, funnel and HTML report are written to a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from expectations import documents
from expectations.bank_audit import BankAudit, audit_bank
from expectations.bank_page import bank_page, comparison_page, figures
from tasks import store


def audit_file(
    file: str | Path, out: str | Path, mapping: Mapping[str, str] | None = None, suites: str | Path = ""
) -> BankAudit:
    """Audit a bank and write findings.parquet, measures.parquet, funnel.parquet, report.html and data_docs/ under
    `out`.
    """
    audit = audit_bank(file, mapping, suites)
    folder = Path(out)
    store.write(folder / "findings.parquet", "findings", audit.findings)
    store.write(folder / "measures.parquet", "measures", audit.measures())
    store.write(folder / "funnel.parquet", "funnel", audit.funnel())
    store.write_text(folder / "report.html", bank_page(audit))
    documents.build_data_docs([audit.judgement], folder / "data_docs")
    return audit


def audit_facts(audit: BankAudit, folder: Path) -> dict[str, Any]:
    """What a person or a run record is told of an audit, as plain values; the tables hold the rest."""
    return {
        "name": audit.summary.name,
        "headline": audit.summary.headline,
        "columns": audit.bank.layout,
        "rows": audit.bank.rows,
        "items": len(audit.bank.items),
        "accepted": len(audit.judgement.accepted_ids),
        "skipped": list(audit.summary.skipped),
        "findings": [
            {
                "check": check.check_id,
                "severity": check.severity,
                "items": check.count,
                "share": round(check.share, 4),
                "holds": check.reason,
            }
            for check in audit.checks
            if check.count
        ],
        "funnel": [row.model_dump() for row in audit.funnel()],
        "figures": [{"figure": name, "value": value} for name, value in figures(audit.summary)],
        "folder": str(folder.resolve()),
        "report": str((folder / "report.html").resolve()),
        "data_docs": str((folder / "data_docs" / "index.html").resolve()),
    }


def audit_banks(
    file: str, out: str, columns: Mapping[str, str], against: str, against_columns: Mapping[str, str], suites: str
) -> dict[str, Any]:
    """Audit one bank, or two side by side: each into a folder of its own, with comparison.html above them.

    Returns {"banks": facts of each bank, "comparison": path or empty}.
    """
    folder = Path(out)
    if not against:
        return {"banks": [audit_facts(audit_file(file, folder, columns, suites), folder)], "comparison": ""}
    left = audit_file(file, folder / "first", columns, suites)
    right = audit_file(against, folder / "second", against_columns, suites)
    page = folder / "comparison.html"
    store.write_text(page, comparison_page(left, right))
    facts = [audit_facts(left, folder / "first"), audit_facts(right, folder / "second")]
    return {"banks": facts, "comparison": str(page.resolve())}
