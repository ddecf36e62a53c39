"""Asking a model through langchain-openai: the only home of that package. One attempt a call; retries live in
`asking`."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import ssl
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import certifi
import openai
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import PrivateAttr

from examgen.chat import ChatReply, ChatRequest
from examgen.errors import EndpointError
from examgen.study import Embedding, Endpoint
from tasks.asking import Attempt, EndpointModel, stable_address
from tasks.capability import Capability
from tasks.connection import Answer, Connection, ConnectionFailed, NotReached
from tasks.keys import NO_KEY, key_of, redacted
from tasks.ledger import Budget, Ledger

T = TypeVar("T")

OPENAI = "https://api.openai.com/v1"
"""Where an endpoint without an address lives."""

_ROLES: dict[str, type[BaseMessage]] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
_REFUSALS = {401, 402, 403, 404}
_PASSING = {408, 409, 425}


@functools.cache
def _certificates() -> ssl.SSLContext:
    """One TLS context a process: building it costs more than a hundred calls."""
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context()
    return ssl.create_default_context(cafile=certifi.where())


@functools.cache
def _unused_clients() -> tuple[openai.DefaultHttpxClient, openai.DefaultAsyncHttpxClient]:
    """The SDK's own clients, which `ChatOpenAI` insists on; nothing is sent through them."""
    return openai.DefaultHttpxClient(verify=_certificates()), openai.DefaultAsyncHttpxClient(verify=_certificates())


class _StatusError(Exception):
    """An answer that is no 200."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"HTTP {answer.status}")
        self.answer = answer


class DirectChat(ChatOpenAI):
    """`ChatOpenAI` in all but the carrying: LangChain makes the body and reads the reply, a `Connection` sends it.

    Asked with `ainvoke` or `agenerate`, so that callbacks and tracing work. Raises `_StatusError` for any other status,
    and what `ChatOpenAI` raises for a body that is no completion.
    """

    _connection: Connection = PrivateAttr()

    def carry(self, connection: Connection) -> None:
        """Send through this connection from now on."""
        self._connection = connection

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del run_manager  # nothing is streamed, so there is no token to tell it of
        body = self._get_request_payload(messages, stop=stop, **kwargs)
        body |= body.pop("extra_body", None) or {}
        answer = await self._connection.post(body)
        if not 200 <= answer.status < 300:
            raise _StatusError(answer)
        try:
            found = json.loads(answer.body)
        except ValueError as error:
            raise ValueError(f"no JSON but {answer.body[:200]!r}") from error
        result = self._create_chat_result(found)
        kept = result.generations[0].message.additional_kwargs
        kept["refusal"] = found["choices"][0]["message"].get("refusal")
        kept["reported"] = _reported(found)
        return result


def _reported(found: Mapping[str, Any]) -> str:
    """The model that a reply names; LangChain would put the one asked for where there is none."""
    named = [str(found.get(name) or "") for name in ("model", "system_fingerprint")]
    named[0] = Path(named[0]).name if named[0].startswith("/") else named[0]  # a local server names its file in full
    return f"{named[0]} ({named[1]})" if all(named) else named[0]


class LangChainWire:
    """One `DirectChat` with a hard timeout; nothing is retried here."""

    def __init__(self, endpoint: Endpoint, base_url: str, key: str) -> None:
        self._endpoint = endpoint
        blocking, waiting = _unused_clients()
        settings: dict[str, Any] = {
            "model": endpoint.model or "default",
            "base_url": base_url,
            "api_key": key,
            "timeout": endpoint.timeout,
            "max_retries": 0,
            "http_async_client": waiting,
            "http_client": blocking,
            "cache": False,
            "use_responses_api": False,  # one protocol for every endpoint: chat completions
        }
        self._model = DirectChat(**settings)
        self._connection = Connection(base_url, "chat/completions", _headers(self._model, key), _certificates())
        self._model.carry(self._connection)

    async def send(self, request: ChatRequest, capability: Capability) -> Attempt:
        """One attempt; whatever comes back or fails to is an outcome."""
        messages = [_ROLES[role](content=text) for role, text in request.messages]
        try:
            async with asyncio.timeout(self._endpoint.timeout):
                message = await self._model.ainvoke(messages, **_settings(request, self._endpoint, capability))
        except TimeoutError:
            return Attempt("timeout", error=f"no reply in {self._endpoint.timeout:g} s")
        except _StatusError as refused:
            return _from_status(refused.answer.status, *_said(refused.answer.body), refused.answer.headers)
        except ConnectionFailed as error:
            unreached = isinstance(error, NotReached)
            what = "cannot connect" if unreached else "connection cut"
            return Attempt("connection", error=f"{what}: {error or type(error).__name__}", unreached=unreached)
        except (openai.APIError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            return _from_odd_body(error)
        return _from_message(message, request.token_logprobs)

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()


def _headers(model: ChatOpenAI, key: str) -> dict[str, str]:
    """What the SDK would send: content type, user agent, organisation and project if set; not what it says of our
    machine."""
    known = {name: value for name, value in model.root_async_client.default_headers.items() if isinstance(value, str)}
    mine = {name: value for name, value in known.items() if not name.lower().startswith("x-stainless")}
    return {**mine, "Authorization": f"Bearer {key}"}


def _said(body: bytes) -> tuple[str, str, str]:
    """Message, code (with type) and parameter of an error's body; a body in no known form is the message."""
    text = body.decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except ValueError:
        return text, "", ""
    error = found.get("error", found) if isinstance(found, dict) else found
    if not isinstance(error, dict):
        return str(error), "", ""
    message = str(error.get("message") or error.get("detail") or text)
    return message, f"{error.get('code') or ''} {error.get('type') or ''}".strip(), str(error.get("param") or "")


