"""Requests and tokens per minute of one judge, counted over a sliding window.

The window is two fixed ones: what the last one counted fades out linearly while the present one
fills. The counters live in the store where it is shared, so all replicas draw on one limit; where
it is not, or does not answer, each process keeps to its share of the limit by its own count.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from judge_service.storage.store import Store

WINDOW_S = 60.0
SHORTEST_WAIT_S = 0.005


@dataclass(frozen=True, slots=True)
class Reserved:
    """What was taken for one call, and from which window."""

    window: int
    tokens: int
    stored: bool = False
    """Whether the store has counted it."""


def wait_s(
    amount: int, *, limit: int, last: int, now: int, passed: float, window_s: float
) -> float:
    """Seconds until ``amount`` more fits under ``limit``; 0 when it does already.

    ``last`` and ``now`` are the counts of the last and the present window, of which ``passed``
    seconds are over. An amount above the limit fits an empty window.
    """
    room = limit - min(amount, limit)
    if now + last * (1.0 - passed / window_s) <= room:
        return 0.0
    if now <= room:
        # Wait until enough of the last window has faded out.
        wait = window_s * (1.0 - (room - now) / last) - passed
    else:
        # The present window alone is too full: it must become the last one, and fade.
        wait = window_s - passed + window_s * (1.0 - room / now)
    return max(SHORTEST_WAIT_S, wait)


class _Counter:
    """One limit: its counter in the store, and this process's own."""

    def __init__(self, key: str, limit: int, workers: int, window_s: float) -> None:
        self.limit = limit
        self.share = max(1, limit // workers)
        self._key = key
        self._window_s = window_s
        self._own: dict[int, int] = {}
        self._last: tuple[int, int] | None = None

    def add(self, window: int, amount: int) -> None:
        """Count in this process."""
        self._own = {w: n for w, n in self._own.items() if w >= window - 1}
        self._own[window] = self._own.get(window, 0) + amount

    async def add_there(self, store: Store, window: int, amount: int) -> int | None:
        """Count in the store; the new count, or None when it cannot be had."""
        return await store.add(f"{self._key}:{window}", amount, 2.5 * self._window_s)

    def wait_here(self, window: int, amount: int, passed: float) -> float:
        """How long ``amount`` has to wait by this process's count and share."""
        last, now = self._own.get(window - 1, 0), self._own.get(window, 0)
        return wait_s(
            amount, limit=self.share, last=last, now=now, passed=passed, window_s=self._window_s
        )

    async def wait_there(
        self, store: Store, window: int, amount: int, passed: float
    ) -> tuple[float | None, bool]:
        """Count ``amount`` in the store: how long it would have had to wait, None when the store
        cannot say, and whether it counted.
        """
        count = await self.add_there(store, window, amount)
        if count is None:
            return None, False
        last = await self._last_count(store, window)
        if last is None:
            return None, True
        before = max(0, count - amount)
        wait = wait_s(
            amount, limit=self.limit, last=last, now=before, passed=passed, window_s=self._window_s
        )
        return wait, True

    async def _last_count(self, store: Store, window: int) -> int | None:
        # A window that is over counts no more, so one look is enough.
        if self._last is None or self._last[0] != window:
            count = await self.add_there(store, window - 1, 0)
            if count is None:
                return None
            self._last = (window, max(0, count))
        return self._last[1]


class Rates:
    """The rates of one judge, under keys that begin with ``name``.

    ``wall`` gives seconds of the wall clock, which replicas share; ``workers`` are the processes
    that a limit is divided by where the store does not count for all of them.
    """

    def __init__(
        self,
        name: str,
        *,
        rpm: int | None,
        tpm: int | None,
        store: Store,
        workers: int = 1,
        wall: Callable[[], float] = time.time,
        window_s: float = WINDOW_S,
    ) -> None:
        self._store = store
        self._wall = wall
        self._window_s = window_s

        def counter(prefix: str, limit: int | None) -> _Counter | None:
            return None if limit is None else _Counter(f"{prefix}:{name}", limit, workers, window_s)

        self._requests = counter("jr:1", rpm)
        self._tokens = counter("jt:1", tpm)

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return bool(self._requests or self._tokens)

    @property
    def pace_s(self) -> float:
        """Seconds that pass from one request to the next, at least, once the rate is used up."""
        if not self._requests:
            return 0.0
        counter = self._requests
        return self._window_s / (counter.limit if self._store.shared else counter.share)

    async def take(self, tokens: int) -> Reserved | float:
        """Take one request and ``tokens``, or nothing: then the seconds to wait."""
        window, passed = self._now()
        amounts = self._amounts(tokens)
        found: list[tuple[float | None, bool]] = [(None, False) for _ in amounts]
        if self._store.shared:
            found = await asyncio.gather(
                *(c.wait_there(self._store, window, n, passed) for c, n in amounts)
            )
        # From here on nothing else goes on, so two calls do not both take the last of it.
        wait = 0.0
        for (counter, amount), (there, _) in zip(amounts, found, strict=True):
            here = counter.wait_here(window, amount, passed) if there is None else there
            wait = max(wait, here)
        for counter, amount in amounts:
            counter.add(window, amount)
        taken = Reserved(window, tokens, stored=all(stored for _, stored in found))
        if wait == 0.0:
            return taken
        await self.give_back(taken)
        return wait

    async def give_back(self, taken: Reserved) -> None:
        """The call was not sent."""
        for counter, amount in self._amounts(taken.tokens):
            await self._change(counter, taken, -amount)

    async def correct(self, taken: Reserved, used: int) -> None:
        """The call used ``used`` tokens, whatever was estimated."""
        if self._tokens and used != taken.tokens:
            await self._change(self._tokens, taken, used - taken.tokens)

    async def _change(self, counter: _Counter, taken: Reserved, amount: int) -> None:
        counter.add(taken.window, amount)
        if taken.stored:
            await counter.add_there(self._store, taken.window, amount)

    def _amounts(self, tokens: int) -> list[tuple[_Counter, int]]:
        both = ((self._requests, 1), (self._tokens, tokens))
        return [(counter, amount) for counter, amount in both if counter]

    def _now(self) -> tuple[int, float]:
        number, passed = divmod(self._wall(), self._window_s)
        return int(number), passed
