"""Requests that arrive when they are due, whether or not those before were answered.

What a closed loop of callers hides, it shows: while nobody answers, requests go on arriving, and
the time of each runs from when it was due (Tene's coordinated omission).
"""

from __future__ import annotations

import asyncio
import gc
import random
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.speed.connection import Connection

LEAD_S = 0.2
GIVE_UP_S = 60.0
"""How long after the last arrival answers are waited for."""


@dataclass(slots=True)
class Arrived:
    """Seconds, one for each request in the order of arrival: ``taken`` from when it was due to its
    answer, ``late`` from when it was due to when the caller sent it, its own fault. ``opened`` are
    the connections that had to be made on the way, because all others were waiting.
    """

    taken: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    most_in_flight: int = 0
    opened: int = 0


def poisson(rate: float, seconds: float, seed: int) -> list[float]:
    """When requests are due, in seconds from the start: a Poisson process of ``rate`` a second."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    due, now = [], draw.expovariate(rate)
    while now < seconds:
        due.append(now)
        now += draw.expovariate(rate)
    return due


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of the values that at least ``share`` of them, in (0, 1], do not exceed."""
    ordered = sorted(values)
    # In whole millionths, so that 0.99 of 100 is 99 and not a little more.
    rank = -(-round(share * 1e6) * len(ordered) // 10**6)
    return ordered[max(0, rank - 1)]


def arrive(
    url: str, requests: Sequence[bytes], due: Sequence[float], *, mark: bytes, connections: int
) -> Arrived:
    """Send every request when it is due, over ``connections`` that are made before.

    Raises RuntimeError for an answer without ``mark`` or of another status than 200.
    """
    collects = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        return asyncio.run(_Crowd(url, requests, due, mark).run(connections))
    finally:
        if collects:
            gc.enable()


class _Crowd:
    """All callers of one run. Times are those of ``time.perf_counter``."""

    def __init__(
        self, url: str, requests: Sequence[bytes], due: Sequence[float], mark: bytes
    ) -> None:
        self._url = url
        self._requests = requests
        self._mark = mark
        self._due = list(due)
        # The one that has been idle longest is next: a server closes those that are idle for long.
        self._free: deque[Connection] = deque()
        self._asking: dict[Connection, int] = {}
        self._left = len(due)
        self._arrived = Arrived([0.0] * self._left, [0.0] * self._left)

    async def run(self, connections: int) -> Arrived:
        loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = loop.create_future()
        for _ in range(connections):
            self._free.append(await self._connected())
        self._start = time.perf_counter() + LEAD_S
        begin = loop.time() + LEAD_S
        opening: set[asyncio.Task[None]] = set()

        def arrives(number: int) -> None:
            if self._over.done():
                return
            if self._free:
                self._send(self._free.popleft(), number)
                return
            self._arrived.opened += 1
            opening.add(asyncio.ensure_future(self._send_anew(number)))

        for number, when in enumerate(self._due):
            loop.call_at(begin + when, arrives, number)
        try:
            await asyncio.wait_for(self._over, LEAD_S + self._due[-1] + GIVE_UP_S)
        finally:
            for connection in (*self._free, *self._asking):
                connection.close()
        return self._arrived

    async def _connected(self) -> Connection:
        return await Connection.to(self._url, self._mark, self._answered, self._ended)

    async def _send_anew(self, number: int) -> None:
        try:
            self._send(await self._connected(), number)
        except OSError as error:
            self._failed(error)

    def _send(self, connection: Connection, number: int) -> None:
        self._arrived.late[number] = self._since(number)
        self._asking[connection] = number
        self._arrived.most_in_flight = max(self._arrived.most_in_flight, len(self._asking))
        connection.send(self._requests[number])

    def _answered(self, connection: Connection) -> None:
        number = self._asking.pop(connection)
        self._arrived.taken[number] = self._since(number)
        self._free.append(connection)
        self._left -= 1
        if self._left == 0 and not self._over.done():
            self._over.set_result(None)

    def _ended(self, connection: Connection, error: Exception) -> None:
        if connection in self._asking:
            self._failed(error)
        elif connection in self._free:  # nobody waits on it
            self._free.remove(connection)

    def _failed(self, error: Exception) -> None:
        if not self._over.done():
            self._over.set_exception(error)

    def _since(self, number: int) -> float:
        return time.perf_counter() - self._start - self._due[number]
