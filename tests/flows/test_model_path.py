"""The whole way with a language model as author and screener, against a stub server, without Prefect."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from examgen.errors import EndpointError, RunError
from examgen.tables import read_rows
from flows import evaluate_panel
from flows.request import StudyRequest
from tasks.ledger import journals
from tests import stub_author
from tests.flows.test_kill import CORPUS, FILES, ROOT
from tests.stub_server import FAULTS, StubServer
from tests.without_prefect import build, direct, evaluate

KEY = "planted-93f1c2-b77d0e"
CACHES = ("texts", "embeddings", "index")
IN_FLIGHT = 4

STUDY = """\
study: tiny
corpus: {{folder: docs}}
embedding: {{kind: lsa, dimensions: 32}}
seeds: [dissemination in space, MOGAD imaging, NMOSD spinal cord]
checklist: [{{concept: MOGAD, terms: [MOGAD]}}, {{concept: Kappa free light chains}}]
retrieval: {{passages_per_seed: 2, passage_cap: 6}}
taxonomy: {{method: llm, endpoint: author, topics_at_most: 2, subtopics_per_topic: 2}}
writing:
  {{method: llm, endpoint: author, per_subtopic: {{easy: 1, medium: 1, hard: 1, synthesis: 1}}, rounds: {rounds}}}
screen: {{method: llm, endpoint: author, context: fresh, {second}}}
endpoints:
  - {{id: author, base_url: "{url}", model: stub-writer, key_env: PLANTED_KEY, concurrency: {in_flight}, {extra}}}
  - {{id: other, base_url: "{url}", model: stub-other, family: another, key_env: PLANTED_KEY, concurrency: 4}}
panel: {{shard_items: 5}}
{more}
"""


@dataclass(frozen=True)
class Place:
    """A study of its own and its results."""

    folder: Path

    def write(self, url: str, rounds: int = 1, extra: str = "timeout: 20", second: str = "", more: str = "") -> None:
        """Write the study file."""
        (self.folder / "study.yaml").write_text(
            STUDY.format(url=url, rounds=rounds, extra=extra, second=second, more=more, in_flight=IN_FLIGHT)
        )

    @property
    def study(self) -> str:
        return str(self.folder / "study.yaml")

    @property
    def results(self) -> str:
        return str(self.folder / "results")

    @property
    def root(self) -> Path:
        return self.folder / "results" / "tiny"

    def build(self) -> dict[str, Any]:
        return build(self.study, self.results)

    def bank(self) -> Path:
        (bank,) = (place for place in (self.root / "bank").iterdir() if place.is_dir())
        return bank

    def table(self, name: str) -> list[dict[str, Any]]:
        return read_rows(str(self.bank() / f"{name}.parquet"))

    def contents(self) -> dict[str, str]:
        """Hashes of the locked bank's files, by name."""
        bank = self.bank()
        return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(bank.iterdir())} | {"id": bank.name}

    def calls(self) -> list[dict[str, Any]]:
        """Lines of all journals, in order."""
        return [json.loads(line) for place in journals(self.root) for line in place.read_text().splitlines()]


@pytest.fixture(autouse=True)
def _planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_KEY", KEY)


def make_place(folder: Path) -> Place:
    (folder / "docs").mkdir(parents=True)
    for name in FILES:
        shutil.copy2(CORPUS / name, folder / "docs" / name)
    return Place(folder)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, StubServer]]:
    """A bank built and a panel asked, with nothing going wrong; the server stays open."""
    with pytest.MonkeyPatch.context() as patch, StubServer(reply=stub_author.reply, key=KEY) as stub:
        patch.setenv("PLANTED_KEY", KEY)
        place = make_place(tmp_path_factory.mktemp("undisturbed"))
        place.write(stub.base_url, second="second_endpoint: other")
        place.build()
        yield place, stub


@pytest.fixture
def fresh(tmp_path: Path, undisturbed: tuple[Place, StubServer]) -> Place:
    """A place whose documents are read and indexed, with no call made yet."""
    place = make_place(tmp_path / "fresh")
    for name in CACHES:
        shutil.copytree(undisturbed[0].root / name, place.root / name)
    return place


def check_account(place: Place) -> None:
    """The funnel adds up, each draft asked for is in it, and what was not accepted has its reason."""
    funnel = place.table("funnel")
    sums: Counter[tuple[str, str, bool]] = Counter()
    for row in funnel:
        sums[row["stage"], row["stratum"], row["outcome"] == "entered"] += row["count"]
        assert row["reason"] or row["outcome"] in ("entered", "accepted"), row
    for (stage, stratum, entered), count in sums.items():
        assert sums[stage, stratum, not entered] == count
    asked = sum(row["count"] for row in funnel if (row["stage"], row["outcome"]) == ("write", "entered"))
    assert asked == 2 * 4 * len(place.table("topics"))
    for name, key in (("candidates", "candidate_id"), ("bank", "item_id"), ("verdicts", "candidate_id")):
        assert max(Counter(row[key] for row in place.table(name)).values()) == 1


