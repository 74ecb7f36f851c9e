"""The store over Redis: every operation ends within its 50 ms, whatever Redis and the caller do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

from judge_service.adapters import redis_commands as commands
from judge_service.adapters.bounded import LIMIT_S, MAX_VALUE_BYTES, Running
from judge_service.adapters.coalescer import Coalescer
from judge_service.adapters.redis_health import SLOW, RedisHealth
from judge_service.adapters.redis_link import Dropped, Failure, RedisFailed, RedisLink, failure_of
from judge_service.adapters.redis_url import RedisTarget
from judge_service.adapters.store_trouble import StoreTrouble
from judge_service.events import Observer, StoreFailed, nobody
from judge_service.storage.store import UNKNOWN, Found, StoreError

SCAN_TIMEOUT_S = 10.0
T = TypeVar("T")
Work = Callable[[RedisLink], Awaitable[T]]


@dataclass(slots=True)
class _Turn:
    """One operation. ``asked_at`` is when it had a connection's place."""

    name: str
    what: Literal["read", "write"]
    again: bool
    asked_at: float | None = None


class RedisStore:
    """Implements ``Store``. Opens at once, whether Redis is there or not."""

    def __init__(self, target: RedisTarget, observer: Observer = nobody) -> None:
        self._target = target
        self._observer = observer
        self._trouble = StoreTrouble()
        self._running = Running()
        self._health = RedisHealth(
            target, self._trouble, self._running, lambda: observer(StoreFailed("connect"))
        )
        self._gets = Coalescer(self._get_many)
        # Fewer than the client's own limit, so that waiting for a connection happens here, where
        # it is known not to be Redis's fault.
        self._places = asyncio.Semaphore(target.connections)
        self._closed = False

    @property
    def shared(self) -> bool:
        """All replicas see it."""
        return True

    @property
    def alone(self) -> bool:
        """Nobody knows who else uses it."""
        return False

    @property
    def recovered_at(self) -> float:
        """When Redis was last there again."""
        return self._health.recovered_at

    async def look_up(self, key: str) -> Found:
        """The value, by an MGET that other look-ups share."""
        if not await self._usable():
            return UNKNOWN
        asked_at = time.monotonic()
        found = await self._gets.look_up(key)
        if found is UNKNOWN and time.monotonic() - asked_at >= LIMIT_S:
            # Its batch is cut off a moment later; the caller's next operation comes before that.
            self._health.doubt()
        return found

    async def get(self, key: str) -> bytes | None:
        """The same; None also when Redis cannot say."""
        found = await self.look_up(key)
        return None if found is UNKNOWN else found

    async def find(self, *keys: str) -> dict[str, bytes] | None:
        """The values that are there, by one MGET."""
        return await self._get_many(keys)

    async def put(self, key: str, value: bytes, ttl_s: float) -> bool:
        """Store or replace, whatever is there."""
        if len(value) > MAX_VALUE_BYTES:
            return False
        work = partial(commands.put, key=key, value=value, ttl_s=ttl_s)
        return bool(await self._do(_Turn("put", "write", again=True), work))

    async def put_soon(self, key: str, value: bytes, ttl_s: float) -> None:
        """The same as ``put``: nobody finds it before it is there."""
        await self.put(key, value, ttl_s)

    async def put_new(self, key: str, value: bytes, ttl_s: float) -> bool | None:
        """Store unless the key exists."""
        if len(value) > MAX_VALUE_BYTES:
            return None
        work = partial(commands.put_new, key=key, value=value, ttl_s=ttl_s)
        return await self._do(_Turn("put_new", "write", again=False), work)

    async def delete(self, *keys: str) -> int:
        """Remove keys, some hundred at a time."""
        removed = 0
        for start in range(0, len(keys), commands.SCAN_BATCH):
            work = partial(commands.delete, keys=keys[start : start + commands.SCAN_BATCH])
            removed += await self._do(_Turn("delete", "write", again=True), work) or 0
        return removed

    async def add(self, key: str, amount: int, ttl_s: float) -> int | None:
        """Count."""
        work = partial(commands.add, key=key, amount=amount, ttl_s=ttl_s)
        return await self._do(_Turn("add", "write", again=False), work)

    async def hold(self, key: str, owner: str, limit: int, ttl_s: float) -> bool | None:
        """Take or renew a place, by Redis's clock."""
        now = self._health.now()
        work = partial(commands.hold, key=key, owner=owner, limit=limit, ttl_s=ttl_s, now=now)
        return await self._do(_Turn("hold", "write", again=True), work)

    async def holders(self, key: str) -> list[str] | None:
        """Who has a place, by Redis's clock."""
        work = partial(commands.holders, key=key, now=self._health.now())
        return await self._do(_Turn("holders", "read", again=True), work)

    async def drop(self, key: str, owner: str) -> None:
        """Give a place back."""
        work = partial(commands.drop, key=key, owner=owner)
        await self._do(_Turn("drop", "write", again=True), work)

    async def trouble(self) -> str | None:
        """What is wrong, after at least one look at Redis."""
        await self._health.known()
        return self._trouble.now

    async def scan(self, prefix: str) -> AsyncIterator[tuple[str, bytes, float]]:
        """Everything under the prefix, over connections of its own that may take their time."""
        link = RedisLink(
            self._target, self._health.tls, connect_s=SCAN_TIMEOUT_S, read_s=SCAN_TIMEOUT_S
        )
        try:
            async for entry in commands.scan(link, prefix):
                yield entry
        except RedisFailed as error:
            sentence = failure_of(error).sentence
            raise StoreError(f"Redis at {self._target.where}: {sentence}") from None
        finally:
            await link.aclose()

    async def aclose(self) -> None:
        """End what runs and close all connections."""
        self._closed = True
        await self._gets.aclose()
        await self._health.aclose()

    async def _usable(self) -> bool:
        if self._closed:
            return False
        return self._health.asked or await self._health.known(LIMIT_S)

    async def _get_many(self, keys: Sequence[str]) -> dict[str, bytes] | None:
        work = partial(commands.get_many, keys=keys)
        return await self._do(_Turn("get", "read", again=True), work)

    async def _do(self, turn: _Turn, work: Work[T]) -> T | None:
        if not await self._usable():
            return None
        task = self._running.start(self._in_turn(turn, work))
        task.add_done_callback(partial(self._over, turn))
        await asyncio.wait({task})
        return None if task.cancelled() or task.exception() else task.result()

    async def _in_turn(self, turn: _Turn, work: Work[T]) -> T:
        async with self._places:
            turn.asked_at = time.monotonic()
            try:
                return await work(self._health.link)
            except Dropped:
                if not turn.again:
                    raise
            # The connection may have been an old one, to a server that was restarted meanwhile.
            return await work(self._health.link)

    def _over(self, turn: _Turn, task: asyncio.Task[Any]) -> None:
        """Note what became of an operation, whether or not its caller still waits."""
        if not task.cancelled():
            error = task.exception()
            if error is None:
                self._health.answered()
                self._trouble.ends(turn.name)
            else:
                self._failed(turn, failure_of(error))
        elif turn.asked_at is not None and time.monotonic() - turn.asked_at >= LIMIT_S / 2:
            self._failed(turn, SLOW)

    def _failed(self, turn: _Turn, failure: Failure) -> None:
        if self._closed or failure.kind == "busy":
            return
        self._observer(StoreFailed(turn.what))
        if failure.kind != "refused":
            self._health.fails(failure, turn.asked_at or 0.0)
            if self._health.link.clustered:
                # Perhaps one node of several; the map of the cluster is to be read anew.
                self._health.renew()
            return
        where = self._target.where
        self._trouble.begins(
            turn.name, f"Redis at {where} refuses to {turn.name}: {failure.sentence}"
        )
        if failure.read_only:
            self._health.renew()
