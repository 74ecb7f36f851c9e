"""Whether Redis is asked at all: a small breaker, and the task that notices when Redis is back."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine
from typing import Any

from judge_service.adapters.bounded import LIMIT_S, Running, settled
from judge_service.adapters.redis_link import Dropped, Failure, RedisLink, failure_of, tls_context
from judge_service.adapters.redis_names import Names
from judge_service.adapters.redis_url import RedisTarget
from judge_service.adapters.store_trouble import StoreTrouble

LOOK_S = 0.5
"""How often Redis is looked at."""
CONNECT_S = 1.0
"""How long connecting anew may take: nobody waits for it."""
MAX_FAILURES = 3
WARM = 8
"""Connections that are made before requests need them."""
SLOW = Failure(kind="gone", sentence="does not answer in time")
CONNECTION = "connection"
CLOCK_KEPT_S = 60.0


class RedisHealth:
    """Owns the link to Redis. ``usable`` is false from the moment Redis is known to be gone until
    it answers again; ``failed`` is told of everything that went wrong in looking.
    """

    def __init__(
        self,
        target: RedisTarget,
        trouble: StoreTrouble,
        running: Running,
        failed: Callable[[], None],
    ) -> None:
        self._target = target
        self._trouble = trouble
        self._running = running
        self._failed = failed
        self._failures = 0
        self._failed_at = 0.0
        self._doubted = False
        self._wake = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._looked: asyncio.Future[None] | None = None
        self._clock: tuple[float, float] | None = None
        self._renewed_at = 0.0
        self._old: list[RedisLink] = []
        self.usable = False
        self.recovered_at = 0.0
        self._names = Names(target.hosts)
        self.tls = tls_context(target)
        self.link = self._new_link()

    @property
    def asked(self) -> bool:
        """Whether an operation is worth its time: Redis is usable, and no operation waited for it
        in vain since it last answered. A request has several operations and would wait for each.
        """
        return self.usable and not self._doubted

    def begin(self) -> None:
        """Start looking, once there is an event loop to do it on."""
        if self._watching is None:
            loop = asyncio.get_running_loop()
            self._looked = loop.create_future()
            self._watching = loop.create_task(self._watch())

    async def known(self, within_s: float = CONNECT_S + 2 * LIMIT_S) -> bool:
        """Whether Redis can be asked, once it was looked at; false when that takes too long."""
        self.begin()
        if self._looked is not None and not self._looked.done():
            await settled(self._looked, within_s)
        return self.asked

    def now(self) -> float:
        """Redis's time in seconds, so that all replicas reckon by one clock; this machine's where
        Redis does not tell.
        """
        if self._clock is None:
            return time.time()
        said, at = self._clock
        return said + time.monotonic() - at

    def answered(self) -> None:
        """Redis answered an operation."""
        self._failures = 0
        self._doubted = False

    def fails(self, failure: Failure, asked_at: float) -> None:
        """An operation failed in a way that makes one doubt that Redis is there. Of those that
        were under way at one moment only the first one counts. ``asked_at`` is monotonic.
        """
        if not self.usable:
            return
        if asked_at >= self._failed_at:
            self._failures += 1
            self._failed_at = time.monotonic()
        self.doubt()
        if failure.kind == "out" or self._failures >= MAX_FAILURES:
            self._give_up(failure)

    def doubt(self) -> None:
        """Somebody waited for Redis in vain: look at it now, and ask no more until it answers."""
        # One node of a cluster says nothing about the others.
        self._doubted = not self.link.clustered
        self._wake.set()

    def renew(self) -> None:
        """Leave all connections, so that the next ones find the master of today."""
        now = time.monotonic()
        if now - self._renewed_at < CONNECT_S:
            return
        self._renewed_at = now
        self._old.append(self.link)
        self.link = self._new_link()
        self._running.start(self._retire(self._old[-1]), CONNECT_S * 3)

    async def aclose(self) -> None:
        """Stop looking and close every connection."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        self._names.close()
        await self._running.aclose()
        for link in [*self._old, self.link]:
            await link.aclose()

    def _new_link(self) -> RedisLink:
        return RedisLink(self._target, self.tls, connect_s=CONNECT_S, reconnected=self._recovered)

    def _give_up(self, failure: Failure) -> None:
        if self.usable:
            self.usable = False
            self.renew()
        self._trouble.begins(CONNECTION, f"Redis at {self._target.where} {failure.sentence}")

    async def _retire(self, link: RedisLink) -> None:
        # Operations that have begun on it may end on it.
        await asyncio.sleep(LIMIT_S * 2)
        await link.aclose()
        self._old.remove(link)

    async def _watch(self) -> None:
        await self._look_anew()
        self._end_waiting()
        while True:
            with contextlib.suppress(TimeoutError):  # time to look
                async with asyncio.timeout(LOOK_S):
                    await self._wake.wait()
            self._wake.clear()
            await (self._look() if self.usable else self._look_anew())
            self._trouble.tick()

    async def _look(self) -> None:
        """Redis was there a moment ago; is it still?"""
        while self.usable:
            asked_at = time.monotonic()
            failure = await self._try(self._ping(), LIMIT_S)
            if failure is None:
                self.answered()
                return
            self._failed()
            if failure is not SLOW:
                self._give_up(failure)
            self.fails(failure, asked_at)

    async def _look_anew(self) -> None:
        """Redis was not there; connect anew and see whether it answers as fast as it must."""
        failure = await self._try(self._connect(self.link), CONNECT_S)
        failure = failure or await self._try(self.link.ping(), LIMIT_S)
        if failure is not None:
            self._failed()
            self._give_up(failure)
            self._wake.clear()
            return
        self.answered()
        self.usable = True
        self._recovered()
        self._trouble.ends(CONNECTION)
        self._end_waiting()
        # Whatever is wrong with these is noticed by whoever needs them.
        await self._try(self._warm(self.link), CONNECT_S)

    def _recovered(self) -> None:
        self.recovered_at = time.monotonic()

    def _end_waiting(self) -> None:
        if self._looked is not None and not self._looked.done():
            self._looked.set_result(None)

    async def _ping(self) -> None:
        try:
            await self.link.ping()
        except Dropped:
            # That connection may be an old one; a new one tells.
            await self.link.ping()
        if self._clock is None or time.monotonic() - self._clock[1] > CLOCK_KEPT_S:
            await self._read_clock(self.link)

    async def _connect(self, link: RedisLink) -> None:
        await self._names.known()
        await link.ping()

    async def _warm(self, link: RedisLink) -> None:
        pings = [link.ping() for _ in range(min(WARM, self._target.connections))]
        await asyncio.gather(*pings)
        await self._read_clock(link)

    async def _read_clock(self, link: RedisLink) -> None:
        asked = time.monotonic()
        said = await link.clock()
        answered = time.monotonic()
        self._clock = (time.time() if said is None else said, (asked + answered) / 2)

    async def _try(self, work: Coroutine[Any, Any, None], limit_s: float) -> Failure | None:
        task = self._running.start(work, limit_s)
        await asyncio.wait({task})
        if task.cancelled():
            return SLOW
        error = task.exception()
        return None if error is None else failure_of(error)