def check_paid_once(place: Place) -> None:
    """Nothing stands in the journals behind the line that settled its request."""
    settled: set[str] = set()
    for line in place.calls():
        assert line["request_hash"] not in settled, line
        settled |= {line["request_hash"]} if line.get("final") else set()


def found_in(place: Place, text: str) -> list[str]:
    """Files under the results whose name or bytes hold a text, packed columns unpacked."""
    found = []
    for path in place.folder.rglob("*"):
        if path.is_file():
            said = path.read_bytes()
            if path.suffix == ".parquet":
                said += json.dumps(read_rows(str(path)), default=str).encode()
            if text.encode() in said or text in path.name:
                found.append(str(path))
    return found


@pytest.mark.timeout(900)
def test_a_model_builds_a_bank(undisturbed: tuple[Place, StubServer]) -> None:
    place, stub = undisturbed
    check_account(place)
    check_paid_once(place)
    items, topics = place.table("bank"), place.table("topics")
    assert {item["stratum"] for item in items} == {"easy", "medium", "hard", "synthesis"}
    assert {item["writer"] for item in items} == {"author:stub-writer"}
    assert all(item["prompt_id"].startswith(f"item+item_{item['stratum']}+item_reply/") for item in items)
    assert all(len({e["source_id"] for e in i["evidence"]}) >= 2 for i in items if i["stratum"] == "synthesis")
    assert 2 <= len(topics) <= 4
    assert {row["concept"]: row["covered"] for row in place.table("coverage")} == {
        "MOGAD": False, "Kappa free light chains": True,
    }, "the two topics of this author hold the criteria, which tell of kappa chains, and nothing of MOGAD"  # fmt: skip
    verdicts = place.table("verdicts")
    assert {row["family"] for row in verdicts} == {"same-family"}
    assert all(row["prompt_id"].startswith("screen/") and row["context_chunk_ids"] for row in verdicts)
    assert {row["family"] for row in place.table("second_verdicts")} == {"other-family"}
    manifest = json.loads((place.bank() / "bank.lock.json").read_text())
    assert manifest["facts"]["screen_agreement"]["agreement"] == 1.0
    assert manifest["facts"]["taxonomy_prompt"].startswith("taxonomy/")
    before, bank = stub.calls, place.contents()
    place.build()
    assert stub.calls == before, "an unchanged rerun asks nothing"
    shutil.rmtree(place.root / "work")
    place.build()
    assert stub.calls == before, "nor does one that must do all its work again"
    assert place.contents() == bank


def test_the_writer_in_the_panel_is_named_so(undisturbed: tuple[Place, StubServer]) -> None:
    place, _ = undisturbed
    with direct():
        done = evaluate(StudyRequest(study=place.study, results=place.results))
    rows = {row["endpoint_id"]: row for row in read_rows(f"{done['folder']}/endpoints.parquet")}
    assert {name: row["role"] for name, row in rows.items()} == {"author": "construction_overlap", "other": "primary"}
    purposes = Counter(row["purpose"] for row in read_rows(f"{done['folder']}/calls.parquet"))
    assert set(purposes) == {"taxonomy", "write", "screen", "panel"}
    assert found_in(place, KEY) == []


