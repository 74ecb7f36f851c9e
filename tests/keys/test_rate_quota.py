"""Requests a minute: exact over any minute, shared by replicas, never unlimited."""

from __future__ import annotations

import asyncio
import random

import pytest

from judge_service.access.rate_quota import RateQuota
from judge_service.storage.memory_store import MemoryStore
from tests.keys.stores import Clock, SharedStore

LIMIT = 20


def burst(quotas: list[RateQuota], count: int, limit: int = LIMIT) -> list[float | None]:
    """What becomes of ``count`` requests at once, spread over the replicas."""

    async def all_of_them() -> list[float | None]:
        return await asyncio.gather(
            *(quotas[n % len(quotas)].take("alice", limit) for n in range(count))
        )

    return asyncio.run(all_of_them())


def taken(results: list[float | None]) -> int:
    """How many were let through."""
    return sum(result is None for result in results)


@pytest.mark.parametrize("replicas", [1, 2, 3])
def test_as_many_as_allowed_pass(replicas: int) -> None:
    """Of a burst over several replicas exactly the limit passes, and again a minute later."""
    store, clock = SharedStore(), Clock()
    quotas = [RateQuota(store, clock=clock) for _ in range(replicas)]

    assert taken(burst(quotas, 3 * LIMIT)) == LIMIT
    assert taken(burst(quotas, LIMIT)) == 0
    clock.now += 64
    assert taken(burst(quotas, 3 * LIMIT)) == LIMIT


def test_a_replica_that_comes_late_knows_what_was_used() -> None:
    """What others let through before counts for one that has just started."""
    store, clock = SharedStore(), Clock()
    burst([RateQuota(store, clock=clock)], 15)
    clock.now += 30

    assert taken(burst([RateQuota(store, clock=clock)], LIMIT)) == LIMIT - 15


@pytest.mark.parametrize("seed", range(5))
def test_no_minute_has_more_than_the_limit(seed: int) -> None:
    """Whenever requests come and wherever, no 60 seconds hold more than the limit of them,
    and nobody is refused for less.
    """
    rng = random.Random(seed)  # noqa: S311
    store, clock = SharedStore(), Clock()
    quotas = [RateQuota(store, clock=clock) for _ in range(2)]
    passed: list[float] = []
    for _ in range(150):
        clock.now += rng.choice([0.0, 0.1, 0.9, 3.0, 17.0])
        results = burst(quotas, rng.randint(1, 8))
        passed += [clock.now] * taken(results)
        if taken(results) < len(results):
            assert sum(clock.now - 64 <= moment for moment in passed) >= LIMIT

    assert len(passed) > LIMIT
    for moment in passed:
        assert sum(moment <= other < moment + 60 for other in passed) <= LIMIT


def test_the_wait_is_as_long_as_it_has_to_be() -> None:
    """A refused caller is told when there is room again, and then there is."""
    store, clock = SharedStore(), Clock()
    quotas = [RateQuota(store, clock=clock)]
    burst(quotas, LIMIT)
    clock.now += 10

    (wait,) = burst(quotas, 1)

    assert wait is not None
    assert 45 <= wait <= 54
    clock.now += wait - 0.2
    assert taken(burst(quotas, 1)) == 0
    clock.now += 0.2
    assert taken(burst(quotas, 1)) == 1


def test_a_refused_request_does_not_count() -> None:
    """Asking again and again does not make the wait longer."""
    store, clock = SharedStore(), Clock()
    quotas = [RateQuota(store, clock=clock) for _ in range(2)]
    burst(quotas, LIMIT)
    for _ in range(30):
        clock.now += 1
        assert taken(burst(quotas, 4)) == 0

    clock.now += 34
    assert taken(burst(quotas, 2 * LIMIT)) == LIMIT


def test_a_store_that_is_away_leaves_the_local_limit() -> None:
    """Without the store each replica keeps the limit by itself; afterwards they share it again."""
    store, clock = SharedStore(), Clock()
    quotas = [RateQuota(store, clock=clock) for _ in range(2)]
    store.gone = True

    assert taken(burst(quotas, 6 * LIMIT)) == 2 * LIMIT
    store.gone = False
    assert taken(burst(quotas, 10)) == 0
    clock.now += 64
    assert taken(burst(quotas, 6 * LIMIT)) == LIMIT


def test_an_emptied_store_is_no_way_round() -> None:
    """What this process let through counts even when the store has forgotten it."""
    clock = Clock()
    store = SharedStore()
    quota = RateQuota(store, clock=clock)
    burst([quota], LIMIT - 5)
    store.__init__()  # type: ignore[misc]
    clock.now += 4

    assert taken(burst([quota], LIMIT)) == 5


def test_names_do_not_share() -> None:
    """One client's requests are not another's."""
    quota = RateQuota(MemoryStore(), clock=Clock())

    async def both() -> tuple[list[float | None], float | None]:
        alice = [await quota.take("alice", 2) for _ in range(3)]
        return alice, await quota.take("bob", 2)

    alice, bob = asyncio.run(both())
    assert taken(alice) == 2
    assert bob is None


def test_many_items_count_as_many() -> None:
    """A batch counts each of its items, whole or not at all."""
    clock = Clock()
    quota = RateQuota(SharedStore(), clock=clock)

    async def batches() -> list[float | None]:
        return [await quota.take("alice", 100, n) for n in (60, 60, 40, 1, 101)]

    first, second, third, fourth, never = asyncio.run(batches())
    assert (first, third) == (None, None)
    assert None not in (second, fourth, never)


def test_a_clock_that_is_set_back_locks_nobody_out() -> None:
    """What was counted in a future that did not come is forgotten."""
    clock = Clock()
    quotas = [RateQuota(MemoryStore(), clock=clock)]
    burst(quotas, LIMIT)

    clock.now -= 7200

    assert taken(burst(quotas, 2 * LIMIT)) == LIMIT
