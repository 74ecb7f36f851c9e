"""Asking in the background: where there is room, and while there is money."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from judge_service.gates.gate_state import GateState
from judge_service.judges.judge import JudgeSpec
from judge_service.storage.memory_store import MemoryStore
from judge_service.usage import Usage
from judge_service.watch.background import Background
from judge_service.watch.bill import DAY_S, Bill, Reserved

JUDGE = JudgeSpec(id="a", model="openai/a", family="x")


def idle(running: int = 0, waiting: int = 0, limit: int = 8, breaker: Any = "closed") -> GateState:
    """A judge's gate."""
    return GateState(
        judge="a", breaker=breaker, probes_in_s=None, waiting=waiting, running=running,
        limit=limit, retry_tokens=500,
    )  # fmt: skip


def bill(**more: Any) -> Bill:
    """A bill with small ceilings."""
    given = {"daily_cost_usd": 0.01, "daily_requests": 5, "store": MemoryStore(), **more}
    return Bill(watch="sentinel", tell=lambda _: None, **given)


@pytest.mark.parametrize(
    ("gate", "reason"),
    [
        (idle(), None), (idle(running=3), None), (idle(running=4), "busy"),
        (idle(waiting=1), "busy"), (idle(breaker="open"), "breaker"),
        (idle(breaker="half_open"), "breaker"), (idle(limit=1), None),
        (idle(running=1, limit=1), "busy"),
    ],
    ids=["idle", "under half", "half taken", "a line", "open", "half open", "one place", "taken"],
)  # fmt: skip
def test_room_is_what_nobody_else_needs(gate: GateState, reason: str | None) -> None:
    """Half of a judge's places stay free, and its probes are left to live requests."""

    async def run() -> tuple[list[str], dict[str, int]]:
        done: list[str] = []
        background = Background(
            watch="sentinel", bill=bill(), state=lambda _: gate, tell=lambda _: None, most=4,
            per_judge=1,
        )  # fmt: skip

        async def work(reserved: Reserved) -> None:
            assert reserved.requests == 2
            done.append("asked")

        assert background.begin(JUDGE, 2, work)
        assert not background.begin(JUDGE, 2, work)  # one at a time
        await asyncio.gather(*background._tasks)
        assert await background.bill.reserve(5) is not None  # nothing was sent, nothing is counted
        return done, background.skipped

    done, skipped = asyncio.run(run())

    assert done == ([] if reason else ["asked"])
    assert skipped == {"full": 1} | ({reason: 1} if reason else {})


async def asked(one: Bill, cost_usd: float | None, requests: int = 1) -> bool:
    """Whether there was room for one request, which then cost so much."""
    reserved = await one.reserve(1)
    if reserved is not None:
        unknown = requests if cost_usd is None else 0
        usage = Usage(upstream_requests=requests, cost_usd=cost_usd, unknown_cost_calls=unknown)
        await one.spent("a", usage, reserved)
    return reserved is not None


def test_the_ceiling_is_of_all_processes_and_of_a_day() -> None:
    """Two processes with one store share it; the next day begins anew."""

    async def run() -> list[bool]:
        now = [10.0 * DAY_S]
        store = MemoryStore(clock=lambda: now[0])
        one, two = (bill(store=store, wall=lambda: now[0]) for _ in range(2))
        found = [await asked(one, 0.006), await asked(two, 0.006)]
        found += [await asked(one, 0.006), await asked(two, 0.006)]
        now[0] += DAY_S
        return [*found, await asked(one, 0.006)]

    assert asyncio.run(run()) == [True, True, False, False, True]


@pytest.mark.parametrize("requests", [1, 2])
def test_who_works_at_the_same_time_stays_below_the_ceiling(requests: int) -> None:
    """A request is counted before it is sent, by all processes: none is sent beyond the fifth."""

    async def run() -> int:
        store = MemoryStore()
        one, two = bill(store=store), bill(store=store)
        tries = [each.reserve(requests) for _ in range(10) for each in (one, two)]
        return sum(reserved is not None for reserved in await asyncio.gather(*tries))

    assert asyncio.run(run()) == 5 // requests


def test_money_is_reserved_as_it_was_spent_before() -> None:
    """Once it is known what a request costs."""

    async def run() -> list[bool]:
        one = bill(daily_requests=100)
        assert await asked(one, 0.004)
        return [await one.reserve(1) is not None for _ in range(4)]

    assert asyncio.run(run()) == [True, False, False, False]


def test_what_was_begun_yesterday_does_not_make_room_today() -> None:
    """Its reservation went with its day."""

    async def run() -> list[bool]:
        now = [10.0 * DAY_S]
        one = bill(store=MemoryStore(clock=lambda: now[0]), wall=lambda: now[0])
        reserved = await one.reserve(5)
        assert reserved is not None
        now[0] += DAY_S
        await one.spent("a", Usage(upstream_requests=5), reserved)
        now[0] += 1.0
        return [await one.reserve(1) is not None]

    assert asyncio.run(run()) == [False]


def test_a_cost_that_is_not_known_counts_as_requests() -> None:
    """So that a judge without a price cannot be asked without end."""

    async def run() -> list[bool]:
        one = bill()
        return [await asked(one, None) for _ in range(6)]

    assert asyncio.run(run()) == [True] * 5 + [False]
