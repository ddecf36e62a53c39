"""The commands `examgen export` and `examgen import` as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import yaml

from examgen import tables
from examgen.records import BankItem, EndpointRow, Response
from tasks.evaluation_folder import response_path
from tasks.workplace import Workplace
from tests.flows.test_command_line import examgen
from tests.tasks.bank_folder import make_bank_folder


def evaluation_of(stdout: str) -> Path:
    return Path(stdout.splitlines()[0].rsplit(", in ", 1)[1])


def samples(bank: list[BankItem], place: Path, *, right: int) -> Path:
    """lm-eval samples whose likelihoods choose the key of the first `right` items and another option of the rest."""
    lines = []
    for number, item in enumerate(bank):
        chosen = item.key if number < right else (item.key + 1) % len(item.options)
        likelihoods = [[-0.1 if place == chosen else -3.0, False] for place in range(len(item.options))]
        lines.append(json.dumps({"doc": {"item_id": item.item_id}, "filtered_resps": likelihoods}))
    place.write_text("\n".join(lines) + "\n")
    return place


def test_exports_are_read_by_what_they_are_for(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path)
    for tool in ("lm-eval", "inspect", "huggingface"):
        done = examgen("export", str(folder), "--to", tool, str(tmp_path / tool), "--licence", "cc-by-4.0")
        assert done.returncode == 0, done.stderr
        assert "Use: " in done.stdout
    task = yaml.safe_load((tmp_path / "lm-eval" / "small.yaml").read_text())
    assert task["task"] == "small"
    assert len((tmp_path / "inspect" / "small_inspect.jsonl").read_text().splitlines()) == len(bank)
    assert pq.read_table(tmp_path / "huggingface" / "data" / "test.parquet").num_rows == len(bank)
    assert "license: cc-by-4.0" in (tmp_path / "huggingface" / "README.md").read_text()
    again = examgen("export", str(folder), "--to", "inspect", str(tmp_path / "inspect"))
    assert (again.returncode, "is there already" in again.stderr) == (2, True)
    none = examgen("export", str(tmp_path), "--to", "inspect", str(tmp_path / "x"))
    assert (none.returncode, "no bank.parquet" in none.stderr) == (2, True)


def test_imported_answers_are_an_evaluation(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path)
    rows = ["item_id,model,answer", *(f"{item.item_id},org/one,{item.key_letter}" for item in bank)]
    rows += [f"{item.item_id},two,The answer is {item.key_letter}." for item in bank[:5]] + ["nope,two,A"]
    (tmp_path / "answers.csv").write_text("\n".join(rows) + "\n")
    likely = samples(bank, tmp_path / "samples.jsonl", right=4)
    done = examgen(
        "import", str(tmp_path / "answers.csv"), str(likely), "--bank", str(folder), "--model", "vendor/three",
        "--overlap", "org/one",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "5 of 12 items  incomplete" in done.stdout
    assert "not used: answers.csv: line 19: the bank has no item 'nope'" in done.stdout
    evaluation = evaluation_of(done.stdout)
    endpoints = {
        row.endpoint_id: row for row in tables.read_records(str(evaluation / "endpoints.parquet"), EndpointRow)
    }
    assert {name: (row.role, row.complete) for name, row in endpoints.items()} == {
        "org-one": ("construction_overlap", True),
        "two": ("primary", False),
        "vendor-three": ("primary", True),
    }
    found = tables.read_records(str(response_path(evaluation, "vendor-three")), Response)
    assert sum(row.correct is True for row in found) == 4
    assert Workplace(tmp_path, "small").latest("evaluation")["folder"] == str(evaluation)
    assert "nope" in (evaluation / "evaluation.json").read_text()


def test_what_cannot_be_imported_is_named(tmp_path: Path) -> None:
    folder, _ = make_bank_folder(tmp_path)
    (tmp_path / "a.csv").write_text("item_id,model,answer\nx,m,A\n")
    (tmp_path / "a.eval").write_bytes(b"PK nothing")
    (tmp_path / "a.txt").write_text("hello")
    for name, message in (
        ("a.csv", "holds no answer to an item of this bank"),
        ("a.eval", "cannot be read as a log of Inspect"),
        ("a.txt", "say what it is with --format"),
        ("b.csv", "no such file"),
    ):
        done = examgen("import", str(tmp_path / name), "--bank", str(folder))
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr
        assert name in done.stderr
    done = examgen("import", str(tmp_path / "a.csv"), "--bank", str(tmp_path))
    assert (done.returncode, "give a folder under" in done.stderr) == (2, True)
