"""The one retry layer. A wire sends one attempt and says what became of it; everything about trying again is here."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from examgen.chat import FINAL, ChatReply, ChatRequest, Outcome
from examgen.records import Call
from examgen.study import Endpoint
from tasks.capability import Capability
from tasks.keys import public_address, redacted
from tasks.ledger import Budget, Ledger
from tasks.pacing import LONGEST_WAIT, Backoff, Breaker, Gate, Pace

_RETRIED: frozenset[str] = frozenset({"empty", "rate_limited", "unavailable", "malformed", "timeout", "connection"})
_TOKENS_PER_CHARACTER = 0.4
"""Upper guess of tokens a character, for money and rates before a call."""
_TOKENS_AROUND = 100
"""Upper guess of what the chat template adds to a prompt."""


BUDGET_SPENT = "the study's budget is spent"


@dataclass(frozen=True)
class Attempt:
    """One answer of a wire. `refusal` says the endpoint itself cannot be used, `unreached` that it could not even be
    connected to; `retry_after` is in seconds; `reported` is the model that the reply names."""

    outcome: Outcome
    text: str = ""
    finish_reason: str = ""
    error: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    logprobs: tuple[tuple[str, float], ...] = ()
    retry_after: float | None = None
    refusal: bool = False
    unreached: bool = False
    complaint: str = ""
    reported: str = ""


class Wire(Protocol):
    """Sends one attempt; every expected failure is an outcome."""

    async def send(self, request: ChatRequest, capability: Capability) -> Attempt:
        """Send once, without retries."""

    async def close(self) -> None:
        """Give connections back."""


@dataclass
class EndpointModel:
    """A `ChatModel` over a wire: stored replies first, then bounded attempts, all of them in the ledger."""

    endpoint: Endpoint
    wire: Wire
    key: str = ""
    address: str = ""
    ledger: Ledger = field(default_factory=Ledger)
    budget: Budget = field(default_factory=Budget)
    retry_unresolved: bool = False
    capability: Capability = field(default_factory=Capability)
    backoff: Backoff = field(default_factory=Backoff)
    breaker: Breaker = field(default_factory=Breaker)
    sent: int = 0
    reused: int = 0
    broke: bool = False

    def __post_init__(self) -> None:
        self.gate = Gate(self.endpoint.concurrency)
        self._decoding = decoding(self.endpoint)
        for model, takes in self.ledger.found_out:
            if model == self.endpoint.model:
                self.capability.recall(takes)
        self.pace = Pace(self.endpoint.requests_per_minute, self.endpoint.tokens_per_minute)

    @property
    def id(self) -> str:
        """Id of the endpoint."""
        return self.endpoint.id

    @property
    def label(self) -> str:
        """Generator label."""
        return f"{self.endpoint.id}:{self.endpoint.model}"

    @property
    def stopped(self) -> str:
        """Why nothing is sent any more, or ""."""
        return self.breaker.reason or (BUDGET_SPENT if self.broke else "")

    def hash_of(self, request: ChatRequest) -> str:
        """The hash a reply to this request is stored under."""
        return request.hash_for(self.endpoint.model, self.address, self._decoding)

    async def ask(self, request: ChatRequest) -> ChatReply:
        """One reply: stored, or got with at most `endpoint.attempts` attempts. Never raises for what an endpoint
        does."""
        if request.temperature is None:
            request = replace(request, temperature=self.endpoint.temperature)
        if request.max_tokens is None:
            request = replace(request, max_tokens=self.endpoint.max_tokens)
        name = self.hash_of(request)
        stored = self.ledger.find(name, self.retry_unresolved)
        if stored is not None:
            self.reused += 1
            if stored.answered:
                self.capability.usage = stored.prompt_tokens is not None
            return stored
        tokens = _TOKENS_AROUND + sum(len(text) for _, text in request.messages) * _TOKENS_PER_CHARACTER
        most = self._cost(int(tokens), (request.max_tokens or 0) + self.endpoint.reasoning_tokens) or 0.0
        tries = 0
        while True:
            attempt, latency, version = await self._once(request, int(tokens), most)
            if attempt.outcome == "stopped":
                return ChatReply("", "stopped", name, error=attempt.error, attempts=tries)
            if attempt.complaint and (version != self.capability.version or self.capability.learn(attempt.complaint)):
                refused = self._reply(replace(attempt, outcome="unsupported"), name, tries + 1, latency)
                self.ledger.add(self._row(request, refused, ""), None, self.capability.takes())
                continue
            tries += 1
            reply = self._reply(attempt, name, tries, latency)
            last = (
                attempt.outcome not in _RETRIED
                or tries >= self.endpoint.attempts
                or (attempt.retry_after or 0) > LONGEST_WAIT
            )
            settled = reply if last and not attempt.refusal else None
            self.ledger.add(self._row(request, reply, attempt.reported), settled)
            if attempt.refusal:
                return replace(reply, outcome="stopped")
            if last:
                return reply
            if not self.breaker.open:  # a dead endpoint is not waited for
                await asyncio.sleep(self.backoff.seconds(tries, attempt.retry_after))

    async def _once(self, request: ChatRequest, tokens: int, most: float) -> tuple[Attempt, float, int]:
        """One attempt in a slot, unless the endpoint or the budget is at its end. Waiting for a retry holds no slot."""
        began = await self.gate.enter()
        attempt: Attempt | None = None
        try:
            if self.breaker.open:
                return Attempt("stopped", error=f"not asked: endpoint stopped ({self.breaker.reason})"), 0.0, 0
            if not await self._reserved(most):
                self.broke = True
                return Attempt("stopped", error=f"not asked: {BUDGET_SPENT}; raise `budget` to go on"), 0.0, 0
            try:
                await self.pace.wait(tokens + (request.max_tokens or 0))
                version = self.capability.version
                start = time.monotonic()
                self.sent += 1
                attempt = await self.wire.send(request, self.capability)
                latency = time.monotonic() - start
            finally:
                self.budget.settle(most, self._paid(attempt))
        finally:
            self.gate.leave(
                began,
                attempt is not None and attempt.outcome in ("rate_limited", "unavailable"),
                attempt is not None and attempt.outcome == "answered",
            )
        self._learn(request, attempt)
        return replace(attempt, error=redacted(attempt.error, self.key)) if attempt.error else attempt, latency, version

    async def _reserved(self, most: float) -> bool:
        """Set money aside; while only what is set aside for calls under way stands against it, wait for them."""
        while not self.budget.reserve(most):
            if self.budget.hopeless(most):
                return False
            await asyncio.sleep(0.02)
        return True

    def _learn(self, request: ChatRequest, attempt: Attempt) -> None:
        if (
            attempt.outcome in FINAL
            or attempt.outcome in ("empty", "malformed")
            or (attempt.outcome == "error" and not attempt.refusal)
        ):
            self.breaker.answered()
            if attempt.outcome == "answered":
                self.capability.usage = attempt.prompt_tokens is not None
        elif attempt.outcome != "rate_limited":
            why = redacted(attempt.error or attempt.outcome, self.key)
            refused = attempt.refusal or attempt.outcome == "connection"
            self.breaker.failed(self.hash_of(request), why, refused, attempt.unreached)

    def _cost(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """Money of a call from the endpoint's prices per million tokens; None when prices or usage are unknown."""
        inward, outward = self.endpoint.price_in, self.endpoint.price_out
        if inward is None or outward is None or prompt_tokens is None:
            return None
        return (prompt_tokens * inward + (completion_tokens or 0) * outward) / 1e6

    def _paid(self, attempt: Attempt | None) -> float | None:
        if attempt is None or attempt.outcome not in (*FINAL, "empty", "malformed", "timeout"):
            return 0.0
        return (
            attempt.cost if attempt.cost is not None else self._cost(attempt.prompt_tokens, attempt.completion_tokens)
        )

    def _reply(self, attempt: Attempt, name: str, tries: int, latency: float) -> ChatReply:
        cost = (
            attempt.cost if attempt.cost is not None else self._cost(attempt.prompt_tokens, attempt.completion_tokens)
        )
        return ChatReply(
            redacted(attempt.text, self.key) if self.key and self.key in attempt.text else attempt.text,
            attempt.outcome,
            name,
            attempt.finish_reason,
            attempt.error,
            tries,
            attempt.prompt_tokens,
            attempt.completion_tokens,
            cost,
            round(latency, 6),
            attempt.logprobs,
        )

    def _row(self, request: ChatRequest, reply: ChatReply, reported: str) -> Call:
        return Call.model_construct(
            request_hash=reply.request_hash,
            purpose=request.purpose,
            endpoint_id=self.endpoint.id,
            model=self.endpoint.model,
            reported=reported,
            attempt=reply.attempts,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            cost=reply.cost,
            latency_seconds=reply.latency_seconds,
            outcome=reply.outcome,
            reply=reply.text,
            finish_reason=reply.finish_reason,
            error=reply.error,
        )

    async def close(self) -> None:
        """Close the wire and the ledger."""
        await self.wire.close()
        self.ledger.close()


def decoding(endpoint: Endpoint) -> Mapping[str, Any]:
    """The settings of an endpoint that can change a reply."""
    return {"reasoning_tokens": endpoint.reasoning_tokens, "extra_body": endpoint.extra_body, "mode": endpoint.mode}


def stable_address(endpoint: Endpoint) -> str:
    """The address in a request's hash: a local server's changes with every start, its model does not."""
    return "local" if endpoint.kind == "local" else public_address(endpoint.base_url)


def request_hash(endpoint: Endpoint, request: ChatRequest) -> str:
    """The hash under which the reply of an endpoint to a request with its own settings filled in is stored."""
    return request.hash_for(endpoint.model, stable_address(endpoint), decoding(endpoint))
