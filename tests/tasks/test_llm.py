"""One attempt through langchain-openai, and the retry layer around it, against a real HTTP server."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.outputs import LLMResult

from examgen.chat import ChatReply, ChatRequest
from examgen.errors import EndpointError
from examgen.study import Embedding, Endpoint
from tasks import llm
from tasks.asking import EndpointModel
from tasks.embed import make_embedder
from tasks.ledger import Budget, calls_of
from tasks.pacing import Backoff
from tests.stub_server import StubServer


def request(text: str = "Say A", **more: Any) -> ChatRequest:
    return ChatRequest((("user", text),), "test", **more)


def ask(
    stub: StubServer,
    requests: list[ChatRequest],
    *,
    journal: str = "",
    budget: Budget | None = None,
    retry_unresolved: bool = False,
    **settings: Any,
) -> tuple[list[ChatReply], EndpointModel]:
    endpoint = Endpoint.model_validate(
        {"id": "stub", "base_url": stub.base_url, "model": "stub-model", "timeout": 5.0, **settings}
    )

    async def run() -> tuple[list[ChatReply], EndpointModel]:
        model = llm.make_model(endpoint, journal=journal, budget=budget, retry_unresolved=retry_unresolved)
        model.backoff = Backoff(first=0.01, longest=0.05)
        try:
            return list(await asyncio.gather(*(model.ask(one) for one in requests))), model
        finally:
            await model.close()

    return asyncio.run(run())


def test_an_answer_carries_tokens_cost_and_reason() -> None:
    with StubServer(reply=lambda body: "A") as stub:
        (reply,), model = ask(stub, [request()], price_in=10.0, price_out=20.0)
    assert [call.reported for call in model.ledger.calls()] == ["stub-model (fp_stub)"]
    assert (reply.text, reply.outcome, reply.finish_reason, reply.prompt_tokens, reply.completion_tokens) == (
        "A",
        "answered",
        "stop",
        100,
        1,
    )
    assert reply.cost == pytest.approx((100 * 10 + 20) / 1e6)


@pytest.mark.parametrize(
    ("fault", "outcome", "calls"),
    [
        ("rate_limited", "rate_limited", 3),
        ("server_error", "unavailable", 3),
        ("overloaded", "unavailable", 3),
        ("cut", "connection", 3),
        ("bad_json", "malformed", 3),
        ("html", "malformed", 3),
        ("error_in_200", "unavailable", 3),
        ("null_choices", "malformed", 3),
        ("empty_choices", "malformed", 3),
        ("empty_content", "empty", 3),
        ("finish_error", "unavailable", 3),
        ("refusal", "refused", 1),
        ("filtered", "filtered", 1),
        ("truncated", "truncated", 1),
        ("bad_request", "error", 1),
        ("unauthorized", "stopped", 1),
        ("no_usage", "answered", 1),
        ("parts", "answered", 1),
    ],
)
def test_every_fault_is_called_by_its_name(fault: str, outcome: str, calls: int) -> None:
    with StubServer(poisoned={"Say": fault}, retry_after="0.01") as stub:
        (reply,), model = ask(stub, [request()], attempts=3)
        assert reply.outcome == outcome
        assert stub.calls == calls == reply.attempts == model.sent
        assert reply.error or outcome in ("answered", "refused")


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 422])
def test_what_another_try_cannot_mend_is_sent_once(status: int) -> None:
    with StubServer(statuses={"Say": status}) as stub:
        (reply,), model = ask(stub, [request()], attempts=5)
        assert stub.calls == 1 == model.sent
    assert f"HTTP {status}: no" in reply.error
    assert reply.outcome == ("error" if status in (400, 422) else "stopped")


def test_errors_in_other_words_than_openais_are_read() -> None:
    assert llm._said(b'{"detail": "no such model"}') == ("no such model", "", "")
    assert llm._said(b"<html>gone</html>") == ("<html>gone</html>", "", "")
    assert llm._said(b'{"error": "busy"}') == ("busy", "", "")
    assert llm._said(b'{"error": {"message": "x", "code": 1, "type": "t", "param": "p"}}') == ("x", "1 t", "p")


def test_a_callback_of_langchain_is_told_of_every_call() -> None:
    """Bodies and replies go through LangChain, so that tracing sees them."""
    seen: list[str] = []

    class Listener(BaseCallbackHandler):
        def on_chat_model_start(self, *_: Any, **__: Any) -> None:
            seen.append("start")

        def on_llm_end(self, response: LLMResult, **_: Any) -> None:
            seen.append(response.generations[0][0].text)

    async def run() -> None:
        with StubServer(reply=lambda body: "A") as stub:
            endpoint = Endpoint(id="stub", base_url=stub.base_url, model="stub-model")
            model = llm.make_model(endpoint)
            wire = model.wire
            assert isinstance(wire, llm.LangChainWire)
            wire._model.callbacks = [Listener()]
            await model.ask(request())
            await model.close()

    asyncio.run(run())
    assert seen == ["start", "A"]


def test_an_address_keeps_its_query_and_the_organisation_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-mine")
    wire = llm.LangChainWire(Endpoint(id="e", model="m"), "https://host/openai/v1?api-version=2", "k")
    assert str(wire._connection.url) == "https://host/openai/v1/chat/completions?api-version=2"
    assert wire._connection._headers["OpenAI-Organization"] == "org-of-mine"
    assert not [name for name in wire._connection._headers if name.lower().startswith("x-stainless")]


def test_a_hang_is_a_timeout() -> None:
    with StubServer(poisoned={"Say": "hang"}, hang_seconds=5) as stub:
        (reply,), _ = ask(stub, [request()], attempts=2, timeout=0.3)
    assert (reply.outcome, reply.attempts) == ("timeout", 2)


def test_retry_after_is_honoured_without_holding_the_slot() -> None:
    with StubServer(poisoned={"slow item": "rate_limited"}, retry_after="0.6") as stub:
        start = time.monotonic()
        replies, _ = ask(
            stub, [request("slow item"), *(request(f"other {n}") for n in range(20))], attempts=2, concurrency=1
        )
        assert time.monotonic() - start >= 0.6
        assert [reply.outcome for reply in replies] == ["rate_limited"] + ["answered"] * 20
        order = [body["messages"][0]["content"] for body in stub.bodies]
        assert order[0] == order[-1] == "slow item", "the others went out while the first waited for its Retry-After"


@pytest.mark.parametrize(
    ("field", "sent"),
    [("temperature", "temperature"), ("max_tokens", "max_completion_tokens"), ("logprobs", "logprobs")],
)
def test_what_an_endpoint_refuses_is_found_out_once(field: str, sent: str, tmp_path: object) -> None:
    journal = f"{tmp_path}/a.calls.jsonl"
    with StubServer(refuses=(field,)) as stub:
        stub_message = {"max_tokens": "use 'max_completion_tokens' instead"}.get(field, "")
        if stub_message:
            stub.poisoned = {}
        replies, model = ask(
            stub, [request(f"q {n}", top_logprobs=5) for n in range(6)], journal=journal, concurrency=4
        )
        if field == "max_tokens":
            assert all(reply.outcome == "answered" for reply in replies)
            assert sum("max_completion_tokens" in body for body in stub.bodies) == 6
        assert all(reply.outcome == "answered" for reply in replies)
        assert stub.calls == 7, "one refused call, then six answered"
        described = model.capability.described()
    assert "unsupported" in described or "max_completion_tokens" in described
    _, again = ask(stub, [request("q 0", top_logprobs=5)], journal=journal)
    assert again.capability.described() == described
    assert again.sent == 0


def test_structured_output_falls_back_step_by_step() -> None:
    with StubServer(refuses=("response_format",)) as stub:
        (reply,), model = ask(stub, [request(schema={"type": "object"})])
    assert reply.outcome == "answered"
    assert model.capability.structure == "text"


def test_a_dead_endpoint_is_stopped_early_and_says_so() -> None:
    with StubServer(dies_after=10) as stub:
        replies, model = ask(stub, [request(f"q {n}") for n in range(200)], concurrency=4)
        assert stub.calls < 30
    assert sum(reply.outcome == "answered" for reply in replies) == 10
    assert "account closed" in model.stopped
    assert {reply.outcome for reply in replies} == {"answered", "stopped"}


def test_a_refused_connection_is_not_asked_for_ever() -> None:
    stub = StubServer()
    stub.base_url = "http://127.0.0.1:9/v1"
    replies, model = ask(stub, [request(f"q {n}") for n in range(50)], concurrency=4, attempts=3)
    assert {reply.outcome for reply in replies} <= {"connection", "stopped"}
    assert model.sent < 15


def test_stored_replies_are_not_asked_again_and_unresolved_ones_only_on_demand(tmp_path: object) -> None:
    journal = f"{tmp_path}/a.calls.jsonl"
    with StubServer(poisoned={"bad": "server_error"}) as stub:
        ask(stub, [request("good"), request("bad")], journal=journal, attempts=2)
        assert stub.calls == 3
        replies, _ = ask(stub, [request("good"), request("bad")], journal=journal, attempts=2)
        assert stub.calls == 3
        assert [(reply.outcome, reply.stored) for reply in replies] == [("answered", True), ("unavailable", True)]
        ask(stub, [request("good"), request("bad")], journal=journal, attempts=2, retry_unresolved=True)
        assert stub.calls == 5
        ask(stub, [request("good")], journal=journal, attempts=2, model="another")
        assert stub.calls == 6, "another model never shares an answer"
    assert [call.outcome for call in calls_of(journal)].count("unavailable") == 4


def test_a_torn_last_line_is_one_call_lost(tmp_path: object) -> None:
    journal = f"{tmp_path}/a.calls.jsonl"
    with StubServer() as stub:
        ask(stub, [request("one"), request("two")], journal=journal)
        with open(journal, "rb+") as handle:
            handle.truncate(handle.seek(0, 2) - 20)
        replies, _ = ask(stub, [request("one"), request("two")], journal=journal)
        assert stub.calls == 3
        assert sum(reply.stored for reply in replies) == 1
        ask(stub, [request("one"), request("two")], journal=journal)
        assert stub.calls == 3


def test_the_budget_is_a_hard_stop_that_loses_nothing(tmp_path: object) -> None:
    journal = f"{tmp_path}/a.calls.jsonl"
    money: dict[str, Any] = {"price_in": 1e6, "price_out": 0.0, "concurrency": 4, "max_tokens": 1}
    with StubServer() as stub:
        budget = Budget(limit=520.0)
        replies, _ = ask(stub, [request(f"q {n}") for n in range(20)], journal=journal, budget=budget, **money)
        assert budget.spent <= 520
        assert 3 <= sum(reply.answered for reply in replies) <= 5
        replies, _ = ask(
            stub, [request(f"q {n}") for n in range(20)], journal=journal, budget=Budget(limit=9999.0), **money
        )
        assert stub.calls == 20
        assert all(reply.answered for reply in replies)


def test_concurrency_is_the_setting_and_falls_when_pushed_back() -> None:
    with StubServer(latency=0.05) as stub:
        _, model = ask(stub, [request(f"q {n}") for n in range(60)], concurrency=16)
        assert stub.peak == 16 == model.gate.peak
    with StubServer(faults={"rate_limited": 0.5}, retry_after="0.01") as stub:
        replies, model = ask(stub, [request(f"q {n}") for n in range(60)], concurrency=16, attempts=12)
        assert model.gate.limit < 16
        assert all(reply.answered for reply in replies)


def test_requests_per_minute_are_kept() -> None:
    with StubServer() as stub:
        start = time.monotonic()
        ask(stub, [request(f"q {n}") for n in range(6)], requests_per_minute=600)
        assert time.monotonic() - start >= 0.5


def test_a_planted_key_is_nowhere(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    planted = "sk-planted-0123456789abcdef"
    monkeypatch.setenv("STUB_KEY", planted)
    journal = f"{tmp_path}/a.calls.jsonl"
    with StubServer(key="the right key", reply=lambda body: planted) as stub:
        replies, model = ask(stub, [request()], journal=journal, key_env="STUB_KEY")
    assert "Incorrect API key" in replies[0].error
    with StubServer(reply=lambda body: f"you sent {planted}") as stub:
        more, _ = ask(stub, [request("echo")], journal=journal, key_env="STUB_KEY")
    seen = "\n".join([repr(replies), repr(more), model.stopped, caplog.text, Path(journal).read_text()])
    assert planted not in seen
    assert "[key]" in seen


def test_a_missing_key_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(EndpointError, match="NO_SUCH_KEY"):
        ask(StubServer(), [request()], key_env="NO_SUCH_KEY")


def test_embeddings_come_through_the_same_home() -> None:
    with StubServer() as stub:
        vectors = llm.make_embeddings(Embedding(kind="openai", model="m", base_url=stub.base_url)).embed_documents(
            ["a", "b"]
        )
    assert [len(vector) for vector in vectors] == [8, 8]
    with pytest.raises(EndpointError):
        llm.make_embeddings(Embedding(kind="openai", model="m", base_url="http://127.0.0.1:9/v1")).embed_documents(
            ["a"]
        )


def test_what_was_found_out_in_one_shard_holds_in_the_next(tmp_path: Path) -> None:
    """Other journals of the endpoint tell it; a model of another name finds out for itself."""
    first, second, third = (tmp_path / f"{name}.calls.jsonl" for name in "abc")
    with StubServer(refuses=("temperature", "max_tokens", "response_format")) as stub:
        endpoint = Endpoint(id="stub", base_url=stub.base_url, model="stub-model")

        async def one(model: EndpointModel) -> ChatReply:
            return await model.ask(request(f"to {model.ledger.path}", schema={"type": "object"}, temperature=0.0))

        before = []
        for place, settings in ((first, {}), (second, {}), (third, {"model": "another"})):
            asked = endpoint.model_copy(update=settings)
            before.append(stub.calls)
            reply, use = llm.with_model(asked, one, journal=str(place), earlier=sorted(tmp_path.glob("*.calls.jsonl")))
            assert reply.answered
            assert "structured output: text" in use.capabilities
            assert "temperature: unsupported" in use.capabilities
        assert [before[1] - before[0], before[2] - before[1], stub.calls - before[2]] == [5, 1, 5]


def test_money_set_aside_for_calls_under_way_is_waited_for() -> None:
    """Set aside is the most a call may cost; the limit counts what it did cost."""
    with StubServer(latency=0.05) as stub:
        budget = Budget(limit=20 * 100.0 + 1300.0)  # a call of the stub costs 100, a prompt like this sets aside 1,300
        replies, model = ask(
            stub, [request(f"q {n} {'x' * 3000}") for n in range(20)], budget=budget, price_in=1e6, price_out=0.0,
            concurrency=8,
        )  # fmt: skip
    assert all(reply.answered for reply in replies)
    assert (budget.spent, budget.reserved, model.stopped) == (2000.0, 0.0, "")


def test_a_study_can_embed_at_an_endpoint() -> None:
    with StubServer() as stub:
        embedder = make_embedder(Embedding(kind="openai", model="m", base_url=stub.base_url, batch=2))
        vectors = embedder.embed(["a", "b", "c"])
    assert vectors.shape == (3, 8)
