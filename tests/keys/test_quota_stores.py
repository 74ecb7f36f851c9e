"""Quotas over the real stores: exact between replicas, and quick even after a long silence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from judge_service.access.cost_quota import CostQuota, Reservation
from judge_service.access.rate_quota import RateQuota
from judge_service.adapters.opening import open_store
from judge_service.events import nobody
from judge_service.settings import Settings
from judge_service.storage.store import Store
from tests.redis_server import RedisServer

LIMIT = 40
ATTEMPTS = 3
"""How often to count where a store that a busy machine makes late is done without."""
Open = Callable[[], Store]


@pytest.fixture(params=["file", "redis"])
def open_one(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens what one replica has of the shared store."""
    if request.param == "file":
        settings = Settings(store=tmp_path / "store.sqlite3")
        yield lambda: open_store(settings, nobody)
        return
    with RedisServer(tmp_path) as server:
        given = Settings(redis_url=server.url, secret="a secret for tests")
        yield lambda: open_store(given, nobody)


async def _ready(store: Store) -> None:
    """Wait for the first answer; a store connects while others go on without it."""
    for _ in range(5000):
        if await store.add("warm", 1, 60.0) is not None:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(await store.trouble())


def test_replicas_share_requests_and_dollars(open_one: Open) -> None:
    """Of a crowd over two replicas as many pass as are allowed; a third replica knows it."""

    async def crowd(name: str) -> tuple[int, int, int, int]:
        async with AsyncExitStack() as stack:
            stores = [open_one() for _ in range(3)]
            for store in stores:
                stack.push_async_callback(store.aclose)
                assert store.shared
                await _ready(store)
            rates = [RateQuota(store) for store in stores]
            taken = []
            for _ in range(10):
                taken += await asyncio.gather(*(rates[n % 2].take(name, LIMIT) for n in range(8)))
            late = await rates[2].take(name, LIMIT)
            costs = [CostQuota(store) for store in stores]
            spent = 0
            for n in range(16):
                made = await costs[n % 3].reserve(name, 1.0)
                if isinstance(made, Reservation):
                    spent += 1
                    await costs[n % 3].settle(made, 0.1)
            return sum(wait is None for wait in taken), len(taken), int(late is None), spent

    counted = (-1, -1, -1, -1)
    for attempt in range(ATTEMPTS):
        counted = asyncio.run(crowd(f"ann{attempt}"))
        if counted == (LIMIT, 80, 0, 10):
            break
    assert counted == (LIMIT, 80, 0, 10)
