"""Callers that are cancelled never leave their answer to somebody else."""

from __future__ import annotations

import asyncio
from random import Random

from tests.redis_proxy import delaying_proxy
from tests.redis_server import RedisServer
from tests.stores.support import found, hold, is_well, redis_store, run, sure, until

SLOW_S = 0.02
"""The longest that the proxy holds an answer back: inside the limit, most of the time."""
TOO_SLOW_S = 0.08
"""Beyond the limit, now and then."""
CUT_OFF_S = 0.3
"""Always beyond it."""


def test_answers_belong_to_their_keys(redis: RedisServer) -> None:
    """Of 600 gets and counts through a slow network, cancelled at any moment and cut off when they
    take too long, no one gets what another one asked for.
    """
    random = Random(7)  # noqa: S311
    keys = [f"k{n}" for n in range(60)]
    delays = [SLOW_S, TOO_SLOW_S]

    async def work() -> None:
        async with (
            delaying_proxy(redis.port, lambda: random.random() * random.choice(delays)) as port,
            redis_store(f"redis://127.0.0.1:{port}") as store,
            redis_store(redis.url) as direct,
        ):
            for key in keys:
                await until(lambda key=key: direct.put(key, key.encode(), 60.0))  # type: ignore[misc]
            right = 0
            for round_number in range(10):
                asked = [random.choice(keys) for _ in range(30)]
                gets = [asyncio.ensure_future(store.get(key)) for key in asked]
                counters = [f"n{round_number}:{n}" for n in range(30)]
                counts = [
                    asyncio.ensure_future(store.add(key, 1000 + n, 60.0))
                    for n, key in enumerate(counters)
                ]
                await asyncio.sleep(random.random() * SLOW_S)
                for task in random.sample([*gets, *counts], 20):
                    task.cancel()
                await asyncio.wait([*gets, *counts])
                for key, get in zip(asked, gets, strict=True):
                    if not get.cancelled() and get.result() is not None:
                        assert get.result() == key.encode()
                        right += 1
                for n, count in enumerate(counts):
                    if not count.cancelled() and count.result() is not None:
                        assert count.result() == 1000 + n
                        right += 1
            assert right > 0

    run(work())


def test_a_cancelled_caller_costs_others_nothing(redis: RedisServer) -> None:
    """Everybody but the cancelled ones gets an answer, and Redis is not held to be in trouble."""

    async def work() -> None:
        async with redis_store(redis.url) as store:
            await until(lambda: is_well(store))
            await until(lambda: store.put("k", b"1", 60.0))
            for _ in range(20):
                tasks = [asyncio.ensure_future(store.get("k")) for _ in range(10)]
                await asyncio.sleep(0)
                for task in tasks[::2]:
                    task.cancel()
                await asyncio.wait(tasks)
                assert [t.cancelled() for t in tasks] == [True, False] * 5
                assert {t.result() for t in tasks[1::2]} <= {b"1", None}
            assert await found(store, "k") == b"1"
            assert await store.trouble() is None

    run(work())


def test_a_slow_network_is_left(redis: RedisServer) -> None:
    """Where every answer comes too late, Redis is soon not asked any more."""

    async def work() -> None:
        async with (
            delaying_proxy(redis.port, lambda: 0.2) as port,
            redis_store(f"redis://127.0.0.1:{port}") as store,
        ):
            assert await store.put("a", b"1", 60.0) is False
            await until(lambda: _in_trouble(store.trouble))

    run(work())


async def _in_trouble(trouble: object) -> bool:
    assert callable(trouble)
    return await trouble() is not None


def test_no_place_for_one_that_was_turned_away_and_cut_off(redis: RedisServer) -> None:
    """Who asks for a place of a full lease and hears nothing in time, has none when it asks
    again, and takes none from those who come when one is free.
    """
    delays = {"s": 0.0}

    async def work() -> None:
        async with (
            delaying_proxy(redis.port, lambda: delays["s"]) as port,
            redis_store(f"redis://127.0.0.1:{port}") as store,
            redis_store(redis.url) as direct,
        ):
            assert await hold(direct, "lease", "inside")
            await until(lambda: is_well(store))
            delays["s"] = CUT_OFF_S
            assert await store.hold("lease", "late", 1, 60.0) is None
            delays["s"] = 0.0
            await until(lambda: is_well(store))
            assert await hold(store, "lease", "late") is False
            assert await sure(lambda: direct.holders("lease")) == ["inside"]
            await direct.drop("lease", "inside")
            assert await hold(direct, "lease", "next")

    run(work())
