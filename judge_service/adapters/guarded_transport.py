"""The HTTP transport under LiteLLM: bounded replies, no redirects, and a record of what came back.

LiteLLM reads a reply whole whatever its size, follows redirects and drops fields of the protocol
(``refusal``). This transport stands under its clients: it reads no more than its bound, compressed
or not, never follows a redirect, and keeps the raw exchange for the adapter.
"""

from __future__ import annotations

import asyncio
import weakref
import zlib
from contextvars import ContextVar

import httpx

from judge_service.adapters.exchange import MAX_REPLY_BYTES, BoundedBody, Exchange

_ALSO_DROPPED = ("content-encoding", "content-length", "transfer-encoding", "location")


EXCHANGE: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


class GuardedTransport(httpx.AsyncBaseTransport):
    """Sends each request through a client of the running event loop, guarded.

    Proxies of the environment (HTTPS_PROXY, NO_PROXY) are honoured, except for loopback addresses.
    """

    def __init__(self) -> None:
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = (
            weakref.WeakKeyDictionary()
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send ``request`` and read a bounded reply."""
        request.headers["accept-encoding"] = "identity"
        exchange = EXCHANGE.get()
        response = await self._client().send(request, stream=True)
        if exchange is not None:
            exchange.begun = response.is_success
        try:
            room = MAX_REPLY_BYTES if exchange is None else exchange.room
            body, too_large = await _read(response, room)
        finally:
            await response.aclose()
        if exchange is not None:
            exchange.status = response.status_code
            exchange.headers = {k.lower(): v for k, v in response.headers.items()}
            exchange.body = body
            exchange.too_large = too_large
        headers = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name.lower() not in _ALSO_DROPPED
        ]
        return httpx.Response(response.status_code, headers=headers, content=body, request=request)

    async def aclose(self) -> None:
        """Close the running loop's connections."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = httpx.AsyncClient(
                follow_redirects=False,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=256),
                mounts={f"all://{host}": None for host in ("127.0.0.1", "localhost", "[::1]")},
            )
            self._clients[loop] = client
        return client


async def _read(response: httpx.Response, room: int) -> tuple[bytes, bool]:
    """As much of the decoded body as is read at all, and whether there was more."""
    body = BoundedBody(response.headers.get("content-encoding"), room)
    async for chunk in response.aiter_raw():
        try:
            if not body.add(chunk):
                break
        except zlib.error as error:
            raise httpx.DecodingError(str(error)) from error
    return body.read(), body.too_large