def _settings(request: ChatRequest, endpoint: Endpoint, capability: Capability) -> dict[str, Any]:
    """What goes into the body. `extra_body` carries what langchain-openai would rename or act upon itself."""
    body: dict[str, Any] = {**endpoint.extra_body, **request.extra}
    body.setdefault(capability.token_field, (request.max_tokens or endpoint.max_tokens) + endpoint.reasoning_tokens)
    settings: dict[str, Any] = {"extra_body": body}
    if request.temperature is not None and capability.temperature:
        settings["temperature"] = request.temperature
    if request.top_logprobs and capability.logprobs:
        settings |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if request.token_logprobs and capability.logprobs:
        settings |= {"logprobs": True, "top_logprobs": 1}
    if request.schema is not None and capability.structure != "text":
        body["response_format"] = (
            {"type": "json_object"}
            if capability.structure == "json_object"
            else {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": dict(request.schema)},
            }
        )
    return settings


def _from_message(message: BaseMessage, every_token: bool) -> Attempt:
    about = message.response_metadata
    usage: Mapping[str, Any] = about.get("token_usage") or {}
    finish = str(about.get("finish_reason") or "")
    text = _text_of(message.content)
    refusal = str(message.additional_kwargs.get("refusal") or "")
    known: dict[str, Any] = {
        "finish_reason": finish,
        "reported": str(message.additional_kwargs.get("reported") or ""),
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "cost": usage.get("cost") if isinstance(usage.get("cost"), int | float) else None,
        "logprobs": _likelihoods(about.get("logprobs"), every_token),
    }
    if refusal and not text:
        return Attempt("refused", text=refusal, **known)
    if finish == "content_filter":
        return Attempt("filtered", text=text, error="stopped by the provider's content filter", **known)
    if finish == "error":
        return Attempt("unavailable", text=text, error="finish_reason error inside a 200", **known)
    if not text.strip():
        return Attempt(
            "truncated" if finish == "length" else "empty",
            error=f"no text (finish_reason {finish or 'missing'})",
            **known,
        )
    return Attempt("answered", text=text, **known)


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    return "".join(
        part if isinstance(part, str) else str(part.get("text") or "") for part in parts if isinstance(part, str | dict)
    )


def _likelihoods(logprobs: Any, every_token: bool) -> tuple[tuple[str, float], ...]:
    """The alternatives of the first token, or each token said with its likelihood."""
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not tokens:
        return ()
    chosen = tokens if every_token else tokens[0].get("top_logprobs") or tokens[:1]
    return tuple((str(one["token"]), float(one["logprob"])) for one in chosen)


def _from_status(status: int, message: str, code: str, param: str, headers: Mapping[str, str]) -> Attempt:
    said = f"HTTP {status}: {' '.join(message.split())[:400]}"
    lower = f"{message} {code}".lower()
    if status == 429:
        if "insufficient_quota" in lower or "billing" in lower:
            return Attempt("error", error=said, refusal=True)
        return Attempt("rate_limited", error=said, retry_after=_retry_after(headers))
    if status in _REFUSALS:
        return Attempt("error", error=said, refusal=True)
    if status >= 500 or status in _PASSING:
        return Attempt("unavailable", error=said, retry_after=_retry_after(headers))
    if "content_filter" in lower or "content management policy" in lower:
        return Attempt("filtered", error=said)
    return Attempt("error", error=said, complaint=f"{message} {param}" if status in (400, 422) else "")


