"""HTTP to judges over aiohttp: one pool of connections per event loop, replies bounded.

A request is sent once: a connection that a server has closed meanwhile is not used again where that
is known, and otherwise is a failed request like any other, which the layers above may repeat and
then count.
"""

from __future__ import annotations

import asyncio
import base64
import io
import ipaddress
import ssl
import urllib.request
import weakref
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

import aiohttp

from judge_service.adapters.exchange import (
    BoundedBody,
    ConnectionBroken,
    Exchange,
    NoConnection,
)

IDLE_S = 4.0
"""An idle connection is kept for less than the five seconds after which many servers close it."""
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "judge-service",
}
"""What every request has."""
_MAX_HEADER_BYTES = 64 * 1024
_AT_ONCE = 512 * 1024
"""A longer body is written piece by piece, so that others have their turn meanwhile."""


@dataclass(frozen=True, slots=True)
class _Way:
    """How an address is reached: parameters of aiohttp's, and headers beside the judge's."""

    options: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


class HttpClient:
    """Posts to judges. Proxies of the environment (HTTPS_PROXY, NO_PROXY) are honoured, except for
    loopback addresses.
    """

    def __init__(self) -> None:
        self._sessions: weakref.WeakKeyDictionary[
            asyncio.AbstractEventLoop, aiohttp.ClientSession
        ] = weakref.WeakKeyDictionary()
        self._ways: dict[str, _Way] = {}

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], exchange: Exchange
    ) -> None:
        """Send one request and fill ``exchange`` from its reply, whatever its status. ``headers``
        are those beside ``HEADERS``.

        Has no time limit of its own; being cancelled closes the connection. Raises NoConnection
        or ConnectionBroken.
        """
        way = self._ways.get(url) or await self._find_way(url)
        try:
            response = await self._session().post(
                url,
                data=body if len(body) <= _AT_ONCE else io.BytesIO(body),
                headers={**headers, **way.headers} if way.headers else headers,
                allow_redirects=False,
                **way.options,
            )
            try:
                await _read(response, exchange)
            finally:
                # Gives a connection back whose reply was read to its end, closes any other.
                response.release()
        except aiohttp.ClientConnectorError as error:
            raise NoConnection from error
        except (aiohttp.ClientError, OSError, ValueError, zlib.error) as error:
            raise ConnectionBroken(type(error).__name__) from error

    async def aclose(self) -> None:
        """Close the running loop's connections."""
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.close()

    def _session(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            session = self._sessions[loop] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_S),
                timeout=aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None),
                headers=HEADERS,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                max_line_size=_MAX_HEADER_BYTES,
                max_field_size=_MAX_HEADER_BYTES,
            )
        return session

    async def _find_way(self, url: str) -> _Way:
        way = _way_to(url)
        if urlsplit(url).scheme == "https":
            way.options["ssl"] = await asyncio.to_thread(_trusted)
        return self._ways.setdefault(url, way)


async def _read(response: aiohttp.ClientResponse, exchange: Exchange) -> None:
    exchange.begun = 200 <= response.status < 300
    body = BoundedBody(response.headers.get("Content-Encoding"), exchange.room)
    async for chunk in response.content.iter_any():
        if not body.add(chunk):
            break
    exchange.headers = {name.lower(): value for name, value in response.headers.items()}
    exchange.body = body.read()
    exchange.too_large = body.too_large
    exchange.status = response.status


def _trusted() -> ssl.SSLContext:
    """Whose certificates are believed: certifi's list, or what SSL_CERT_FILE names. It takes a
    while to read.
    """
    import httpx

    return httpx.create_ssl_context()


def _way_to(url: str) -> _Way:
    """Straight, or through the proxy that the environment names for ``url``."""
    parts = urlsplit(url)
    if _is_loopback(parts.hostname or "") or urllib.request.proxy_bypass(parts.netloc):
        return _Way()
    named = urllib.request.getproxies()
    proxy = named.get(parts.scheme) or named.get("all")
    if not proxy:
        return _Way()
    found = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    options: dict[str, Any] = {
        "proxy": found._replace(netloc=found.netloc.rpartition("@")[2]).geturl()
    }
    if found.username is None:
        return _Way(options)
    pair = f"{unquote(found.username)}:{unquote(found.password or '')}".encode()
    login = {"Proxy-Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    if parts.scheme == "https":
        # For the proxy alone, not for the judge behind it.
        return _Way({**options, "proxy_headers": login})
    return _Way(options, login)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
