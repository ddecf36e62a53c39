"""The command `examgen estimate` as a person uses it: nothing is asked, nothing is written."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
from pathlib import Path
from unittest import mock

from flows.command_line import main
from tests.flows.test_kill import CORPUS, FILES
from tests.without_prefect import build

STUDY = """\
study: tiny
corpus: {folder: docs}
embedding: {kind: lsa, dimensions: 32}
seeds: [dissemination in space, MOGAD imaging]
writing: {per_subtopic: {easy: 1}, rounds: 1}
endpoints:
  - {id: one, model: m, price_in: 2, price_out: 8}
  - {id: two, model: n}
panel: {orders: 4, repeats: 2, order_scope: bank}
budget: 0.000001
"""


def said(*words: str) -> str:
    out = io.StringIO()
    argv = mock.patch.object(sys, "argv", ["examgen", "estimate", *words])
    with argv, contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main()
    return out.getvalue()


def test_before_and_after_a_bank_is_there(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in FILES[:2]:
        shutil.copy2(CORPUS / name, tmp_path / "docs" / name)
    study, results = tmp_path / "study.yaml", tmp_path / "results"
    study.write_text(STUDY)
    before = said(str(study), "--results", str(results))
    assert "guessed from the sizes of 2 files" in before
    assert not results.exists(), "an estimate writes nothing"
    assert "unknown" in before
    assert "No price_in and price_out: two." in before
    assert "The budget of 1e-06 will stop this run" in before
    items = build(str(study), str(results))["items"]
    after = said(str(study), "--results", str(results))
    assert "passages, as last read" in after
    assert f"{items} items, as last locked" in after
    assert f"{items * 4 * 2} " in after.split("panel")[1]
