"""A store in this process's memory: for tests, for one-off commands, and as the last resort.

Bounded: when it is full, what was written longest ago goes first.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable

from judge_service.storage.store import Found

MAX_BYTES = 64 * 1024 * 1024
ENTRY_BYTES = 200
"""What a key costs beside its value, roughly."""


class MemoryStore:
    """Implements ``Store`` for one process. ``clock`` gives seconds."""

    def __init__(
        self, *, max_bytes: int = MAX_BYTES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._values: OrderedDict[str, tuple[bytes, float]] = OrderedDict()
        self._bytes = 0
        self._counts: dict[str, tuple[int, float]] = {}
        self._places: dict[str, dict[str, float]] = {}

    @property
    def shared(self) -> bool:
        """Nobody else sees it."""
        return False

    @property
    def alone(self) -> bool:
        """The same."""
        return not self.shared

    @property
    def recovered_at(self) -> float:
        """Never lost."""
        return 0.0

    async def look_up(self, key: str) -> Found:
        """The value, unless its time is over."""
        return await self.get(key)

    async def get(self, key: str) -> bytes | None:
        """The same."""
        found = self._values.get(key)
        if found is None:
            return None
        value, until = found
        if until <= self._clock():
            self._remove(key)
            return None
        return value

    async def find(self, *keys: str) -> dict[str, bytes] | None:
        """The values that are there."""
        return {key: value for key in keys if (value := await self.get(key)) is not None}

    async def put(self, key: str, value: bytes, ttl_s: float) -> bool:
        """Store or replace."""
        self._remove(key)
        self._values[key] = (value, self._clock() + ttl_s)
        self._bytes += len(value) + ENTRY_BYTES
        while self._bytes > self._max_bytes and self._values:
            self._remove(next(iter(self._values)))
        return key in self._values

    async def put_soon(self, key: str, value: bytes, ttl_s: float) -> None:
        """The same as ``put``."""
        await self.put(key, value, ttl_s)

    async def put_new(self, key: str, value: bytes, ttl_s: float) -> bool | None:
        """Store unless the key exists."""
        if await self.get(key) is not None:
            return False
        return await self.put(key, value, ttl_s)

    async def delete(self, *keys: str) -> int:
        """Remove keys."""
        return sum(self._remove(key) for key in keys)

    async def add(self, key: str, amount: int, ttl_s: float) -> int | None:
        """Count."""
        now = self._clock()
        count, until = self._counts.get(key, (0, 0.0))
        if until <= now:
            self._counts = {k: v for k, v in self._counts.items() if v[1] > now}
            count, until = 0, now + ttl_s
        self._counts[key] = (count + amount, until)
        return count + amount

    async def hold(self, key: str, owner: str, limit: int, ttl_s: float) -> bool | None:
        """Take or renew a place."""
        now = self._clock()
        places = {o: until for o, until in self._places.get(key, {}).items() if until > now}
        free = owner in places or len(places) < limit
        if free:
            places[owner] = now + ttl_s
        self._places[key] = places
        return free

    async def holders(self, key: str) -> list[str] | None:
        """Who has a place."""
        now = self._clock()
        return [owner for owner, until in self._places.get(key, {}).items() if until > now]

    async def drop(self, key: str, owner: str) -> None:
        """Give a place back."""
        places = self._places.get(key, {})
        places.pop(owner, None)
        if not places:
            self._places.pop(key, None)

    async def trouble(self) -> str | None:
        """Never any."""
        return None

    async def scan(self, prefix: str) -> AsyncIterator[tuple[str, bytes, float]]:
        """What is there."""
        now = self._clock()
        for key, (value, until) in list(self._values.items()):
            if key.startswith(prefix) and until > now:
                yield key, value, until - now

    async def aclose(self) -> None:
        """Nothing to release."""

    def _remove(self, key: str) -> bool:
        found = self._values.pop(key, None)
        if found is None:
            return False
        self._bytes -= len(found[0]) + ENTRY_BYTES
        return True
