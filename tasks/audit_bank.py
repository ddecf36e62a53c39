"""Auditing a bank file: its findings, measures, funnel and HTML report are written to a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from expectations import documents
from expectations.bank_audit import BankAudit, audit_bank
from expectations.bank_page import bank_page, comparison_page
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


def compare_files(
    first: str | Path, second: str | Path, out: str | Path, suites: str | Path = ""
) -> tuple[BankAudit, BankAudit]:
    """Audit two banks, each into a folder of its own, and write comparison.html beside them."""
    folder = Path(out)
    left = audit_file(first, folder / "first", suites=suites)
    right = audit_file(second, folder / "second", suites=suites)
    store.write_text(folder / "comparison.html", comparison_page(left, right))
    return left, right
