"""A shard of the panel: complete rows under faults, nothing asked twice, kills survived, baselines, rescoring."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from examgen import ids, tables
from examgen.errors import BankError, InputError
from examgen.ids import seed_of
from examgen.records import BankItem, Chunk, Response
from examgen.study import Endpoint, Panel
from tasks import store
from tasks.panel import PanelContext, evaluate_shard
from tests.stub_server import StubServer

ROOT = Path(__file__).resolve().parents[2]
VOLATILE = {"latency_seconds", "attempts"}


def make_bank(folder: Path, count: int, options: int = 4) -> tuple[str, list[str]]:
    items = []
    for number in range(count):
        texts = tuple(
            f"finding {number} {word}" for word in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")[:options]
        )
        key = seed_of("key", number) % options
        stem = f"Question {number}: which finding fits?"
        name = ids.item_id(stem, texts, texts[key])
        items.append(
            BankItem(
                item_id=name,
                candidate_id=name,
                topic_id=f"t{number % 5}",
                topic=f"T{number % 5}",
                subtopic="S",
                stratum="easy",
                stem=stem,
                options=texts,
                key=key,
                key_letter="ABCDEF"[key],
                explanation="",
                evidence=(),
                writer="test",
            )
        )
    path = folder / "bank.parquet"
    store.write(path, "bank", items)
    return str(path), [item.item_id for item in items]


def endpoint(stub: StubServer, **more: Any) -> Endpoint:
    return Endpoint.model_validate(
        {
            "id": "stub",
            "base_url": stub.base_url,
            "model": "m",
            "timeout": 20.0,
            "concurrency": 16,
            "attempts": 6,
            **more,
        }
    )


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in VOLATILE} for row in tables.read_rows(str(path))]


ALL_FAULTS = dict.fromkeys(
    (
        "rate_limited",
        "server_error",
        "overloaded",
        "cut",
        "bad_json",
        "html",
        "error_in_200",
        "null_choices",
        "empty_choices",
        "empty_content",
        "finish_error",
    ),
    0.01,
)


def test_every_item_has_one_row_under_faults(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 300)
    with StubServer(faults=ALL_FAULTS, retry_after="0.02") as stub:
        report = evaluate_shard(bank, names, endpoint(stub), 0, 0, str(tmp_path / "faulty.parquet"))
        assert stub.injected.total() - stub.injected[""] > 10
    with StubServer() as stub:
        evaluate_shard(bank, names, endpoint(stub, base_url=stub.base_url), 0, 0, str(tmp_path / "clean.parquet"))
    faulty, clean = rows_of(tmp_path / "faulty.parquet"), rows_of(tmp_path / "clean.parquet")
    assert [row["item_id"] for row in faulty] == names
    for row in (*faulty, *clean):
        row.pop("request_hash")
    assert faulty == clean
    assert report.complete
    assert report.account.attempts > 300


def test_a_rerun_asks_nothing_and_a_lost_journal_costs_nothing(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 40)
    out = tmp_path / "o" / "r.parquet"
    with StubServer(poisoned={"Question 7:": "bad_request", "Question 9:": "server_error"}) as stub:
        first = evaluate_shard(bank, names, endpoint(stub, attempts=2), 0, 0, str(out))
        before, calls = out.read_bytes(), stub.calls
        again = evaluate_shard(bank, names, endpoint(stub, attempts=2), 0, 0, str(out))
        assert (again.asked, again.reused, stub.calls) == (0, 40, calls)
        assert out.read_bytes() == before
        for journal in out.parent.glob("_*.calls.jsonl"):
            journal.unlink()
        assert evaluate_shard(bank, names, endpoint(stub, attempts=2), 0, 0, str(out)).asked == 0
        retried = evaluate_shard(
            bank, names, endpoint(stub, attempts=2), 0, 0, str(out), context=PanelContext(retry_unresolved=True)
        )
        assert retried.asked == 3, "the 400 once, the 500 twice"
    statuses = first.account.statuses
    assert (statuses["parsed"], statuses["error"], statuses["unresolved"]) == (38, 1, 1)
    row = next(row for row in rows_of(out) if row["status"] == "error")
    assert row["correct"] is None
    assert "maximum context length" in row["error"]


@pytest.mark.parametrize(
    ("fault", "calls", "status"), [("server_error", 602, "unresolved"), ("bad_request", 600, "error")]
)
def test_one_poisoned_item_of_600_costs_bounded_time(fault: str, calls: int, status: str, tmp_path: Path) -> None:
    """The 500 is tried `attempts` times, the 400 once; nobody waits for it."""
    bank, names = make_bank(tmp_path, 600)
    with StubServer(poisoned={"Question 50:": fault}) as stub:
        out = tmp_path / "r.parquet"
        report = evaluate_shard(bank, names, endpoint(stub, attempts=3, concurrency=32), 0, 0, str(out))
        assert stub.calls == calls == report.asked
    assert report.account.statuses == {"parsed": 599, status: 1}
    assert report.seconds < 60
    (row,) = (row for row in tables.read_rows(str(out)) if row["status"] == status)
    assert row["correct"] is None
    assert row["attempts"] == calls - 599


def test_an_endpoint_that_is_not_there_costs_a_few_calls_whatever_the_bank(tmp_path: Path) -> None:
    for count in (1, 3, 40):
        bank, names = make_bank(tmp_path, count)
        nowhere = Endpoint(id="gone", base_url="http://127.0.0.1:9/v1", model="m", attempts=12, concurrency=2)
        report = evaluate_shard(bank, names, nowhere, 0, 0, str(tmp_path / f"{count}.parquet"))
        assert report.asked <= 6
        assert "cannot connect" in report.stopped
        assert report.account.statuses == {"unresolved": count}


def test_a_dead_endpoint_leaves_incomplete_rows_that_a_rerun_asks(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 60)
    out = tmp_path / "r.parquet"
    with StubServer(dies_after=20) as stub:
        report = evaluate_shard(bank, names, endpoint(stub, concurrency=4), 0, 0, str(out))
        assert not report.complete
        assert "account closed" in report.stopped
        rows = rows_of(out)
        assert [row["status"] for row in rows].count("parsed") == 20
        assert all(row["correct"] is None for row in rows if row["status"] != "parsed")
        stub.dies_after = None
        assert evaluate_shard(bank, names, endpoint(stub, concurrency=4), 0, 0, str(out)).complete
        assert stub.answered.total() == 60


def test_kill_at_any_call_pays_at_most_those_in_flight_twice(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 240)
    (tmp_path / "items.json").write_text(json.dumps(names))
    place = tmp_path / "address"
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.stub_server",
            str(place),
            json.dumps({"latency": 0.03, "faults": {"server_error": 0.05}}),
        ],
        cwd=ROOT,
    )
    try:
        while not place.exists():
            time.sleep(0.05)
        url = place.read_text()
        code = (
            "import sys, json\nfrom examgen.study import Endpoint\nfrom tasks.panel import evaluate_shard\n"
            f"e = Endpoint(id='stub', base_url='{url}', model='m', concurrency=8)\n"
            f"evaluate_shard({bank!r}, json.load(open({str(tmp_path / 'items.json')!r})), e, 0, 0, "
            f"{str(tmp_path / 'r.parquet')!r})\n"
        )
        kills = 0
        for _ in range(3):
            answered = _stats(url)["answered"]
            child = subprocess.Popen(
                [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
            )
            while _stats(url)["answered"] < answered + 40 and child.poll() is None:
                time.sleep(0.01)
            child.send_signal(signal.SIGKILL)
            kills += child.wait() == -signal.SIGKILL
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)
        stats = _stats(url)
        assert kills == 3
        assert stats["distinct"] == 240
        assert stats["twice"] <= 3 * 8
    finally:
        server.terminate()
        server.wait()
    assert [row["item_id"] for row in rows_of(tmp_path / "r.parquet")] == names


def _stats(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as handle:
        return json.load(handle)  # type: ignore[no-any-return]


def test_two_models_in_one_folder_never_share_answers(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 10)
    with StubServer() as stub:
        for model, calls in (("m1", 10), ("m2", 20), ("m2", 20)):
            evaluate_shard(bank, names, endpoint(stub, model=model), 0, 0, str(tmp_path / "same.parquet"))
            assert stub.calls == calls


def test_orders_are_mapped_back_to_content(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 12)
    with StubServer(reply=lambda body: "B") as stub:
        for order in range(4):
            evaluate_shard(bank, names, endpoint(stub), order, 0, str(tmp_path / f"{order}.parquet"))
            assert {row["choice"] for row in rows_of(tmp_path / f"{order}.parquet")} == {(1 + order) % 4}
        evaluate_shard(bank, names, endpoint(stub), 5, 0, str(tmp_path / "none.parquet"))
        assert rows_of(tmp_path / "none.parquet") == [], "four options have four rotations"


def test_modes_likelihoods_abstention_few_shot_and_no_stem(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 8)
    with StubServer(reply=lambda body: "E") as stub:
        context = PanelContext(panel=Panel(abstention=True, system_prompt="You sit an exam.", examples=2))
        report = evaluate_shard(bank, names, endpoint(stub), 0, 0, str(tmp_path / "a.parquet"), context=context)
        assert report.account.statuses == {"abstained": 8}
        roles = [message["role"] for message in stub.bodies[-1]["messages"]]
        assert roles[0] == "system"
        assert roles.count("assistant") >= 1
    with StubServer(reply=lambda body: "C because") as stub:
        evaluate_shard(bank, names, endpoint(stub, mode="letter_logprobs"), 0, 0, str(tmp_path / "l.parquet"))
        rows = tables.read_records(str(tmp_path / "l.parquet"), Response)
        assert {(row.rule, row.choice) for row in rows} == {("first_token", 2)}
        assert rows[0].probabilities[2] == pytest.approx(max(rows[0].probabilities))
        evaluate_shard(
            bank, names, endpoint(stub), 0, 0, str(tmp_path / "n.parquet"), context=PanelContext(no_stem=True)
        )
        assert "Question" not in stub.bodies[-1]["messages"][-1]["content"].split("\n")[0]
        assert {row["mode"] for row in rows_of(tmp_path / "n.parquet")} == {"no_stem"}


def test_likelihood_of_option_texts(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 5)
    with StubServer(reply=lambda body: body["structured_outputs"]["choice"][0]) as stub:
        report = evaluate_shard(
            bank, names, endpoint(stub, mode="option_likelihood"), 0, 0, str(tmp_path / "r.parquet")
        )
        assert stub.calls == 20 == report.account.attempts
        assert (
            evaluate_shard(
                bank, names, endpoint(stub, mode="option_likelihood"), 0, 0, str(tmp_path / "r.parquet")
            ).asked
            == 0
        )
    assert {row["rule"] for row in rows_of(tmp_path / "r.parquet")} == {"likelihood_per_token_tie"}, (
        "the stub likes all texts alike"
    )


def test_baselines_need_no_server(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 60, options=5)
    items = tables.read_records(bank, BankItem)
    texts = [f"{item.stem} It is {item.options[item.key]}." for item in items]
    store.write(
        tmp_path / "chunks.parquet",
        "chunks",
        [
            Chunk(
                chunk_id=ids.chunk_id("s", n, text),
                content_hash=ids.content_hash(text),
                source_id="s",
                path="p",
                start=n,
                end=n + len(text),
                ordinal=n,
                text=text,
            )
            for n, text in enumerate(texts)
        ],
    )
    scores = {}
    for name in ("random", "most_frequent", "longest", "closed_book", "open_book"):
        out = tmp_path / f"{name}.parquet"
        report = evaluate_shard(
            bank,
            names,
            Endpoint(id=name, kind="baseline", model=name),
            0,
            0,
            str(out),
            context=PanelContext(chunks=str(tmp_path / "chunks.parquet")),
        )
        assert report.account.statuses == {"parsed": 60}
        assert report.asked == 0
        scores[name] = report.account.correct
    assert scores["open_book"] >= 57
    assert scores["random"] < 30
    with pytest.raises(InputError, match="no chunks table"):
        evaluate_shard(
            bank, names, Endpoint(id="x", kind="baseline", model="open_book"), 0, 0, str(tmp_path / "x.parquet")
        )
    with pytest.raises(InputError, match="is one of"):
        evaluate_shard(bank, names, Endpoint(id="x", kind="baseline", model="best"), 0, 0, str(tmp_path / "x.parquet"))


def test_an_unknown_item_is_the_users_error(tmp_path: Path) -> None:
    bank, _ = make_bank(tmp_path, 2)
    with pytest.raises(BankError, match="no item"):
        evaluate_shard(
            bank, ["nope"], Endpoint(id="r", kind="baseline", model="random"), 0, 0, str(tmp_path / "r.parquet")
        )
