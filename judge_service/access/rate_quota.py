"""Requests a minute by name, over a sliding window that all replicas share.

Time is cut into slots, each with a counter in the store. Requests are counted first and then the
slots of the last minute added up, so two replicas never both take the last place. Slots that have
been over for a while do not change any more and are read once; requests that come while the store
is being asked go there together next. What this process let through is counted here as well: that
is the limit when the store cannot say.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from judge_service.storage.store import Store

WINDOW_S = 60
SLOT_S = 4
SLOTS = WINDOW_S // SLOT_S
"""Whole slots before the current one: the window is 60 to 64 seconds long, never shorter."""
SETTLED_S = 1.0
"""When a slot has been over for so long, no replica counts in it any more, in seconds."""
TTL_S = 2.0 * WINDOW_S
AT_ONCE = 8
"""How many slots are read together."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Requests that are counted here, in ``slot``; ``answer`` is how long they have to wait."""

    amount: int
    limit: int
    slot: int
    answer: asyncio.Future[float | None]


@dataclass(slots=True)
class _Counts:
    """Requests of one name by slot: let through here, and by everybody in slots that are over.
    ``waiting`` are those that the store has not been told of.
    """

    own: dict[int, int] = field(default_factory=dict)
    settled: dict[int, int] = field(default_factory=dict)
    waiting: list[_Waiting] = field(default_factory=list)
    telling: asyncio.Task[None] | None = None

    def keep(self, first: int, last: int) -> None:
        """Forget all other slots; a clock that was set back leaves some in the future."""
        for counts in (self.own, self.settled):
            for slot in [slot for slot in counts if not first <= slot <= last]:
                del counts[slot]

    def known(self) -> dict[int, int]:
        return {
            slot: max(self.own.get(slot, 0), self.settled.get(slot, 0))
            for slot in self.own.keys() | self.settled.keys()
        }


class RateQuota:
    """Counts requests in ``store``. ``clock`` gives seconds since 1970, the same for replicas."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self._counts: dict[str, _Counts] = {}

    async def take(self, name: str, limit: int, amount: int = 1) -> float | None:
        """Count ``amount`` requests of ``name``. None when they are within ``limit`` a minute, else
        the seconds after which they would be; then they are not counted.
        """
        now = self._clock()
        slot = int(now // SLOT_S)
        counts = self._counts.setdefault(name, _Counts())
        counts.keep(slot - SLOTS, slot + 1)
        known = counts.known()
        if sum(known.values()) + amount > limit:
            return _wait_s(known, limit - amount, now)
        # Before anything is waited for, so that requests of one moment see each other.
        counts.own[slot] = counts.own.get(slot, 0) + amount
        if not self._store.shared:
            return None
        answer: asyncio.Future[float | None] = asyncio.get_running_loop().create_future()
        counts.waiting.append(_Waiting(amount, limit, slot, answer))
        if counts.telling is None:
            counts.telling = asyncio.create_task(self._tell(name, counts))
        return await answer

    async def _tell(self, name: str, counts: _Counts) -> None:
        """Count in the store what waits, all of one moment together, until nothing does."""
        try:
            while counts.waiting:
                together, counts.waiting = counts.waiting, []
                await self._share(name, counts, together)
        finally:
            counts.telling = None
            for one in counts.waiting:
                _answer(one, None)

    async def _share(self, name: str, counts: _Counts, together: list[_Waiting]) -> None:
        now = self._clock()
        slot = int(now // SLOT_S)
        refused: list[_Waiting] = []
        try:
            amount = sum(one.amount for one in together)
            total = await self._store.add(_key(name, slot), amount, TTL_S)
            if total is None:
                return
            past = await self._past(name, counts, slot, now)
            past[slot] = total - amount
            used = sum(past.values())
            for one in together:
                if used + one.amount <= one.limit:
                    used += one.amount
                    past[slot] += one.amount
                else:
                    refused.append(one)
            for one in refused:
                counts.own[one.slot] = counts.own.get(one.slot, 0) - one.amount
                _answer(one, _wait_s(past, one.limit - one.amount, now))
        finally:
            # Whatever happened, nobody is left waiting; what is not refused is let through.
            for one in together:
                _answer(one, None)
        if refused:
            back = sum(one.amount for one in refused)
            await self._store.add(_key(name, slot), -back, TTL_S)

    async def give_back(self, name: str, amount: int = 1) -> None:
        """Take back what was just taken: something else turned the request away."""
        slot = int(self._clock() // SLOT_S)
        counts = self._counts.setdefault(name, _Counts())
        counts.own[slot] = counts.own.get(slot, 0) - amount
        if self._store.shared:
            await self._store.add(_key(name, slot), -amount, TTL_S)

    async def _past(self, name: str, counts: _Counts, slot: int, now: float) -> dict[int, int]:
        """Requests by slot before ``slot``; what cannot be read is what this process knows."""
        found = counts.known()
        wanted = [s for s in range(slot - 1, slot - SLOTS - 1, -1) if s not in counts.settled]
        for start in range(0, len(wanted), AT_ONCE):
            part = wanted[start : start + AT_ONCE]
            read = await asyncio.gather(*(self._store.add(_key(name, s), 0, TTL_S) for s in part))
            for s, count in zip(part, read, strict=True):
                if count is None:
                    return found
                found[s] = max(count, counts.own.get(s, 0))
                if (s + 1) * SLOT_S + SETTLED_S <= now:
                    counts.settled[s] = count
        return found


def _answer(one: _Waiting, wait_s: float | None) -> None:
    if not one.answer.done():
        one.answer.set_result(wait_s)


def _key(name: str, slot: int) -> str:
    return f"jq:rpm:{name_key(name)}:{slot}"


def name_key(name: str) -> str:
    """A name as part of a store's key, whatever characters it has."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _wait_s(counts: Mapping[int, int], allowed: int, now: float) -> float:
    """Seconds until so many slots have left the window that at most ``allowed`` are counted."""
    left = sum(counts.values())
    for slot in sorted(counts):
        left -= counts[slot]
        if left <= allowed:
            return max(0.0, (slot + SLOTS + 1) * SLOT_S - now)
    return float(WINDOW_S)
