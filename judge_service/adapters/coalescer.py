"""Look-ups of one moment travel together: many gets, one question to the store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import islice

from judge_service.adapters.bounded import LIMIT_S, settled
from judge_service.storage.store import UNKNOWN, Found

MAX_KEYS = 256
MAX_FLIGHTS = 3
"""Questions on their way at once. More than one, so that a value that takes long to read does not
hold up everybody else's."""

Fetch = Callable[[Sequence[str]], Awaitable[Mapping[str, bytes] | None]]


class Coalescer:
    """Collects the keys asked for in one round of the event loop and while questions are under way.

    ``fetch`` gives what there is of up to ``MAX_KEYS`` keys, None when that cannot be had, and does
    not raise. For one event loop at a time: what one that has ended did not get to is forgotten.
    """

    def __init__(self, fetch: Fetch, *, limit_s: float = LIMIT_S) -> None:
        self._fetch = fetch
        self._limit_s = limit_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wanted: dict[str, asyncio.Future[Found]] = {}
        self._flights: set[asyncio.Task[None]] = set()
        self._due = False

    async def look_up(self, key: str) -> Found:
        """The value, None when there is none, UNKNOWN when it was not here in time."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._begin_in(loop)
        wanted = self._wanted.get(key)
        if wanted is None:
            wanted = self._wanted[key] = loop.create_future()
            self._send_soon()
        return wanted.result() if await settled(wanted, self._limit_s) else UNKNOWN

    async def aclose(self) -> None:
        """Answer those who still wait with nothing."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._begin_in(loop)
        for flight in list(self._flights):
            flight.cancel()
        if self._flights:
            await asyncio.wait(set(self._flights))
        for wanted in self._wanted.values():
            wanted.set_result(UNKNOWN)
        self._wanted.clear()

    def _begin_in(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._due = loop, False
        self._wanted, self._flights = {}, set()

    def _send_soon(self) -> None:
        if not self._due and len(self._flights) < MAX_FLIGHTS:
            self._due = True
            asyncio.get_running_loop().call_soon(self._send)

    def _send(self) -> None:
        self._due = False
        while self._wanted and len(self._flights) < MAX_FLIGHTS:
            batch = {key: self._wanted.pop(key) for key in [*islice(self._wanted, MAX_KEYS)]}
            flight = asyncio.get_running_loop().create_task(self._fly(batch))
            self._flights.add(flight)
            flight.add_done_callback(self._landed)

    async def _fly(self, batch: dict[str, asyncio.Future[Found]]) -> None:
        found: Mapping[str, bytes] | None = None
        try:
            found = await self._fetch(list(batch))
        finally:
            for key, wanted in batch.items():
                wanted.set_result(UNKNOWN if found is None else found.get(key))

    def _landed(self, flight: asyncio.Task[None]) -> None:
        self._flights.discard(flight)
        if self._wanted:
            self._send_soon()
