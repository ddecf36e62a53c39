"""A rerun on a changed corpus: items keep their ids and their place, the panel is asked about new ones alone."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from typer.testing import CliRunner

from examgen.tables import read_rows
from expectations import documents
from flows.command_line import app
from tasks import store
from tasks.run_record import records
from tasks.verification import verify_bank
from tasks.workplace import Workplace
from tests import without_prefect
from tests.flows.test_kill import CORPUS
from tests.stub_server import StubServer

KEPT, GONE, ADDED = "15_nmosd_imaging.md", "16_mogad_imaging.md", "02_mcdonald_2017_criteria.md"
PANEL = ("one", "two", "three", "four", "five")
ENDPOINTS = "\n".join(f"  - {{id: {name}, base_url: URL, model: {name}, role: primary}}" for name in PANEL)
STUDY = f"""\
study: tiny
corpus: {{folder: docs}}
seeds: [NMOSD spinal cord, MOGAD imaging, McDonald criteria]
retrieval: {{passages_per_seed: 2, passage_cap: 6}}
taxonomy: {{subtopics_per_topic: 2}}
writing: {{per_subtopic: {{easy: 1, medium: 1, hard: 0, synthesis: 0}}, rounds: 1}}
endpoints:
{ENDPOINTS}
statistics: {{bootstrap_replicates: 100, permutations: 5}}
"""


@dataclass
class Runs:
    """A study whose documents change between runs."""

    folder: Path
    stub: StubServer

    @property
    def place(self) -> Workplace:
        return Workplace(self.folder / "results", "tiny")

    def run(self) -> int:
        """Run it all; the calls it cost."""
        before = self.stub.calls
        without_prefect.run(str(self.folder / "study.yaml"), str(self.folder / "results"))
        return self.stub.calls - before

    def bank(self) -> Path:
        return Path(self.place.latest("bank")["folder"])

    def release(self) -> Path:
        return Path((self.place.pointer("release") or {})["folder"])

    def with_documents(self, *names: str, edited: bool) -> None:
        docs = self.folder / "docs"
        shutil.rmtree(docs, ignore_errors=True)
        docs.mkdir(parents=True)
        for name in names:
            shutil.copy2(CORPUS / name, docs / name)
        if edited:
            place = docs / KEPT
            text = place.read_text(encoding="utf-8")
            head, mark, rest = text.partition("\n## ")
            place.write_text(f"{head}\nThis section was revised by its authors.\n{mark}{rest}", encoding="utf-8")


def ids(bank: Path) -> set[str]:
    return {row["item_id"] for row in read_rows(str(bank / "bank.parquet"))}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    folder = tmp_path_factory.mktemp("releases")
    with StubServer() as stub, mock.patch.object(documents, "build_data_docs", lambda _, place: place.mkdir()):
        (folder / "study.yaml").write_text(STUDY.replace("URL", stub.base_url))
        yield Runs(folder, stub)


@pytest.mark.timeout(900)
def test_a_changed_corpus_makes_a_release(runs: Runs) -> None:
    runs.with_documents(KEPT, GONE, edited=False)
    calls = runs.run()
    first = runs.bank()
    before = ids(first)
    assert calls == len(PANEL) * len(before)
    assert "parent" not in store.read_json(first / "bank.lock.json")["facts"]
    assert not (runs.place.root / "releases").exists()

    runs.with_documents(KEPT, ADDED, edited=True)
    calls = runs.run()
    second = runs.bank()
    after = ids(second)
    assert store.read_json(second / "bank.lock.json")["facts"]["parent"] == first.name
    assert verify_bank(second)[0].endswith("holds")
    assert calls == len(PANEL) * len(after - before), "0 calls for items that stayed"

    rows = read_rows(str(runs.release() / "bank_diff.parquet"))
    status = {row["item_id"]: row["status"] for row in rows}
    assert {name for name, said in status.items() if said == "kept"} == before & after
    assert {name for name, said in status.items() if said == "retired"} == before - after
    assert {name for name, said in status.items() if said == "new"} == after - before
    check_reasons(first, rows)
    check_sets(runs, rows)


def check_reasons(first: Path, rows: list[dict[str, Any]]) -> None:
    """Items of the removed document went with it; the others stand in the edited one and stayed, under its subtopics.

    Where two subtopics became one, some find their place taken: they passed, and are superseded.
    """
    path = {row["source_id"]: row["path"] for row in read_rows(str(first / "sources.parquet"))}
    of = {
        row["item_id"]: {path[evidence["source_id"]] for evidence in row["evidence"]}
        for row in read_rows(str(first / "bank.parquet"))
    }
    reason = {row["item_id"]: (row["status"], row["reason"]) for row in rows}
    lost = {name for name, paths in of.items() if GONE in paths}
    assert lost
    assert {reason[name] for name in lost} == {("retired", "document removed")}
    stayed = Counter(reason[name] for name in of.keys() - lost)
    assert stayed.keys() <= {
        ("kept", "evidence stands in the edited document"), ("kept", "under another subtopic"),
        ("retired", "superseded"),
    }  # fmt: skip
    assert stayed["retired", "superseded"] < stayed.total() / 2
    assert {row["reason"] for row in rows if row["status"] == "new"} <= {
        "document added", "chosen anew", "passage changed", "subtopic new",
    }  # fmt: skip


def check_sets(runs: Runs, rows: list[dict[str, Any]]) -> None:
    """Sets by the panel's answers to the bank before; retired items whole, in a table."""
    sets = {row["item_id"]: row for row in read_rows(str(runs.release() / "release_sets.parquet"))}
    assert set(sets) == ids(runs.bank())
    new = {row["item_id"] for row in rows if row["status"] == "new"}
    assert {name for name, row in sets.items() if row["release_set"] == "refreshed"} == new
    for name in sets.keys() - new:
        assert sets[name]["release_set"] == ("stress" if sets[name]["misses"] >= 2 else "core")
    gone = read_rows(str(runs.release() / "retired.parquet"))
    assert {row["item_id"] for row in gone} == {row["item_id"] for row in rows if row["status"] == "retired"}
    assert all(row["stem"] and row["outcome"] == "superseded" for row in gone)


