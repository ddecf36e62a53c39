"""Shards on a cluster: the same bytes as here, complete when a worker dies, clear words when it cannot be."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examgen.errors import RunError, StudyError
from examgen.records import Call
from examgen.study import Runner, load_study
from flows import evaluate_panel
from flows.request import StudyRequest
from tasks import elsewhere, ledger, preflight, runner, tally
from tasks.stages import Shard, version_of
from tests.flows.test_kill import IN_FLIGHT, answers, contents, prepare
from tests.stub_server import StubServer
from tests.without_prefect import direct, run

DONE_ELSEWHERE = ("write", "screen", "panel")


def with_runner(study: str, settings: str) -> None:
    """Give the study another runner; nothing else of it changes."""
    place = Path(study)
    kept = [line for line in place.read_text().splitlines() if not line.startswith("runner:")]
    place.write_text("\n".join([*kept, f"runner: {settings}", ""]))


def shard_tables(results: str) -> dict[str, str]:
    """Hashes of the tables that the shards left, by stage, key and name."""
    work = Path(results) / "tiny" / "work"
    found = [place for stage in DONE_ELSEWHERE for place in sorted(work.glob(f"{stage}/*/*.parquet"))]
    kept = [place for place in found if place.parts[-3] != "panel"]  # responses hold latencies
    return {str(p.relative_to(work)): hashlib.sha256(p.read_bytes()).hexdigest() for p in kept}


def forget(results: str) -> None:
    """Drop what the shards left, the replies, and what rests on them; the audit of the same candidates stays."""
    root = Path(results) / "tiny"
    for name in (*(f"work/{stage}" for stage in DONE_ELSEWHERE), "work/compact", "replies", "bank", "evaluations"):
        shutil.rmtree(root / name)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[StubServer, str, str]]:
    """A study done in this process; the stub endpoint stays open."""
    with StubServer(latency=0.02) as stub:
        study, results = prepare(tmp_path_factory.mktemp("runner"), stub.base_url)
        run(study, results)
        yield stub, study, results


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_same_bank_and_answers_as_in_this_process(kind: str, here: tuple[StubServer, str, str]) -> None:
    pytest.importorskip({"dask": "distributed"}.get(kind, kind), reason=f"the extra {kind} is not installed")
    stub, study, results = here
    wanted = contents(results), answers(results), shard_tables(results)
    with_runner(study, f"{{kind: {kind}, workers: 2}}")
    forget(results)
    before, counted = stub.calls, tally.count("model calls")
    run(study, results)
    assert (contents(results), answers(results), shard_tables(results)) == wanted
    asked = stub.calls - before
    assert asked == len([row for row in wanted[1] if row[1] == "stub"])
    assert tally.count("model calls") - counted == asked, "what workers paid is counted where the run was started"
    assert runner.cluster() is None


@pytest.mark.timeout(1500)
def test_complete_when_a_worker_is_killed(here: tuple[StubServer, str, str]) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    stub, study, results = here
    wanted = answers(results)
    root = Path(results) / "tiny"
    for name in ("work/panel", "work/compact", "replies", "evaluations"):
        shutil.rmtree(root / name)
    stub.latency = 0.3
    before = stub.calls
    own = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with own, distributed.Client(own) as client:
        processes = client.run(os.getpid)
        with_runner(study, f"{{kind: dask, address: '{own.scheduler_address}'}}")
        killer = threading.Thread(target=_kill_when_asked, args=(stub, before + 6, client, processes))
        killer.start()
        with direct():
            evaluate_panel.evaluate_panel.fn(StudyRequest(study=study, results=results))
        killer.join(60)
    stub.latency = 0.02
    assert answers(results) == wanted
    needed = len([row for row in wanted if row[1] == "stub"])
    assert needed <= stub.calls - before <= needed + IN_FLIGHT


def _kill_when_asked(stub: StubServer, calls: int, client: Any, processes: dict[str, int]) -> None:
    """Kill the worker that has a shard in hand, once so many calls were made."""
    while stub.calls < calls:
        time.sleep(0.02)
    busy = [address for address, keys in client.processing().items() if keys]
    os.kill(processes[busy[0]], signal.SIGKILL)


def test_a_name_alone_is_a_runner(here: tuple[StubServer, str, str]) -> None:
    _, study, _ = here
    with_runner(study, "ray")
    assert load_study(study).runner == Runner(kind="ray")
    with_runner(study, "threads")


def test_a_missing_extra_is_named_before_anything_starts(
    here: tuple[StubServer, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, study, _ = here
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "distributed" else found(name))
    with pytest.raises(StudyError, match=r"pip install 'examgen\[dask\]'"), runner.using(Runner(kind="dask")):
        pass
    with_runner(study, "dask")
    with pytest.raises(StudyError, match="distributed is not installed"):
        preflight.preflight(Path(study))
    with_runner(study, "threads")


def test_a_silent_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    monkeypatch.setattr(runner, "WAIT", 1.0)
    settings = Runner(kind="dask", address="tcp://127.0.0.1:9")
    with pytest.raises(RunError, match=r"runner.address tcp://127.0.0.1:9: no dask cluster"), runner.using(settings):
        pass


def _shard(folder: Path) -> dict[str, Any]:
    return Shard(
        study="tiny", stage="screen", label="one", key="k", folder=str(folder / "work" / "screen" / "k"), inputs={}
    ).model_dump()


def test_a_worker_with_other_code_or_without_the_folder_refuses(tmp_path: Path) -> None:
    from tasks import acceptance_stage  # noqa: F401 - registers the stage

    reply = elsewhere.carry_out("tasks.acceptance_stage", "screen", "another", _shard(tmp_path))
    assert reply["failed"] == "RunError"
    assert "install the same version" in reply["message"]
    reply = elsewhere.carry_out("tasks.acceptance_stage", "screen", version_of("screen"), _shard(tmp_path))
    assert f"sees no folder {tmp_path / 'work'}" in reply["message"]


def test_a_worker_counts_what_others_paid_and_writes_a_journal_of_its_own(tmp_path: Path) -> None:
    def paid(name: str) -> None:
        call = Call(
            purpose="panel", request_hash=name, endpoint_id="e", model="m", attempt=1, outcome="answered", cost=0.5
        )
        with ledger.Ledger(str(tmp_path / f"e-o0{ledger.JOURNAL}")) as journal:
            journal.add(call, None)

    with ledger.written_by("one", among_others=True):
        assert ledger.shared_budget(tmp_path, 2.0).spent == 0.0
        paid("first")
    with ledger.written_by("two", among_others=True):
        assert ledger.shared_budget(tmp_path, 2.0).spent == 0.5
        paid("second")
        assert ledger.shared_budget(tmp_path, 2.0).spent == 1.0
    assert [p.name for p in ledger.journals(tmp_path)] == ["e-o0-one.calls.jsonl", "e-o0-two.calls.jsonl"]
