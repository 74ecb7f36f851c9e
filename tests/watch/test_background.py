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
from judge_service.watch.bill import DAY_S, Bill

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

        async def work() -> None:
            done.append("asked")

        assert background.begin(JUDGE, work)
        assert not background.begin(JUDGE, work)  # one at a time
        await asyncio.gather(*background._tasks)
        return done, background.skipped

    done, skipped = asyncio.run(run())

    assert done == ([] if reason else ["asked"])
    assert skipped == {"full": 1} | ({reason: 1} if reason else {})


def test_the_ceiling_is_of_all_processes_and_of_a_day() -> None:
    """Two processes with one store share it; the next day begins anew."""

    async def run() -> list[bool]:
        now = [10.0 * DAY_S]
        store = MemoryStore(clock=lambda: now[0])
        one, two = (bill(store=store, wall=lambda: now[0]) for _ in range(2))
        found = [await one.has_room(), await two.has_room()]
        await one.spent("a", Usage(upstream_requests=1, cost_usd=0.006))
        await two.spent("a", Usage(upstream_requests=1, cost_usd=0.006))
        found += [await one.has_room(), await two.has_room()]
        now[0] += DAY_S
        return [*found, await one.has_room()]

    assert asyncio.run(run()) == [True, True, False, False, True]


def test_a_cost_that_is_not_known_counts_as_requests() -> None:
    """So that a judge without a price cannot be asked without end."""

    async def run() -> list[bool]:
        one = bill()
        found = []
        for _ in range(5):
            found.append(await one.has_room())
            await one.spent("a", Usage(upstream_requests=1, cost_usd=None, unknown_cost_calls=1))
        return [*found, await one.has_room()]

    assert asyncio.run(run()) == [True] * 5 + [False]
