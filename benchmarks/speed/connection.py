"""One kept connection of a caller that costs little: a ready-made request at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Self, cast
from urllib.parse import urlsplit

Answered = Callable[["Connection"], None]
Failed = Callable[["Connection", Exception], None]


class Connection(asyncio.Protocol):
    """Tells ``answered`` of every answer of status 200 that has ``mark`` in its body, and
    ``failed`` of anything else, the end of the connection included; it is closed then.
    """

    def __init__(self, mark: bytes, answered: Answered, failed: Failed) -> None:
        self._mark = mark
        self._answered = answered
        self._failed = failed
        self._got = b""
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def to(cls, url: str, mark: bytes, answered: Answered, failed: Failed) -> Self:
        """A connection to the address. Raises OSError."""
        parts = urlsplit(url)
        _, made = await asyncio.get_running_loop().create_connection(
            lambda: cls(mark, answered, failed), parts.hostname or "", parts.port or 80
        )
        return made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by inheritance

    def send(self, request: bytes) -> None:
        """Send a request; the one before must have been answered."""
        assert self._transport is not None
        self._transport.write(request)

    def close(self) -> None:
        """Close it, which is no failure."""
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Wait for the whole answer, then tell of it."""
        got = self._got = self._got + data
        head, split, body = got.partition(b"\r\n\r\n")
        if not split:
            return
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if len(body) < int(length):
            return
        self._got = b""
        if b" 200 " in head[:16] and self._mark in body:
            self._answered(self)
        else:
            self._fail(RuntimeError(f"not answered: {got[:300]!r}"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell of an end that nobody here wanted."""
        if self._transport is not None:
            self._fail(ConnectionError("the connection ended"))

    def _fail(self, error: Exception) -> None:
        self.close()
        self._failed(self, error)
