"""What each edit re-does: the table of docs/operating.md, a row a test, by real edits of a tiny study.

Every row starts from the same finished run. Which shards were done is read from the records of the runs, what was paid
from the stub endpoint and the count of embeddings. Source edits are made in a copy of the sources that the code
versions are taken from; Data Docs, which only cost time here, are left out.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from examgen import prompts
from examgen.tables import read_rows
from expectations import documents
from flows import item_rounds
from tasks import code_version, run_record, tally
from tasks.workplace import Workplace
from tests import stub_author, without_prefect
from tests.flows.test_kill import CORPUS, ROOT
from tests.stub_server import StubServer

FILES = ("15_nmosd_imaging.md", "16_mogad_imaging.md")
NEW_FILE = "02_mcdonald_2017_criteria.md"

STUDY = """\
study: tiny
title: A tiny study
corpus: {{folder: docs}}
embedding: {{kind: minilm}}
seeds: [MOGAD imaging, NMOSD spinal cord]
checklist: [spinal cord]
retrieval: {{passages_per_seed: 2, passage_cap: 6}}
taxonomy: {{method: {taxonomy}, endpoint: {author}, subtopics_per_topic: 2}}
writing: {{method: {writing}, endpoint: {author}, rounds: 1,
          per_subtopic: {{easy: 1, medium: 1, hard: 0, synthesis: 0}}, lexicons: lexicons}}
audits: {{suites: suites}}
screen: {{method: {writing}, endpoint: {author}, context: stored}}
endpoints:
  - {{id: stub, base_url: "{url}", model: stub, concurrency: 4}}
  - {{id: author, base_url: "{url}", model: author, concurrency: 4, max_tokens: 900}}
  - {{id: longest, kind: baseline, model: longest}}
