"""Dollars a day: counted by replicas together, in days of UTC, also for what failed."""

from __future__ import annotations

import asyncio

import pytest

from judge_service.access.cost_quota import CostQuota, OverLimit, Reservation
from tests.keys.stores import Clock, SharedStore

LIMIT = 1.0


async def ask(quota: CostQuota, cost: float | None, items: int = 1) -> float | None:
    """One request that costs so much (None: its caller hangs up); None when it was let through,
    else how long to wait.
    """
    made = await quota.reserve("alice", LIMIT, items)
    if isinstance(made, OverLimit):
        return made.retry_after_s
    await quota.settle(made, cost or 0.0, complete=cost is not None)
    return None


def test_the_day_ends_when_its_money_is_spent() -> None:
    """Replicas spend from one purse; it is full again at midnight UTC."""
    store, clock = SharedStore(), Clock(86_400 * 20_000 + 86_400 - 100.0)
    first, second = (CostQuota(store, clock=clock) for _ in range(2))

    async def day() -> list[float | None]:
        return [await ask((first, second)[n % 2], 0.1) for n in range(12)]

    today = asyncio.run(day())
    clock.now += 101
    tomorrow = asyncio.run(day())

    assert today == [None] * 10 + [100.0, 100.0]
    assert tomorrow[:10] == [None] * 10


def test_tiny_costs_add_up() -> None:
    """A request may cost less than the unit that is counted."""
    quota = CostQuota(SharedStore(), clock=Clock())

    async def many() -> int:
        return sum([await ask(quota, 0.5e-6 * 1000 / 3) is None for _ in range(7000)])

    assert 6000 <= asyncio.run(many()) <= 6060


def test_requests_at_once_stay_near_the_limit() -> None:
    """Once it is known what requests cost, a crowd of them does not run over the limit."""
    store, clock = SharedStore(), Clock()
    quotas = [CostQuota(store, clock=clock) for _ in range(2)]

    async def crowd() -> tuple[int, float]:
        for quota in quotas:
            await ask(quota, 0.01)
        made = [await quotas[n % 2].reserve("alice", LIMIT) for n in range(200)]
        running = [one for one in made if isinstance(one, Reservation)]
        waits = [one.retry_after_s for one in made if isinstance(one, OverLimit)]
        for one in running:
            await quotas[0].settle(one, 0.01)
        return len(running), max(waits)

    passed, wait = asyncio.run(crowd())
    assert 98 <= passed + 2 <= 101
    assert wait == 1.0


def test_a_batch_has_to_fit() -> None:
    """A batch whose items would usually cost more than is left is refused as a whole."""
    quota = CostQuota(SharedStore(), clock=Clock())

    async def batches() -> list[float | None]:
        return [await ask(quota, 0.05 * n, n) for n in (1, 10, 15, 5)]

    one, ten, fifteen, five = asyncio.run(batches())
    assert (one, ten, five) == (None, None, None)
    assert fifteen is not None


def test_a_caller_who_hangs_up_pays_the_usual() -> None:
    """Hanging up before the answer is no way to judge for nothing."""
    quota = CostQuota(SharedStore(), clock=Clock())

    async def hanging_up() -> list[float | None]:
        return [await ask(quota, 0.1), *[await ask(quota, None) for _ in range(12)]]

    assert sum(one is None for one in asyncio.run(hanging_up())) == 10


def test_what_is_known_of_a_request_given_up_counts() -> None:
    """A batch that was left half way is paid as far as it came."""
    quota = CostQuota(SharedStore(), clock=Clock())

    async def half_way() -> list[float | None]:
        made = await quota.reserve("alice", LIMIT, 10)
        assert isinstance(made, Reservation)
        await quota.settle(made, 1.2, complete=False)
        return [await ask(quota, 0.1)]

    assert asyncio.run(half_way()) != [None]


@pytest.mark.parametrize("when", ["always", "after a while"])
def test_without_the_store_each_replica_counts_for_itself(when: str) -> None:
    """A store that is away or was emptied does not open the purse."""
    store = SharedStore()
    quota = CostQuota(store, clock=Clock())

    async def spend() -> int:
        passed = 0
        for n in range(20):
            store.gone = when == "always" or n >= 5
            passed += await ask(quota, 0.1) is None
        return passed

    assert asyncio.run(spend()) == 10


def test_what_runs_over_midnight_belongs_to_its_day() -> None:
    """A request is paid from the day it began."""
    store, clock = SharedStore(), Clock(86_400 * 20_001 - 1.0)
    quota = CostQuota(store, clock=clock)

    async def over_midnight() -> list[float | None]:
        late = await quota.reserve("alice", LIMIT)
        assert isinstance(late, Reservation)
        clock.now += 2
        first = await ask(quota, 0.1)
        await quota.settle(late, 5.0)
        return [first, await ask(quota, 0.1)]

    assert asyncio.run(over_midnight()) == [None, None]
