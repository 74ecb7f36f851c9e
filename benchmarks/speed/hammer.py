"""A caller that costs little: ready-made requests over kept connections, one after another."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import uvloop

from benchmarks.faults.load import Ask
from benchmarks.speed.connection import Connection

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
    turn = itertools.islice(itertools.cycle(requests), total)

    async def run() -> float:
        started = time.perf_counter()
        callers = [_caller(url, turn, mark) for _ in range(min(CONNECTIONS, total))]
        await asyncio.gather(*callers)
        return time.perf_counter() - started

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return Hammered(total, runner.run(run()))


async def _caller(url: str, turn: Iterator[bytes], mark: bytes) -> None:
    """Ask over one connection until nothing is left to ask."""
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def ask(connection: Connection) -> None:
        one = next(turn, None)
        if one is not None:
            connection.send(one)
        elif not done.done():
            done.set_result(None)

    def failed(_: Connection, error: Exception) -> None:
        if not done.done():
            done.set_exception(error)

    connection = await Connection.to(url, mark, ask, failed)
    ask(connection)
    try:
        await done
    finally:
        connection.close()
