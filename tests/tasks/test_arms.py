"""Arms against a real HTTP server: the first call is made once, the arm makes only its own, kills lose nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from examgen import arms, tables
from examgen.records import BankItem, Response
from examgen.study import Endpoint
from tasks import store
from tasks.ledger import calls_of, journals
from tasks.panel import PanelContext, evaluate_shard
from tests.stub_server import StubServer
from tests.tasks.test_panel import endpoint, make_bank

ROOT = Path(__file__).resolve().parents[2]


def say(body: dict[str, Any]) -> str:
    """The backbone always says A; the verifier says B where it sees that A."""
    text = body["messages"][-1]["content"]
    return ("B" if "<reply>\nA\n</reply>" in text else "C") if "<reply>" in text else "A"


def arm(stub: StubServer, name: str, after: str, **more: Any) -> Endpoint:
    """An arm as the panel gives it to a shard: with what it takes over from the stub's endpoint."""
    made = Endpoint.model_validate({"id": name, "kind": "arm", "after": after, **more})
    return arms.settled(made, {"stub": endpoint(stub), after: endpoint(stub, id=after), name: made})


def ask(bank: str, names: list[str], who: Endpoint, folder: Path, starts: str = "", **more: Any) -> Any:
    context = PanelContext(journals=str(folder / "replies"), starts=starts, **more)
    return evaluate_shard(bank, names, who, 1, 0, str(folder / f"{who.id}.parquet"), context=context)


def test_a_verifier_starts_from_the_stored_reply_and_makes_one_call(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 20)
    with StubServer(reply=say) as stub:
        first = ask(bank, names, endpoint(stub), tmp_path)
        assert stub.calls == 20
        second = ask(bank, names, arm(stub, "verifier", "stub"), tmp_path, first.out)
        assert (stub.calls, second.asked) == (40, 20), "nothing of the backbone is asked again"
        third = ask(bank, names, arm(stub, "again", "verifier", asks="stub"), tmp_path, second.out)
        assert (stub.calls, third.asked) == (60, 20)
        once_more = ask(bank, names, arm(stub, "verifier", "stub"), tmp_path, first.out)
        assert (stub.calls, once_more.reused) == (60, 20), "the journal has every reply"
    rows = tables.read_records(second.out, Response)
    told = {(row.shown_letter, row.mode, row.order, row.endpoint_id) for row in rows}
    assert told == {("B", "verifier", 1, "verifier")}
    assert {row.attempts for row in rows} == {1}
    key = {item.item_id: item for item in tables.read_records(bank, BankItem)}
    assert all(row.correct == (row.choice == key[row.item_id].key) and row.choice == 2 for row in rows)
    assert {row.shown_letter for row in tables.read_records(third.out, Response)} == {"C"}, "it saw B, not A"
    calls = [call for place in journals(tmp_path / "replies") for call in calls_of(place)]
    assert sorted({call.endpoint_id for call in calls}) == ["again", "stub", "verifier"]


def test_another_reply_to_start_from_is_another_question(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 5)
    with StubServer(reply=say) as stub:
        ask(bank, names, endpoint(stub), tmp_path)
        start = tmp_path / "stub.parquet"
        ask(bank, names, arm(stub, "verifier", "stub"), tmp_path, str(start))
        rows = tables.read_rows(str(start))
        rows[0] |= {"raw": "D", "shown_letter": "D"}
        store.write(start, "responses", rows)
        changed = ask(bank, names, arm(stub, "verifier", "stub"), tmp_path, str(start))
        assert (changed.asked, changed.reused) == (1, 4)


def test_a_vote_counts_the_stored_reply_and_its_samples(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 10)
    said = iter("A" * 10 + "B" * 20)
    with StubServer(reply=lambda body: next(said)) as stub:
        first = ask(bank, names, endpoint(stub), tmp_path)
        vote = arm(stub, "vote", "stub", step="vote", samples=2, temperature=0.7)
        done = ask(bank, names, vote, tmp_path, first.out)
        assert (stub.calls, done.asked) == (30, 20)
        assert ask(bank, names, vote, tmp_path, first.out).asked == 0
        assert {body["temperature"] for body in stub.bodies[10:]} == {0.7}
    rows = tables.read_records(done.out, Response)
    assert {row.shown_letter for row in rows} == {"B"}
    assert {row.raw for row in rows} == {json.dumps({"first": "A", "samples": ["B", "B"]})}
    assert {(row.attempts, row.mode) for row in rows} == {(2, "vote")}
    assert all(row.prompt_tokens and row.completion_tokens for row in rows)


def test_without_a_reply_to_start_from_the_row_says_so_and_costs_nothing(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 12)
    with StubServer(reply=say, poisoned={"Question 7:": "server_error", "Question 9:": "bad_request"}) as stub:
        first = ask(bank, names, endpoint(stub, attempts=2), tmp_path)
        before = stub.calls
        done = ask(bank, names, arm(stub, "verifier", "stub"), tmp_path, first.out)
        assert stub.calls - before == 10
    assert (done.complete, done.stopped) == (False, "")
    lost = [row for row in tables.read_records(done.out, Response) if row.status == "unresolved"]
    assert sorted(row.item_id for row in lost) == sorted([names[7], names[9]])
    assert {(row.rule, row.attempts, row.correct) for row in lost} == {(arms.UNSTARTED, 0, None)}
    assert any("stub gave no reply to start from: unresolved" in row.error for row in lost)
    assert any("stub gave no reply to start from: error" in row.error for row in lost)


def test_a_sample_that_never_comes_is_no_vote_of_fewer(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 6)
    with StubServer(reply=say) as stub:
        first = ask(bank, names, endpoint(stub), tmp_path)
        stub.poisoned["Question 3:"] = "server_error"
        vote = arm(stub, "vote", "stub", step="vote", samples=2, temperature=1, attempts=1)
        done = ask(bank, names, vote, tmp_path, first.out)
    statuses = {row.item_id: row.status for row in tables.read_records(done.out, Response)}
    assert [name for name in names if statuses[name] != "parsed"] == [names[3]]
    assert statuses[names[3]] == "unresolved"


def test_a_killed_arm_pays_again_for_at_most_the_calls_in_flight(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 120)
    (tmp_path / "items.json").write_text(json.dumps(names))
    with StubServer(reply=say, latency=0.03) as stub:
        who = endpoint(stub, concurrency=8)
        first = ask(bank, names, who, tmp_path)
        before = stub.calls
        verifier = arms.settled(
            Endpoint(id="verifier", kind="arm", after="stub"),
            {"stub": who, "verifier": Endpoint(id="verifier", kind="arm", after="stub")},
        )
        code = (
            "import json\nfrom examgen.study import Endpoint\nfrom tasks.panel import PanelContext, evaluate_shard\n"
            f"e = Endpoint.model_validate_json({verifier.model_dump_json()!r})\n"
            f"c = PanelContext(journals={str(tmp_path / 'replies')!r}, starts={first.out!r})\n"
            f"evaluate_shard({bank!r}, json.load(open({str(tmp_path / 'items.json')!r})), e, 1, 0, "
            f"{str(tmp_path / 'verifier.parquet')!r}, context=c)\n"
        )
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        child = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environment)
        while stub.calls < before + 40 and child.poll() is None:
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True)
        assert 120 <= stub.calls - before <= 120 + 8
    assert [row["item_id"] for row in tables.read_rows(str(tmp_path / "verifier.parquet"))] == names
