"""The stages that compute results and write the report: of a whole bank, and of results that came from elsewhere."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from examgen import tables
from examgen.imports import from_csv
from examgen.records import BankItem, EndpointRow, Response, Verdict
from examgen.report.numbers import every, find, value_of
from examgen.study import Sizing, Statistics, parse_study
from tasks import store
from tasks.calibration_stage import FIGURES, calibrate, write_page
from tasks.stages import Done, make_shard
from tests.panels import endpoint, make_funnel
from tests.redux import redux_bank, redux_rows
from tests.tasks.bank_folder import make_evaluation_folder

SETTINGS = Statistics(bootstrap_replicates=200, permutations=2)
STUDY = parse_study({"study": "trial", "title": "Trial", "corpus": {"folder": "x"}, "seeds": ["q"]})


def calibrated(bank: Path, evaluation: Path, work: Path, **more: Any) -> Done:
    depends: dict[str, Any] = {
        "statistics": SETTINGS.model_dump(mode="json"), "sizing": Sizing().model_dump(mode="json"), "nested": [],
        "abstention": False, **more,
    }  # fmt: skip
    shard = make_shard("trial", "calibrate", "c", work, depends, {"bank": str(bank), "evaluation": str(evaluation)})
    done: Done = calibrate.work(shard)  # type: ignore[attr-defined]
    return done


def test_another_bank_of_the_same_panel_stands_beside(tmp_path: Path) -> None:
    bank, evaluation, _ = make_evaluation_folder(tmp_path)
    other = {"name": "earlier bank", "bank": str(bank), "evaluation": str(evaluation)}
    done = calibrated(bank, evaluation, tmp_path / "work", beside=other)
    rows = every(tables.read_rows(done.table("accuracy")), axis="bank and stratum")
    levels = {row["level"] for row in rows}
    assert {"this bank: all", "earlier bank: all", "this bank: easy"} <= levels
    told = {row["bank"] for row in tables.read_rows(done.table("cue_probe"))}
    assert told == {"this bank", "earlier bank"}


def reported(bank: Path, evaluation: Path, results: str, work: Path) -> Path:
    inputs = {"bank": str(bank), "evaluation": str(evaluation), "results": results}
    depends = {"study": STUDY.model_dump(mode="json"), "links": {}}
    done: Done = write_page.work(make_shard("trial", "report", "r", work, depends, inputs))  # type: ignore[attr-defined]
    return Path(done.folder)


def plain(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def verdicts(items: list[BankItem], screener: str, refused: set[int]) -> list[Verdict]:
    return [
        Verdict(candidate_id=item.candidate_id, item_id=item.item_id, screener=screener, family="same-family",
                answerable=True, key_consistent=True, explanation_consistent=True, unique=place not in refused,
                accepted=place not in refused)
        for place, item in enumerate(items)
    ]  # fmt: skip


def test_figures_are_files_and_agreement_is_told(tmp_path: Path) -> None:
    bank, evaluation, items = make_evaluation_folder(tmp_path)
    store.write(bank / "verdicts.parquet", "verdicts", verdicts(items, "one", {0, 1, 2}))
    store.write(bank / "second_verdicts.parquet", "verdicts", verdicts(items, "two", {2, 3}))
    store.write(bank / "funnel.parquet", "funnel", make_funnel())
    done = calibrated(bank, evaluation, tmp_path / "work")
    agreement = tables.read_rows(done.table("agreement"))
    assert value_of(agreement, statistic="percent agreement", scope="2 screeners") == pytest.approx(9 / 12)
    kappa = find(agreement, statistic="Cohen's kappa")
    assert kappa is not None
    assert kappa["scope"] == "first: one, second: two"
    assert kappa["value"] == pytest.approx((9 / 12 - (9 * 10 + 3 * 2) / 144) / (1 - (9 * 10 + 3 * 2) / 144))
    folder = reported(bank, evaluation, done.folder, tmp_path / "work")
    html = (folder / "report.html").read_text("utf-8")
    assert "Agreement of screeners and reviewers" in html
    names = ["funnel", "accuracy", "strata", "topics", "difficulty", "cues"]
    assert sorted(p.stem for p in (folder / FIGURES).glob("*.svg")) == sorted(names)
    for name in names:
        ElementTree.fromstring((folder / FIGURES / f"{name}.svg").read_text("utf-8"))
        assert f'href="figures/{name}.svg"' in html
        assert f'href="figures/{name}.parquet"' in html
        assert tables.read_rows(str(folder / FIGURES / f"{name}.parquet"))


def imported_folder(root: Path, rows: list[dict[str, str]]) -> tuple[Path, Path, list[BankItem]]:
    """A bank of nothing but items, and the answers of 14 models through the import of a CSV."""
    items = redux_bank(rows)
    models = list(rows[0])[6:]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["item_id", "model", "answer"])
    for item, row in zip(items, rows, strict=True):
        writer.writerows([item.item_id, model, row[model]] for model in models)
    found = from_csv(text.getvalue(), items)
    assert found.problems == ()
    by_model: dict[str, list[Response]] = {}
    for response in found.responses:
        by_model.setdefault(response.endpoint_id, []).append(response)
    store.write(root / "bank" / "bank.parquet", "bank", items)
    evaluation = root / "evaluation"
    for name, mine in by_model.items():
        store.write(evaluation / "responses" / f"endpoint_id={name}" / "r.parquet", "responses", mine)
    panel: list[EndpointRow] = [endpoint(name, family=name.split("_")[0]) for name in by_model]
    store.write(evaluation / "endpoints.parquet", "endpoints", panel)
    return root / "bank", evaluation, items


def test_imported_results_become_a_report(tmp_path: Path) -> None:
    """A tenth of MMLU-Redux: no documents, no manifest, no audits, only items and answers of 14 models."""
    rows = redux_rows()[::10]
    bank, evaluation, items = imported_folder(tmp_path, rows)
    done = calibrated(bank, evaluation, tmp_path / "work")
    difficulty = {row["item_id"]: row["misses"] for row in tables.read_rows(done.table("item_difficulty"))}
    sound = [difficulty[i.item_id] >= 4 for i, row in zip(items, rows, strict=True) if row["error_type"] == "ok"]
    wrong = [difficulty[i.item_id] >= 4 for i, row in zip(items, rows, strict=True)
             if row["error_type"] == "wrong_groundtruth"]  # fmt: skip
    assert sum(wrong) / len(wrong) > 0.75
    assert sum(sound) / len(sound) == pytest.approx(0.22, abs=0.05)
    assert len(every(tables.read_rows(done.table("leave_one_out")), statistic="Spearman")) == 14
    html = (reported(bank, evaluation, done.folder, tmp_path / "work") / "report.html").read_text("utf-8")
    text = plain(html)
    assert "without recorded evidence" in text
    assert "How the items were written, audited and screened is not recorded" in text
    assert not re.search(r"\b(nan|None|inf)\b", text)