@pytest.mark.timeout(900)
def test_an_unchanged_rerun_of_a_release_does_nothing(runs: Runs) -> None:
    bank, release = runs.bank(), runs.release()
    calls = runs.run()
    assert (runs.bank(), runs.release(), calls) == (bank, release, 0)
    last = sorted(records(runs.place).values(), key=lambda record: record["number"])[-4:]
    assert Counter(shard["did"] for record in last for shard in record["shards"]).keys() == {"found"}


@pytest.mark.timeout(900)
def test_documents_that_come_back_bring_their_bank_back(runs: Runs) -> None:
    second = runs.bank()
    first = runs.place.banks / store.read_json(second / "bank.lock.json")["facts"]["parent"]
    runs.with_documents(KEPT, GONE, edited=False)
    calls = runs.run()
    assert (runs.bank(), calls) == (first, 0)
    runs.with_documents(KEPT, ADDED, edited=True)
    calls = runs.run()
    assert (runs.bank(), calls) == (second, 0)


@pytest.mark.timeout(900)
def test_the_commands(runs: Runs, tmp_path: Path) -> None:
    second = runs.bank()
    first = runs.place.banks / store.read_json(second / "bank.lock.json")["facts"]["parent"]
    page, table = tmp_path / "diff.html", tmp_path / "diff.parquet"
    said = CliRunner().invoke(app, ["diff", str(first), str(second), "--html", str(page), "--table", str(table)])
    assert said.exit_code == 0, said.output
    assert "| retired | document removed |" in said.output
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert read_rows(str(table)) == read_rows(str(runs.release() / "bank_diff.parquet"))
    journals = sorted(runs.place.replies.rglob("*"))
    cleaned = CliRunner().invoke(
        app, ["clean", str(runs.folder / "study.yaml"), "--results", str(runs.folder / "results")]
    )
    assert cleaned.exit_code == 0, cleaned.output
    assert sorted(runs.place.replies.rglob("*")) == journals
    assert first.is_dir()
    calls = runs.run()
    assert (runs.bank(), calls) == (second, 0)