panel: {{endpoints: [stub, longest], shard_items: 500}}
statistics: {{bootstrap_replicates: 100, permutations: 5}}
report: {{examples_per_stratum: 1}}
"""


@dataclass
class Bench:
    """A finished tiny study that is put back before each edit."""

    folder: Path
    stub: StubServer
    sources: Path
    prompts: Path
    asked: Counter[str] = field(default_factory=Counter)
    whole: Counter[str] = field(default_factory=Counter)
    embedded: int = 0
    passages: int = 0
    read: int = 0
    done: Counter[str] = field(default_factory=Counter)
    done_at_first: Counter[str] = field(default_factory=Counter)

    @property
    def study(self) -> Path:
        return self.folder / "now" / "study.yaml"

    @property
    def docs(self) -> Path:
        return self.folder / "now" / "docs"

    @property
    def root(self) -> Path:
        return self.folder / "now" / "results" / "tiny"

    def keep(self) -> None:
        """Remember the finished run; the copies keep their times, so that nothing looks edited."""
        self.whole, self.done_at_first = self.asked, self.done
        shutil.copytree(self.folder / "now", self.folder / "base")
        shutil.copytree(self.sources, self.folder / "sources-base")

    def put_back(self) -> None:
        for name in ("now", "sources"):
            shutil.rmtree(self.folder / name)
        shutil.copytree(self.folder / "base", self.folder / "now")
        shutil.copytree(self.folder / "sources-base", self.sources)

    def run(self) -> None:
        code_version.forget_sources()
        prompts.load.cache_clear()
        before, embedded, readings = len(self.stub.bodies), tally.count("embeddings"), self._readings()
        last = self._last()
        without_prefect.run(str(self.study), str(self.folder / "now" / "results"))
        self.asked = Counter(map(purpose, self.stub.bodies[before:]))
        self.embedded, self.read = tally.count("embeddings") - embedded, self._readings() - readings
        shards = [
            shard for record in run_record.records(Workplace(self.root.parent, "tiny")).values()
            if record["number"] > last for shard in record["shards"]
        ]  # fmt: skip
        assert {shard["did"] for shard in shards} <= {"done", "found"}
        self.done = Counter(shard["stage"] for shard in shards if shard["did"] == "done")
        indexes = [s["key"] for s in shards if s["stage"] == "index" and s["did"] == "done"]
        self.passages = sum(
            run_record.store.read_json(self.root / "work" / "index" / key / "done.json")["counts"]["embedded"]
            for key in indexes
        )

    def _readings(self) -> int:
        return len(list((self.root / "texts" / "readings").glob("*")))

    def _last(self) -> int:
        known = run_record.records(Workplace(self.root.parent, "tiny"))
        return max((record["number"] for record in known.values()), default=0)

    def rows(self, table: str, which: str = "now") -> list[dict[str, Any]]:
        """A table of the latest bank of now, or of the finished run."""
        pointer = run_record.store.read_json(self.folder / which / "results" / "tiny" / "latest_bank.json")
        return read_rows(f"{self.root}/bank/{pointer['bank_id']}/{table}.parquet")

    def new(self, table: str, column: str) -> set[str]:
        """Names in a column of a table that the finished run did not have."""
        before = {row[column] for row in self.rows(table, "base")}
        return {row[column] for row in self.rows(table)} - before


def purpose(body: dict[str, Any]) -> str:
    """What a prompt asks for."""
    text = body["messages"][0]["content"]
    known = {"Below are": "taxonomy", "You write": "write", "Check one": "screen"}
    return next((name for start, name in known.items() if text.startswith(start)), "panel")


def make_bench(folder: Path, stub: StubServer, taxonomy: str, writing: str) -> Iterator[Bench]:
    bench = Bench(folder, stub, folder / "sources", folder / "sources" / "examgen" / "prompts")
    bench.docs.mkdir(parents=True)
    for name in FILES:
        shutil.copy2(CORPUS / name, bench.docs / name)
    shutil.copytree(ROOT / "expectations" / "suites", folder / "now" / "suites")
    shutil.copytree(ROOT / "data" / "lexicons", folder / "now" / "lexicons")
    author = "author" if writing == "llm" else '""'
    bench.study.write_text(STUDY.format(url=stub.base_url, taxonomy=taxonomy, writing=writing, author=author))
    for package in ("examgen", "expectations", "tasks"):
        shutil.copytree(ROOT / package, bench.sources / package, ignore=shutil.ignore_patterns("__pycache__", "vendor"))
    with mock.patch.object(code_version, "_file_of", lambda module: file_in(bench.sources, module)), mock.patch.object(
        prompts, "__file__", str(bench.prompts / "__init__.py")
    ), mock.patch.object(item_rounds, "PROJECT", bench.sources), mock.patch.object(
        documents, "build_data_docs", lambda _, folder: folder.mkdir()
    ), mock.patch.object(run_record, "RUNS_KEPT", 1000):  # fmt: skip
        bench.run()
        bench.keep()
        yield bench
    code_version.forget_sources()
    prompts.load.cache_clear()


def file_in(sources: Path, module: str) -> Path | None:
    base = sources.joinpath(*module.split("."))
    return next((p for p in (base / "__init__.py", base.with_suffix(".py")) if p.is_file()), None)


@pytest.fixture(scope="module")
def stub() -> Iterator[StubServer]:
    with StubServer(reply=stub_author.reply) as server:
        yield server


@pytest.fixture(scope="module")
def by_rules(tmp_path_factory: pytest.TempPathFactory, stub: StubServer) -> Iterator[Bench]:
    yield from make_bench(tmp_path_factory.mktemp("rules"), stub, "headings", "rules")


@pytest.fixture(scope="module")
def by_model(tmp_path_factory: pytest.TempPathFactory, stub: StubServer) -> Iterator[Bench]:
    yield from make_bench(tmp_path_factory.mktemp("model"), stub, "llm", "llm")


def edit(place: Path, before: str, after: str) -> None:
    text = place.read_text(encoding="utf-8")
    assert before in text, f"{place}: {before}"
    place.write_text(text.replace(before, after, 1), encoding="utf-8")


def in_study(before: str, after: str) -> Callable[[Bench], None]:
    return lambda bench: edit(bench.study, before, after)


def in_source(file: str, before: str, after: str) -> Callable[[Bench], None]:
    return lambda bench: edit(bench.sources / file, before, after)


def in_suite(name: str, before: str, after: str) -> Callable[[Bench], None]:
    return lambda bench: edit(bench.study.parent / "suites" / f"{name}.json", before, after)


def touched(bench: Bench) -> None:
    for name in FILES:
        (bench.docs / name).touch()


def added(bench: Bench) -> None:
    shutil.copy2(CORPUS / NEW_FILE, bench.docs / NEW_FILE)


def removed(bench: Bench) -> None:
    (bench.docs / FILES[1]).unlink()


def renamed(bench: Bench) -> None:
    (bench.docs / FILES[1]).rename(bench.docs / "z_renamed.md")


def moved(bench: Bench) -> None:
    bench.docs.rename(bench.docs.with_name("elsewhere"))
    edit(bench.study, "folder: docs", "folder: elsewhere")


def edited(bench: Bench) -> None:
    edit(bench.docs / FILES[0], "serum is the preferred sample", "serum is the recommended sample")


def in_lexicon(bench: Bench) -> None:
    place = sorted((bench.study.parent / "lexicons").glob("*"))[0]
    place.write_text(place.read_text(encoding="utf-8") + "\n", encoding="utf-8")


def endpoint_added(bench: Bench) -> None:
    edit(
        bench.study,
        "  - {id: longest",
        f'  - {{id: other, base_url: "{bench.stub.base_url}", model: other}}\n  - {{id: longest',
    )
    edit(bench.study, "endpoints: [stub,", "endpoints: [stub, other,")


@dataclass(frozen=True)
class Row:
    """An edit, the stages it re-does, and which calls it costs: "none", "new" (items new to an endpoint) or "all"."""

    edit: Callable[[Bench], None]
    stages: str
    calls: str = "none"
    files: int = 0


BANK = "lock release panel compact calibrate report"
ROWS = {
    "nothing": Row(lambda _: None, ""),
    "times of the documents": Row(touched, ""),
    "a document edited": Row(edited, f"read index taxonomy write carry audit screen {BANK}", "new", files=1),
    "a document added": Row(added, f"read index taxonomy write carry audit screen {BANK}", "new", files=1),
    "a document removed": Row(removed, f"read index taxonomy write carry audit screen {BANK}", "new"),
    "a document renamed": Row(renamed, f"read index {BANK}"),
    "the folder of the documents": Row(moved, "report"),
    "size of passages": Row(
        in_study("embedding:", "chunking: {size: 900, overlap: 100}\nembedding:"),
        f"read index taxonomy write audit screen {BANK}",
        "new",
    ),
    "embedder": Row(
        in_study("kind: minilm", "kind: lsa, dimensions: 32"), f"index taxonomy write audit screen {BANK}", "new"
    ),
    "a seed": Row(
        in_study("[MOGAD imaging,", "[MOGAD imaging, optic nerve,"), f"taxonomy write audit screen {BANK}", "new"
    ),
    "the checklist": Row(in_study("[spinal cord]", "[spinal cord, optic nerve]"), f"taxonomy {BANK}"),
    "items per subtopic": Row(in_study("hard: 0", "hard: 1"), f"write audit screen {BANK}", "new"),
    "a lexicon": Row(in_lexicon, "write audit screen lock"),
    "a threshold of the item suites": Row(
        in_suite("item_acceptance", '"limit": 4,', '"limit": 3,'), f"audit screen {BANK}"
    ),
    "the suite of the final audit": Row(in_suite("final_bank", '"name"', '"note": "ours", "name"'), "lock"),
    "context of the screen": Row(in_study("context: stored", "context: fresh"), f"screen {BANK}"),
    "an endpoint added": Row(endpoint_added, "panel compact calibrate report", "all"),
    "decoding of an endpoint": Row(
        in_study("model: stub,", "model: stub, temperature: 0.5,"), "panel compact calibrate report", "all"
    ),
    "pace of an endpoint": Row(in_study("model: stub, concurrency: 4", "model: stub, concurrency: 2"), "report"),
    "role of an endpoint": Row(
        in_study("model: stub,", "model: stub, role: primary, group: API,"), "compact calibrate report"
    ),
    "statistics": Row(in_study("permutations: 5", "permutations: 6"), "calibrate report"),
    "sizing": Row(in_study("statistics:", "sizing: {alpha: 0.01}\nstatistics:"), "calibrate report"),
    "report": Row(in_study("examples_per_stratum: 1", "examples_per_stratum: 2"), "report"),
    "title": Row(in_study("A tiny study", "A small study"), "report"),
    "code of a reader": Row(
        in_source("tasks/read_markup.py", "    return ", "    0\n    return "), "read index lock"
    ),
    "code of the rule-based writer": Row(
        in_source("examgen/writing/stems.py", "    return ", "    0\n    return "), "write audit screen lock"
    ),
    "code of an audit": Row(
        in_source("examgen/audits/cues.py", "    return ", "    0\n    return "), "audit screen lock"
    ),
    "code of the screen": Row(in_source("examgen/screening.py", "    return ", "    0\n    return "), "screen lock"),
    "code of a statistic": Row(
        in_source("examgen/cue_probe.py", "    return ", "    0\n    return "), "calibrate report"
    ),
    "code of the report": Row(in_source("examgen/report/svg.py", "    return ", "    0\n    return "), "report"),
    "code that runs shards": Row(in_source("tasks/stages.py", "    return ", "    0\n    return "), ""),
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ROWS)
def test_with_the_rule_based_writer(by_rules: Bench, name: str) -> None:
    row = ROWS[name]
    by_rules.put_back()
    row.edit(by_rules)
    by_rules.run()
    assert set(by_rules.done) == set(row.stages.split())
    items = len(by_rules.rows("bank"))
    asked = {"none": 0, "new": len(by_rules.new("bank", "item_id")), "all": items}[row.calls]
    assert by_rules.asked == Counter({"panel": asked}) - Counter()
    if row.calls == "all":
        assert by_rules.done["panel"] == 1, "the shard of that endpoint alone"
    if "index" in by_rules.done and name != "embedder":
        assert by_rules.passages == len(by_rules.new("chunks", "content_hash"))
    if row.files or "read" not in by_rules.done:
        assert by_rules.read == row.files, "only what was edited is opened"
    if not row.stages or row.stages == "report":
        assert by_rules.embedded == 0


def in_prompt(name: str) -> Callable[[Bench], None]:
    def change(bench: Bench) -> None:
        place = bench.prompts / f"{name}.txt"
        place.write_text(place.read_text(encoding="utf-8") + "\nTake your time.\n", encoding="utf-8")

    return change


MODEL_ROWS = {
    "the prompt of the taxonomy": (in_prompt("taxonomy"), f"taxonomy-model {BANK}", "taxonomy"),
    "the prompt of the writer": (in_prompt("item"), f"write-model audit screen-model {BANK}", "write"),
    "the prompt of the screen": (in_prompt("screen"), f"screen-model {BANK}", "screen"),
    "the temperature of the writer": (
        in_study("rounds: 1,", "rounds: 1, temperature: 0.4,"),
        f"write-model audit screen-model {BANK}",
        "write",
    ),
}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", MODEL_ROWS)
def test_with_a_model(by_model: Bench, name: str) -> None:
    change, stages, purposes = MODEL_ROWS[name]
    by_model.put_back()
    change(by_model)
    by_model.run()
    assert set(by_model.done) == set(stages.split())
    assert by_model.asked == Counter({purposes: by_model.whole[purposes]})


def edited_under_an_item(bench: Bench) -> str:
    """Change the quote that an item of the first document rests on; the item's id."""
    place = bench.docs / FILES[0]
    text = place.read_text(encoding="utf-8")
    for item in bench.rows("bank", "base"):
        quote = item["evidence"][0]["quote"]
        if quote in text:
            place.write_text(text.replace(quote, f"{quote[:-1]} today."), encoding="utf-8")
            return str(item["item_id"])
    raise AssertionError(f"no item rests on {FILES[0]}")


@pytest.mark.timeout(900)
def test_an_edited_document_with_a_model(by_model: Bench) -> None:
    """Items whose quotes still stand stay; the writer is asked for what that leaves open, and for nothing else."""
    by_model.put_back()
    lost = edited_under_an_item(by_model)
    by_model.run()
    before = {row["item_id"] for row in by_model.rows("bank", "base")}
    kept = before & {row["item_id"] for row in by_model.rows("bank")}
    assert lost not in kept
    assert len(kept) > len(before) / 2
    assert by_model.done["write-model"] < by_model.done_at_first["write-model"]
    assert by_model.asked["write"] < by_model.whole["write"] / 2
    assert by_model.asked["screen"] < by_model.whole["screen"], "items of the other document are not screened again"
    assert by_model.asked["panel"] == len(by_model.new("bank", "item_id"))
