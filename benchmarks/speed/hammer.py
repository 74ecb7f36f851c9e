"""A caller that costs little: ready-made requests over kept connections, one after another."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

import uvloop

from benchmarks.faults.load import Ask

CONNECTIONS = 64
MARK = b'"status":"success"'
"""What an outcome that is none does not have."""


@dataclass(frozen=True, slots=True)
class Hammered:
    """How many answers came in how many seconds."""

    answers: int
    seconds: float

    @property
    def per_second(self) -> float:
        """The rate."""
        return self.answers / self.seconds


def request(ask: Ask) -> bytes:
    """The bytes of a request."""
    body = b"" if ask.body is None else json.dumps(ask.body).encode()
    method = "GET" if ask.body is None else "POST"
    head = (
        f"{method} {ask.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def hammer(url: str, requests: Sequence[bytes], total: int, *, mark: bytes = b"") -> Hammered:
    """Send ``total`` requests, taken in turn. Raises RuntimeError for an answer without ``mark``
    and for any status but 200.
    """
    parts = urlsplit(url)
    turn = itertools.islice(itertools.cycle(requests), total)

    async def run() -> float:
        loop = asyncio.get_running_loop()
        started = time.perf_counter()
        callers = []
        for _ in range(min(CONNECTIONS, total)):
            done: asyncio.Future[None] = loop.create_future()
            await loop.create_connection(
                lambda done=done: _Caller(turn, mark, done),  # type: ignore[misc]
                parts.hostname or "",
                parts.port or 80,
            )
            callers.append(done)
        await asyncio.gather(*callers)
        return time.perf_counter() - started

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return Hammered(total, runner.run(run()))


class _Caller(asyncio.Protocol):
    def __init__(self, todo: Iterator[bytes], mark: bytes, done: asyncio.Future[None]) -> None:
        self._todo = todo
        self._mark = mark
        self._done = done
        self._got = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._next()

    def data_received(self, data: bytes) -> None:
        got = self._got = self._got + data
        head, split, body = got.partition(b"\r\n\r\n")
        if not split:
            return
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if len(body) < int(length):
            return
        self._got = b""
        if b" 200 " not in head[:16] or self._mark not in body:
            self._end(RuntimeError(f"not answered: {got[:300]!r}"))
            return
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(ConnectionError("the connection ended"))

    def _next(self) -> None:
        one = next(self._todo, None)
        if one is None:
            self._end(None)
        else:
            self._transport.write(one)

    def _end(self, error: Exception | None) -> None:
        if not self._done.done():
            if error is None:
                self._done.set_result(None)
            else:
                self._done.set_exception(error)
            self._transport.close()
