"""Secrets: read where they are needed, never kept in a table, a log, an error or a task's parameters."""

from __future__ import annotations

import os
import re

from examgen.errors import EndpointError

NO_KEY = "no-key-needed"
_LOOKS_LIKE_KEY = re.compile(
    r"\b(?:sk|rk|pk|gsk|hf|xai|AIza)[-_][A-Za-z0-9*_\-.]{6,}|\bBearer\s+[A-Za-z0-9*_\-.~+/]{8,}=*"
)
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")
_QUERY_SECRET = re.compile(r"(?i)([?&](?:api[-_]?key|key|token|secret|access_token)=)[^&\s\"']+")


def key_of(name: str, key_env: str, key_block: str = "") -> str:
    """The key of an endpoint: from its environment variable, or from its Prefect Secret block.

    `EndpointError` names the endpoint and where the key was looked for; the key itself is in no message.
    """
    if key_env:
        value = os.environ.get(key_env, "")
        if not value:
            raise EndpointError(
                f"endpoint {name}: the environment variable {key_env} is empty: set it to the endpoint's key"
            )
        return value
    if key_block:
        return _from_block(name, key_block)
    return NO_KEY


def _from_block(name: str, block: str) -> str:
    from prefect.blocks.system import Secret

    try:
        loaded = Secret.load(block, _sync=True)  # type: ignore[call-arg]
    except ValueError as error:
        raise EndpointError(
            f"endpoint {name}: no Prefect Secret block is called {block!r}: create it, or use key_env"
        ) from error
    return str(loaded.get())  # type: ignore[union-attr]


def redacted(text: str, key: str) -> str:
    """The text without the key, without anything that looks like a key, without secrets in addresses."""
    if key and key != NO_KEY and key in text:
        text = text.replace(key, "[key]")
    text = _LOOKS_LIKE_KEY.sub("[key]", text)
    return _QUERY_SECRET.sub(r"\1[key]", _USER_INFO.sub("[key]@", text))


def public_address(base_url: str) -> str:
    """An address as it may be written down: no user, no query."""
    return _USER_INFO.sub("", base_url).split("?")[0].rstrip("/")
