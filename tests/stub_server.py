"""A real OpenAI-compatible HTTP server for tests: replies by rule or script, faults injected by rate or by item.

    with StubServer(faults={"rate_limited": 0.05}) as stub:
        endpoint = Endpoint(id="stub", base_url=stub.base_url, model="stub-model")

It runs in a thread of its own, or, as `python -m tests.stub_server PORT_FILE JSON`, in a process of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

FAULTS = (
    "rate_limited",
    "server_error",
    "overloaded",
    "hang",
    "cut",
    "bad_json",
    "html",
    "error_in_200",
    "null_choices",
    "empty_choices",
    "empty_content",
    "finish_error",
    "wrong_type",
    "refusal",
    "filtered",
    "truncated",
    "no_usage",
    "parts",
    "bad_request",
    "unauthorized",
)
"""Everything that can be injected. From "refusal" on, the reply is final; all before it pass with another try."""


def share(*parts: object) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    return int(hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:12], 16) / 16**12


def letter_of(body: dict[str, Any]) -> str:
    """The default rule: a letter that is a function of the prompt."""
    return "ABCD"[int(share("letter", json.dumps(body["messages"])) * 4)]


@dataclass
class StubServer:
    """`reply` maps a request body to text; `faults` maps a fault to its rate per attempt; `poisoned` maps a piece of
    prompt text to the fault it always meets, `statuses` to the HTTP status it always gets. `refuses` are body fields
    answered with a 400 that names them."""

    reply: Callable[[dict[str, Any]], str] = letter_of
    faults: dict[str, float] = field(default_factory=dict)
    poisoned: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    refuses: tuple[str, ...] = ()
    latency: float = 0.0
    retry_after: str = "0.05"
    hang_seconds: float = 30.0
    key: str = ""
    dies_after: int | None = None
    seed: str = "stub"
    record: bool = True

    def __post_init__(self) -> None:
        self.calls = 0
        self.answered: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()
        self.injected: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.in_flight = 0
        self.peak = 0
        self.base_url = ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()

    def app(self) -> web.Application:
        """The application."""
        app = web.Application(client_max_size=16 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/embeddings", self._embeddings)
        app.router.add_get("/stats", self._stats)
        return app

    async def _stats(self, request: web.Request) -> web.Response:
        return web.json_response(
            {
                "calls": self.calls,
                "answered": sum(self.answered.values()),
                "distinct": len(self.answered),
                "peak": self.peak,
                "twice": sum(count - 1 for count in self.answered.values()),
                "injected": dict(self.injected),
            }
        )

    async def _embeddings(self, request: web.Request) -> web.Response:
        body = await request.json()
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        data = [
            {"index": n, "embedding": [share(text, d) for d in range(8)], "object": "embedding"}
            for n, text in enumerate(texts)
        ]
        return web.json_response(
            {"data": data, "model": body["model"], "object": "list", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        )

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.calls += 1
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            body = await request.json()
            if self.latency:
                await asyncio.sleep(self.latency)
            return await self._answer(request, body)
        finally:
            self.in_flight -= 1

    async def _answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            given = request.headers.get("Authorization", "")
            return _error(401, f"Incorrect API key provided: {given}", "invalid_api_key")
        if self.dies_after is not None and self.calls > self.dies_after:
            return _error(401, "account closed", "account_deactivated")
        for name in self.refuses:
            if name in body:
                hint = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
                return _error(
                    400,
                    f"Unsupported parameter: '{name}' is not supported with this model.{hint}",
                    "unsupported_parameter",
                    name,
                )
        prompt = json.dumps(body["messages"], ensure_ascii=False)
        for text, status in self.statuses.items():
            if text in prompt:
                return _error(status, "no")
        fault = self._fault(prompt)
        self.injected[fault] += bool(fault)
        if self.record:
            self.bodies.append(body)
        return await self._with_fault(request, body, prompt, fault)

    def _fault(self, prompt: str) -> str:
        for text, fault in self.poisoned.items():
            if text in prompt:
                return fault
        if not self.faults:
            return ""
        name = hashlib.sha256(prompt.encode()).hexdigest()
        self.attempts[name] += 1
        drawn = share(self.seed, name, self.attempts[name])
        for fault, rate in self.faults.items():
            if drawn < rate:
                return fault
            drawn -= rate
        return ""

    async def _with_fault(
        self, request: web.Request, body: dict[str, Any], prompt: str, fault: str
    ) -> web.StreamResponse:
        if fault == "rate_limited":
            return _error(429, "slow down", "rate_limit_exceeded", headers={"Retry-After": self.retry_after})
        if fault == "server_error":
            return _error(500, "internal error")
        if fault == "overloaded":
            return _error(503, "overloaded", headers={"Retry-After": self.retry_after})
        if fault == "bad_request":
            return _error(400, "this model's maximum context length is 8192 tokens", "context_length_exceeded")
        if fault == "unauthorized":
            return _error(401, "no such key", "invalid_api_key")
        if fault == "hang":
            await asyncio.sleep(self.hang_seconds)
        if fault == "cut":
            return await self._cut(request)
        if fault == "bad_json":
            return web.Response(text='{"id": "x", "choices": [{"mess', content_type="application/json")
        if fault == "html":
            return web.Response(text="<html><body>502 Bad Gateway</body></html>", content_type="text/html")
        if fault == "error_in_200":
            return web.json_response({"error": {"message": "upstream overloaded", "code": 502}})
        if fault in ("null_choices", "empty_choices"):
            return web.json_response(_completion(body, "", choices=None if fault == "null_choices" else []))
        if fault in ("refusal", "filtered", "truncated", "empty_content", "finish_error"):
            return web.json_response(_odd(body, fault))
        self.answered[hashlib.sha256(prompt.encode()).hexdigest()] += 1
        data = _completion(body, self.reply(body))
        if fault == "no_usage":
            del data["usage"]
        if fault == "parts":
            data["choices"][0]["message"]["content"] = [
                {"type": "text", "text": data["choices"][0]["message"]["content"]}
            ]
        if fault == "wrong_type":
            return web.Response(text=json.dumps(data), content_type="text/plain")
        return web.json_response(data)

    async def _cut(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"id": "x", "cho')
        if request.transport is not None:
            request.transport.close()
        return response

    def _run(self) -> None:
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self.start())
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._runner.cleanup())
        self._loop.close()

    async def start(self) -> None:
        """Listen on a free loopback port."""
        self._runner = web.AppRunner(self.app(), access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.base_url = f"http://127.0.0.1:{port}/v1"

    def __enter__(self) -> StubServer:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)


def _error(
    status: int, message: str, code: str = "", param: str = "", headers: dict[str, str] | None = None
) -> web.Response:
    return web.json_response(
        {"error": {"message": message, "type": "error", "code": code or None, "param": param or None}},
        status=status,
        headers=headers,
    )


def _completion(body: dict[str, Any], text: str, **over: Any) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    if body.get("logprobs"):
        top = [
            {"token": letter, "logprob": -0.2 if text.startswith(letter) else -3.0, "bytes": None} for letter in "ABCD"
        ]
        choice["logprobs"] = {"content": [{"token": text[:1], "logprob": -0.2, "bytes": None, "top_logprobs": top}]}
    data = {
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model", ""),
        "system_fingerprint": "fp_stub",
        "choices": [choice],
        "usage": {"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101},
    }
    return data | over


def _odd(body: dict[str, Any], fault: str) -> dict[str, Any]:
    data = _completion(body, "")
    choice = data["choices"][0]
    if fault == "refusal":
        choice["message"] = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    elif fault == "filtered":
        choice |= {"finish_reason": "content_filter", "message": {"role": "assistant", "content": ""}}
    elif fault == "truncated":
        choice |= {"finish_reason": "length", "message": {"role": "assistant", "content": None}}
    elif fault == "finish_error":
        choice |= {"finish_reason": "error"}
    return data


async def _serve(place: Path, settings: dict[str, Any]) -> None:
    stub = StubServer(record=False, **settings)
    await stub.start()
    beside = place.with_suffix(".new")
    beside.write_text(stub.base_url)
    beside.replace(place)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}))
