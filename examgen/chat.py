"""What the core asks of a language model: one request, one reply, both plain data. Who carries it is not its
business."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from examgen.ids import canonical_json, digest

Outcome = Literal[
    "answered",
    "empty",
    "truncated",
    "refused",
    "filtered",
    "error",
    "rate_limited",
    "unavailable",
    "malformed",
    "timeout",
    "connection",
    "stopped",
    "unsupported",
]
"""What became of a call. `answered` alone is an answer; `stopped` was never sent."""

FINAL: frozenset[str] = frozenset({"answered", "refused", "filtered", "truncated"})
"""Outcomes in which the model has spoken: asking again would give the same."""


@dataclass(frozen=True)
class ChatRequest:
    """One question to a model.

    `messages` are (role, text) pairs. `schema` is a JSON schema the reply should satisfy; `top_logprobs` > 0 asks for
    the likelihoods of the first token, `token_logprobs` for that of every token said. `tag` tells apart requests
    that are equal on the wire but not in meaning
    (repeats, items), and `None` as temperature means the endpoint's own.
    """

    messages: tuple[tuple[str, str], ...]
    purpose: str
    temperature: float | None = None
    max_tokens: int | None = None
    schema: Mapping[str, Any] | None = None
    top_logprobs: int = 0
    token_logprobs: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
    tag: str = ""

    def hash_for(self, model: str, base_url: str, settings: Mapping[str, Any]) -> str:
        """Id of this request at this model, address and decoding settings: what a stored reply is found by."""
        return digest(
            "request",
            model,
            base_url,
            canonical_json(dict(settings)),
            canonical_json(self.messages),
            canonical_json(
                [
                    self.temperature,
                    self.max_tokens,
                    self.schema,
                    self.top_logprobs,
                    self.token_logprobs,
                    dict(self.extra),
                ]
            ),
            self.tag,
        )


@dataclass(frozen=True)
class ChatReply:
    """What came back, whatever it was. Tokens, cost and latency are those of the last attempt; None is unknown."""

    text: str
    outcome: Outcome
    request_hash: str = ""
    finish_reason: str = ""
    error: str = ""
    attempts: int = 1
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    latency_seconds: float | None = None
    logprobs: tuple[tuple[str, float], ...] = ()
    stored: bool = False

    @property
    def answered(self) -> bool:
        """Whether there is text to read."""
        return self.outcome == "answered"


class ChatModel(Protocol):
    """Anything that answers a `ChatRequest`. `label` names the generator on every row; it never raises for a bad
    reply."""

    @property
    def id(self) -> str:
        """Id of the endpoint."""

    @property
    def label(self) -> str:
        """Generator label: endpoint id and model."""

    async def ask(self, request: ChatRequest) -> ChatReply:
        """Ask once, with whatever retries the carrier makes; every expected failure is an outcome of the reply."""
