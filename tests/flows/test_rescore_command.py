"""The command `examgen rescore` as a person uses it."""

from __future__ import annotations

from pathlib import Path

from examgen import tables
from examgen.answers import PARSER_VERSION
from examgen.records import Response
from tasks import store
from tasks.evaluation_folder import response_path
from tests.flows.test_command_line import examgen
from tests.flows.test_exchange_command import evaluation_of
from tests.tasks.bank_folder import make_bank_folder


def test_stored_replies_are_read_again(tmp_path: Path) -> None:
    folder, bank = make_bank_folder(tmp_path)
    text = "".join(f"{item.item_id},m,The answer is {item.key_letter}.\n" for item in bank)
    (tmp_path / "answers.csv").write_text("item_id,model,answer\n" + text)
    evaluation = evaluation_of(examgen("import", str(tmp_path / "answers.csv"), "--bank", str(folder)).stdout)
    same = examgen("rescore", str(evaluation))
    assert same.returncode == 0, same.stderr
    assert f"0 of {len(bank)} rows changed, 0 requests" in same.stdout
    assert "stays as it is" in same.stdout

    place = response_path(evaluation, "m")
    good = tables.read_records(str(place), Response)
    old = {"status": "unparseable", "choice": None, "correct": None, "rule": "imported_old", "parser_version": "0"}
    store.write(place, "responses", [row.model_copy(update=old) for row in good])
    before = place.read_bytes()
    done = examgen("rescore", str(evaluation))
    assert done.returncode == 0, done.stderr
    assert f"{len(bank)} of {len(bank)} rows changed, 0 requests; parser 0 → {PARSER_VERSION}" in done.stdout
    assert "unparseable → parsed" in done.stdout
    assert place.read_bytes() == before, "the old evaluation stays as it is"
    rescored = Path(done.stdout.splitlines()[-1].split(": written")[0])
    assert tables.read_records(str(response_path(rescored, "m")), Response) == good
    assert "0 of" in examgen("rescore", str(rescored)).stdout


def test_an_evaluation_that_names_no_bank(tmp_path: Path) -> None:
    (tmp_path / "s" / "evaluations" / "e").mkdir(parents=True)
    done = examgen("rescore", str(tmp_path / "s" / "evaluations" / "e"))
    assert (done.returncode, "--bank" in done.stderr) == (2, True)
    done = examgen("rescore", str(tmp_path))
    assert (done.returncode, "give a folder under" in done.stderr) == (2, True)
