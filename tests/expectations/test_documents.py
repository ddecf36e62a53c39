"""Data Docs and the bank report open offline: nothing in them is asked of another place."""

from __future__ import annotations

import json
import re

import pytest

from examgen.audits import AuditItem
from examgen.audits.external import ExternalBank
from expectations import bank_audit, bank_page, documents

REMOTE = re.compile(r"""(?:src|href|url|action)\s*[=(]\s*["']?\s*(?:https?:)?//""", re.IGNORECASE)


@pytest.fixture(scope="module")
def audit():
    items = [
        AuditItem(
            f"i{n}",
            f"Which site is affected in case {n} & why <now>?",
            ("Pons", "The whole long cord", "Eye", "All of the above"),
            n % 2,
            topic=f"t{n % 3}",
            candidate_id=f"c{n}",
        )
        for n in range(24)
    ]
    bank = ExternalBank("a.csv", tuple(items), (("row 25", "1 options; 2 to 10 are audited"),), "stem=question")
    return bank_audit.audit_items_of(bank, probing=None)


def test_pages_are_self_contained_and_linked(audit, tmp_path):
    index = documents.build_data_docs([audit.judgement], tmp_path)
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) == 3
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not REMOTE.search(text), page
        assert "<style>" in text
        for link in re.findall(r'href="([^"#]+)"', text):
            assert (page.parent / link).exists(), (page, link)
    assert "external_bank" in index.read_text(encoding="utf-8")
    assert "c3" in next(p for p in pages if p.parent.name == "validations").read_text(encoding="utf-8")


def test_results_survive_json(audit, tmp_path):
    stored = json.loads(json.dumps(audit.judgement.result))
    documents.build_data_docs([stored], tmp_path)
    assert list((tmp_path / "validations").glob("*.html"))


def test_report_leads_with_the_cue_and_escapes_the_bank(audit):
    page = bank_page.bank_page(audit)
    assert not REMOTE.search(page)
    assert audit.summary.headline in page
    assert "&lt;now&gt;" in page
    assert "needs the sources" in page
    assert "flaws.all_of_the_above" in page


def test_funnel_of_an_outside_bank_adds_up(audit):
    rows = audit.funnel()
    for stage in ("read", "audit"):
        entered = sum(row.count for row in rows if row.stage == stage and row.outcome == "entered")
        assert entered == sum(row.count for row in rows if row.stage == stage and row.outcome != "entered")


def test_two_banks_side_by_side(audit):
    page = bank_page.comparison_page(audit, audit)
    assert not REMOTE.search(page)
    assert page.count(audit.summary.headline) == 2
