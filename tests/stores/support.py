"""What the tests of the stores share: running, waiting, opening and measuring."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from judge_service.adapters.redis_store import RedisStore
from judge_service.adapters.redis_url import parse_redis_url
from judge_service.adapters.sqlite_store import MAX_BYTES, SqliteStore
from judge_service.events import Event, StoreFailed
from judge_service.storage.store import Store

T = TypeVar("T")
WITHIN_S = 60.0
"""How soon a store is used again after it is back."""
LATE_S = 0.5
"""How long one operation may keep its caller on a busy machine; its limit is a tenth of that."""
FAST_S = 0.02
"""How long it may when the store is known to be gone, which is less than the limit."""
STEP_S = 0.01


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a test's coroutine."""
    return asyncio.run(work)


async def until(happens: Callable[[], Awaitable[object]], within_s: float = WITHIN_S) -> float:
    """Wait for something to become true; the seconds it took."""
    started = time.monotonic()
    while not await happens():
        assert time.monotonic() - started < within_s, "it did not happen in time"
        await asyncio.sleep(STEP_S)
    return time.monotonic() - started


async def sure(ask: Callable[[], Awaitable[T | None]]) -> T:
    """The answer of a store that may have too little of a busy machine's time to give one."""
    started = time.monotonic()
    while (answer := await ask()) is None:
        assert time.monotonic() - started < WITHIN_S, "there is no answer"
        await asyncio.sleep(STEP_S)
    return answer


async def put(store: Store, key: str, value: bytes, ttl_s: float = 60.0) -> None:
    """Put until it is stored."""
    await until(lambda: store.put(key, value, ttl_s))


async def hold(store: Store, key: str, owner: str, limit: int = 1, ttl_s: float = 60.0) -> bool:
    """Whether there is a place."""
    return await sure(lambda: store.hold(key, owner, limit, ttl_s))


async def found(store: Store, key: str) -> bytes:
    """The value of a key that has one."""
    return await sure(lambda: store.get(key))


async def timed(work: Awaitable[T]) -> tuple[T, float]:
    """The result and the seconds it took."""
    started = time.perf_counter()
    result = await work
    return result, time.perf_counter() - started


@dataclass(slots=True)
class Seen:
    """An observer that keeps what it is told."""

    events: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        """Keep it."""
        self.events.append(event)

    def failed(self, what: str) -> int:
        """How often the store failed so."""
        return sum(isinstance(e, StoreFailed) and e.what == what for e in self.events)


@asynccontextmanager
async def redis_store(url: str, seen: Seen | None = None) -> AsyncIterator[RedisStore]:
    """A store over the Redis at a URL, which was looked at once."""
    store = RedisStore(parse_redis_url(url), seen or Seen())
    try:
        await store.trouble()
        yield store
    finally:
        await store.aclose()


async def is_well(store: Store) -> bool:
    """Whether the store has no trouble and works both ways."""
    return await store.trouble() is None and await store.put("well", b"1", 60.0)


async def costs(store: Store) -> float:
    """The seconds that the slowest operation takes just now."""
    slowest = 0.0
    for work in (
        store.get("a"),
        store.put("b", b"1", 60.0),
        store.put_new("c", b"1", 60.0),
        store.add("d", 1, 60.0),
        store.hold("e", "me", 1, 60.0),
        store.drop("e", "me"),
        store.delete("f"),
    ):
        slowest = max(slowest, (await timed(work))[1])
    return slowest


async def gives_up(store: Store) -> bool:
    """Whether Redis is no longer asked: operations cost nothing."""
    await store.get("a")
    return await store.trouble() is not None and await costs(store) < FAST_S


@asynccontextmanager
async def opened(
    file: Path, seen: Seen | None = None, max_bytes: int = MAX_BYTES
) -> AsyncIterator[SqliteStore]:
    """A store over a file."""
    store = SqliteStore(file, observer=seen or Seen(), max_bytes=max_bytes)
    try:
        yield store
    finally:
        await store.aclose()