@pytest.mark.timeout(900)
def test_an_endpoint_that_dies_half_way_is_named_and_the_others_complete(
    undisturbed: tuple[Place, StubServer], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = Place(tmp_path / "dying")
    shutil.copytree(undisturbed[0].folder, place.folder)
    with StubServer(key=KEY, dies_after=3) as dying:
        text = Path(place.study).read_text()
        lives, dies = (f'other, base_url: "{stub.base_url}"' for stub in (undisturbed[1], dying))
        Path(place.study).write_text(text.replace(lives, dies))
        with direct():
            ended = evaluate_panel.evaluate_panel.fn(StudyRequest(study=place.study, results=place.results))
    assert ended.name == "Incomplete"
    assert ended.is_completed()
    assert "other is incomplete" in ended.message
    assert "account closed" in ended.message
    assert "author" not in ended.message
    assert "note: other is incomplete" in capfd.readouterr().err
    endpoints = {row["endpoint_id"]: row for row in read_rows(f"{ended.data['folder']}/endpoints.parquet")}
    assert {name: row["complete"] for name, row in endpoints.items()} == {"author": True, "other": False}
    assert "rows unresolved" in endpoints["other"]["note"]
    rows = read_rows(f"{ended.data['folder']}/responses/endpoint_id=other/responses.parquet")
    statuses = Counter(row["status"] for row in rows)
    assert statuses["parsed"] == 3
    assert statuses["unresolved"] == len(rows) - 3
    assert {row["correct"] for row in rows if row["status"] == "unresolved"} == {None}


@pytest.mark.timeout(900)
def test_a_third_of_all_replies_is_spoilt_in_every_way(fresh: Place) -> None:
    faults = dict.fromkeys(FAULTS, 0.3 / len(FAULTS))
    with StubServer(reply=stub_author.reply, faults=faults, key=KEY, seed="model path") as stub:
        fresh.write(stub.base_url, extra="timeout: 1.5, attempts: 4")
        fresh.build()
        check_account(fresh)
        check_paid_once(fresh)
        assert len([fault for fault in stub.injected if fault]) >= 10
        before, bank = stub.calls, fresh.contents()
        shutil.rmtree(fresh.root / "work")
        fresh.build()
        again = stub.calls - before
        refused = sum(line["outcome"] == "error" and not line.get("final") for line in fresh.calls())
        assert again <= refused + 1, "only what the endpoint refused for its own sake may be asked again"
        if not again:
            assert fresh.contents() == bank


def start(place: Place) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.without_prefect", place.study, place.results, "build"], cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip


def kill_when(process: subprocess.Popen[bytes], reached: Callable[[], bool]) -> None:
    """Kill a process group the moment something is so; the process must not have ended before."""
    while not reached():
        assert process.poll() is None, process.communicate()[1].decode()[-2000:]
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.timeout(900)
def test_killed_in_taxonomy_writing_and_screen(fresh: Place, undisturbed: tuple[Place, StubServer]) -> None:
    with StubServer(reply=stub_author.reply, key=KEY, latency=0.1) as stub:
        fresh.write(stub.base_url, second="second_endpoint: other")
        needed = len(undisturbed[0].calls()) - answers(undisturbed[0])
        for target in (1, needed // 4, needed // 2 + IN_FLIGHT):
            kill_when(start(fresh), lambda target=target: stub.calls >= target)  # type: ignore[misc]
        fresh.build()
        assert fresh.contents() == undisturbed[0].contents()
        assert needed <= stub.calls <= needed + 3 * IN_FLIGHT


def answers(place: Place) -> int:
    """Calls of the panel in the journals."""
    return sum(line["purpose"] == "panel" for line in place.calls())


@pytest.mark.timeout(900)
def test_the_budget_stops_hard_and_goes_on_when_raised(fresh: Place, undisturbed: tuple[Place, StubServer]) -> None:
    prices = "price_in: 10000, price_out: 0"  # a call of the stub's 100 tokens costs 1
    with StubServer(reply=stub_author.reply, key=KEY) as stub:
        fresh.write(stub.base_url, extra=prices, more="budget: 45")
        with pytest.raises(RunError, match="budget of 45 is spent"):
            fresh.build()
        first = stub.calls
        assert 1 < first <= 45
        assert not (fresh.root / "bank").exists()
        with pytest.raises(RunError, match="budget of 45 is spent"):
            fresh.build()
        assert stub.calls <= 45
        fresh.write(stub.base_url, extra=prices, more="budget: 100000")
        fresh.build()
        check_paid_once(fresh)
        assert stub.calls == sum(line.get("cost", 0) for line in fresh.calls())
        assert {k: v for k, v in fresh.contents().items() if k == "candidates.parquet"} == {
            "candidates.parquet": undisturbed[0].contents()["candidates.parquet"]
        }


def test_a_dead_endpoint_stops_the_build_and_names_no_key(
    fresh: Place, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with StubServer(reply=stub_author.reply, key="another key") as stub:
        fresh.write(stub.base_url)
        with pytest.raises(EndpointError, match="endpoint author: gave no usable taxonomy") as wrong_key:
            fresh.build()
        stub.key, stub.calls, stub.dies_after = KEY, 0, 9
        with pytest.raises(EndpointError, match="endpoint author: stopped while it was asked to write") as closed:
            fresh.build()
        assert "account closed" in str(closed.value)
        answered = sum(stub.answered.values())
        stub.dies_after = None
        fresh.build()
        assert max(stub.answered.values()) == 1, "what was answered before is not asked again"
        assert sum(stub.answered.values()) > answered
    seen = [str(wrong_key.value), repr(closed.value), caplog.text, *capfd.readouterr()]
    assert all(KEY not in text for text in seen)
    assert "[key]" in str(wrong_key.value)
    assert found_in(fresh, KEY) == []


def test_a_model_that_writes_no_item_leaves_every_reason(fresh: Place) -> None:
    def prose(body: dict[str, Any]) -> str:
        return stub_author.reply(body) if "Below are passages" in str(body) else "I would rather talk about sailing."

    with StubServer(reply=prose, key=KEY) as stub:
        fresh.write(stub.base_url, rounds=2)
        with pytest.raises(RunError, match="no draft became an item") as ended:
            fresh.build()
    assert "× no JSON object in the reply" in str(ended.value)
    rows = read_rows(str(fresh.root / "rejected_drafts.parquet"))
    assert {row["attempt"] for row in rows} == {1, 2}
    assert all(row["reason"] and row["raw"] and row["repairs"] == 2 for row in rows)
