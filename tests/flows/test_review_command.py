"""The commands `examgen review export` and `examgen review import` as people use them: out, decided, in, verified."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from openpyxl import load_workbook

from examgen import tables
from examgen.records import LETTERS, BankItem, Decision
from tasks import store
from tests.flows.test_command_line import examgen
from tests.flows.test_size_command import here
from tests.tasks.bank_folder import make_evaluation_folder


def study_file(folder: Path) -> Path:
    place = folder / "small.yaml"
    place.write_text("study: small\ncorpus: {folder: docs}\nseeds: [a query]\n")
    return place


def filled(place: Path, reviewer: str, wrong: int = 0) -> tuple[Path, list[str]]:
    """The exported sheet, filled in by hand: the first row's key is wrong, the second item flawed, the rest fine."""
    book = load_workbook(place)
    sheet = book.active
    head = [cell.value for cell in sheet[1]]
    column = {name: head.index(name) + 1 for name in head}
    names = []
    for row in range(2, sheet.max_row + 1):
        names.append(sheet.cell(row, column["item_id"]).value)
        verdict = {2: "wrong key", 3: "flawed"}.get(row, "accept")
        sheet.cell(row, column["decision"]).value = verdict
        if verdict == "wrong key":
            sheet.cell(row, column["correct_letter"]).value = LETTERS[wrong]
        sheet.cell(row, column["reviewer"]).value = reviewer
    book.save(place)
    return place, names


def test_out_decided_in_and_verified(tmp_path: Path) -> None:
    folder, evaluation, bank = make_evaluation_folder(tmp_path)
    study, sheet = study_file(tmp_path), tmp_path / "ann.xlsx"
    done = examgen("review", "export", str(study), "--to", str(sheet), "--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{sheet}: 12 items to review")
    assert "majority" in done.stdout
    first = load_workbook(sheet).active.cell(2, 1).value
    target = next(item for item in bank if item.item_id == first)
    new = (target.key + 1) % 4
    _, names = filled(sheet, "ann", new)
    page = tmp_path / "ben.json"
    rows = [{"item_id": names[0], "decision": "wrong key", "correct_letter": LETTERS[new], "reviewer": "ben"},
            {"item_id": names[1], "decision": "accept", "reviewer": "ben"}]  # fmt: skip
    page.write_text(json.dumps({"decisions": rows}))
    told = examgen("review", "import", str(study), str(sheet), str(page), "--results", str(tmp_path))
    assert told.returncode == 0, told.stderr
    assert "reviewed by ann, ben" in told.stdout
    assert "Cohen's kappa, ann, ben: " in told.stdout
    assert "next `examgen evaluate` asks about this release" in told.stdout
    release = Path(told.stdout.split(":")[0])
    assert release.parent == folder.parent
    verified = examgen("verify", str(release))
    assert verified.returncode == 0, verified.stderr
    kept = {item.candidate_id: item for item in tables.read_records(str(release / "bank.parquet"), BankItem)}
    second = next(item for item in bank if item.item_id == names[1])
    assert kept[target.candidate_id].key == new
    assert kept[second.candidate_id].flags == ("review: disputed",)
    assert len(tables.read_records(str(release / "decisions.parquet"), Decision)) == len(names) + 2
    manifest = store.read_json(release / "bank.lock.json")
    assert manifest["facts"]["review"]["reviewed_bank"] == folder.name
    assert store.read_json(tmp_path / "small/latest_bank.json")["bank_id"] == manifest["bank_id"] == release.name
    assert evaluation.is_dir()


@pytest.mark.parametrize("kind", ["csv", "parquet", "html"])
def test_every_kind_of_sheet_from_the_evaluation_alone(tmp_path: Path, kind: str) -> None:
    _, evaluation, _ = make_evaluation_folder(tmp_path)
    to = tmp_path / f"sheet.{kind}"
    code, out, err = here("export", str(evaluation), "--to", str(to), command="review")
    assert code == 0, err
    assert "items to review" in out
    assert to.stat().st_size > 1000


def test_a_second_round_keeps_the_decisions_of_the_first(tmp_path: Path) -> None:
    folder, _, bank = make_evaluation_folder(tmp_path)
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text(f"item_id,decision,reviewer\n{bank[0].item_id},flawed,ann\n")
    two.write_text(f"item_id,decision,reviewer\n{bank[1].item_id},flawed,ben\n")
    code, out, err = here("import", str(folder), str(one), command="review")
    assert code == 0, err
    assert "agreement needs two" in out
    first = out.split(":")[0]
    code, out, err = here("import", first, str(two), "--no-use", command="review")
    assert code == 0, err
    last = Path(out.split(":")[0])
    assert examgen("verify", str(last)).returncode == 0
    assert len(tables.read_records(str(last / "bank.parquet"), BankItem)) == len(bank) - 2
    assert {d.reviewer for d in tables.read_records(str(last / "decisions.parquet"), Decision)} == {"ann", "ben"}
    assert len(store.read_json(last / "bank.lock.json")["facts"]["review"]["earlier"]) == 1
    stages = {row["stage"] for row in tables.read_rows(str(last / "funnel.parquet"))}
    assert stages == {"review", "review 2"}
    assert store.read_json(tmp_path / "small/latest_bank.json")["bank_id"] == Path(first).name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["export", "{evaluation}", "--to", "sheet.doc"], "--to names a file that ends in"),
        (["export", "{bank}", "--to", "sheet.csv"], "a bank alone has no queues"),
        (["export", "{here}", "--to", "sheet.csv"], "is no study file, no evaluation folder and no bank folder"),
        (["import", "{bank}", "none.csv"], "none.csv: no such file"),
        (["import", "{bank}", "{here}/two.csv"], "ann decided twice and differently"),
        (["import", "{bank}", "{here}/other.csv"], "is not in this bank"),
    ],
)
def test_wrong_input_is_exit_code_2(tmp_path: Path, words: list[str], said: str) -> None:
    folder, evaluation, bank = make_evaluation_folder(tmp_path)
    head = "item_id,decision,reviewer\n"
    (tmp_path / "two.csv").write_text(f"{head}{bank[0].item_id},flawed,ann\n{bank[0].item_id},accept,ann\n")
    (tmp_path / "other.csv").write_text(f"{head}elsewhere,flawed,ann\n")
    filled_in = [word.format(evaluation=evaluation, bank=folder, here=tmp_path) for word in words]
    code, _, err = here(*filled_in, command="review")
    assert (code, said in err) == (2, True), err
