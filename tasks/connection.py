"""One endpoint's HTTP: a JSON body posted, a status, headers and bytes back, over one pool of aiohttp connections.

It retries nothing and judges nothing. The openai SDK costs six times as much a call in this process: it turns each body
and each reply through typed models that nobody here reads (`python -m benchmarks.panel` measures both).
"""

from __future__ import annotations

import json
import ssl
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from yarl import URL

IDLE_SECONDS = 4.0
"""A connection unused for so long is not used again: servers commonly close theirs after five."""
_LONGEST_HEADER = 65_536

ConnectionFailed = aiohttp.ClientError
"""What `post` raises when no whole answer came."""
NotReached = aiohttp.ClientConnectorError
"""The kind of it in which no connection could be made at all: nothing was asked, so nothing is paid."""


@dataclass(frozen=True)
class Answer:
    """What came back, whatever it says. Header names are case-insensitive."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Connection:
    """Posts bodies to one address. Proxies are taken from the environment, once; certificates are given."""

    def __init__(self, base_url: str, path: str, headers: Mapping[str, str], certificates: ssl.SSLContext) -> None:
        base = URL(base_url)
        self.url = base.with_path(f"{base.path.rstrip('/')}/{path}").with_query(base.query)
        self._headers = dict(headers)
        self._certificates = certificates
        self._session: aiohttp.ClientSession | None = None

    def _open(self) -> aiohttp.ClientSession:
        """The session; made with the first call, because it belongs to the event loop that runs then."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=self._certificates, keepalive_timeout=IDLE_SECONDS),
                headers=self._headers,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
                proxy=_proxy_for(self.url),
                max_line_size=_LONGEST_HEADER,
                max_field_size=_LONGEST_HEADER,
            )
        return self._session

    async def post(self, body: Mapping[str, Any]) -> Answer:
        """Send once and read the whole answer. `ConnectionFailed` when there is none; the caller sets the time
        limit."""
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
        async with self._open().post(self.url, data=data) as response:
            return Answer(response.status, response.headers, await response.read())

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


def _proxy_for(url: URL) -> str | None:
    """The proxy that the environment names for an address."""
    if not url.host or urllib.request.proxy_bypass(url.host):
        return None
    return urllib.request.getproxies().get(url.scheme)