def _from_odd_body(error: Exception) -> Attempt:
    """A 200 that is no completion: an error object, null or no choices, HTML, broken JSON."""
    held = error.args[0] if error.args else None
    if isinstance(held, dict) and ("message" in held or "code" in held):
        code = str(held.get("code") or "")
        status = int(code) if code.isdigit() else 502
        return _from_status(
            status if status >= 400 else 502, f"in a 200: {held.get('message', '')}", str(held.get("type", "")), "", {}
        )
    return Attempt(
        "malformed", error=f"not a chat completion: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds asked for by Retry-After or retry-after-ms; None when absent or not a number."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            value = float(headers.get(name, ""))
        except ValueError:
            continue
        if value >= 0:
            return value / scale
    return None


def make_model(
    endpoint: Endpoint,
    *,
    base_url: str = "",
    journal: str = "",
    budget: Budget | None = None,
    retry_unresolved: bool = False,
    earlier: Sequence[Path] = (),
    wanted: Collection[str] | None = None,
) -> EndpointModel:
    """A `ChatModel` for an endpoint. `base_url` is a local server's address; `journal` the file its calls are kept in,
    `earlier` journals whose replies count too, `wanted` the hashes of all that will be asked (None: unknown).

    Make it inside the event loop it is used in, and close it. `EndpointError` when the key or the local server is
    missing.
    """
    address = base_url or endpoint.base_url
    if not address and endpoint.kind == "local":
        raise EndpointError(
            f"endpoint {endpoint.id}: its local server is not running: open tasks.local_server.LocalServer "
            f"around the shards"
        )
    key = key_of(endpoint.id, endpoint.key_env, endpoint.key_block)
    return EndpointModel(
        endpoint,
        LangChainWire(endpoint, address or OPENAI, key),
        key="" if key == NO_KEY else key,
        address=stable_address(endpoint),
        ledger=Ledger(journal, earlier=earlier, wanted=wanted),
        budget=budget or Budget(),
        retry_unresolved=retry_unresolved,
    )


@dataclass(frozen=True)
class Use:
    """What an endpoint did for a piece of work: calls sent, replies reused, money, why it stopped, what it takes."""

    sent: int
    reused: int
    spent: float
    stopped: str
    capabilities: str


def with_model(
    endpoint: Endpoint,
    work: Callable[[EndpointModel], Awaitable[T]],
    *,
    base_url: str = "",
    journal: str = "",
    budget: Budget | None = None,
    retry_unresolved: bool = False,
    earlier: Sequence[Path] = (),
) -> tuple[T, Use]:
    """Do some asynchronous work with a model of this endpoint, outside any event loop, and close it.

    The same work with the same journal makes only the calls that are missing.
    """

    async def run() -> tuple[T, Use]:
        model = make_model(
            endpoint,
            base_url=base_url,
            journal=journal,
            budget=budget,
            retry_unresolved=retry_unresolved,
            earlier=earlier,
        )
        try:
            done = await work(model)
        finally:
            await model.close()
        return done, Use(model.sent, model.reused, model.budget.spent, model.stopped, model.capability.described())

    return asyncio.run(run())


def chat(
    endpoint: Endpoint, requests: Sequence[ChatRequest], *, base_url: str = "", journal: str = ""
) -> list[ChatReply]:
    """Ask some questions at once."""

    async def ask(model: EndpointModel) -> list[ChatReply]:
        return list(await asyncio.gather(*(model.ask(request) for request in requests)))

    return with_model(endpoint, ask, base_url=base_url, journal=journal)[0]


class EndpointEmbeddings:
    """`embed_documents` of an OpenAI-compatible endpoint; what it does wrong is an `EndpointError` without the key."""

    def __init__(self, embedding: Embedding) -> None:
        self._name = embedding.model
        self._key = key_of("embedding", embedding.key_env)
        settings: dict[str, Any] = {
            "model": embedding.model,
            "base_url": embedding.base_url or OPENAI,
            "api_key": self._key,
            "timeout": 60,
            "dimensions": embedding.dimensions,
            "max_retries": 5,
            "check_embedding_ctx_length": False,
            "chunk_size": embedding.batch,
        }
        self._client = OpenAIEmbeddings(**settings)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text, as the endpoint gives them."""
        try:
            return self._client.embed_documents(texts)
        except (openai.APIError, ValueError, TypeError, KeyError, IndexError) as error:
            said = redacted(" ".join(str(error).split())[:400], self._key)
        raise EndpointError(f"embedding model {self._name}: {said}")


def make_embeddings(embedding: Embedding) -> EndpointEmbeddings:
    """What a study whose embedding kind is openai embeds with."""
    return EndpointEmbeddings(embedding)
