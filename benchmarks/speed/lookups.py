"""The look-ups of a group beside as many single ones.

``python -m benchmarks.speed.lookups`` looks up 16 keys in a Redis of its own, over and over and in
turns: at once, as the members of a group are, which is one MGET, and one after the other.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

import uvloop

from benchmarks.faults.redis_server import RedisServer
from benchmarks.speed.rounds import rounds_of
from benchmarks.speed.row import Row
from judge_service.adapters.redis_store import RedisStore
from judge_service.adapters.redis_url import parse_redis_url

GOAL = 3.0
GROUP = 16
VALUE = b"v" * 1200
"""As long as a kept verdict with a reason."""


def measure(*, groups: int = 100, rounds: int = 5) -> Row:
    """The row: medians over ``rounds`` of ``groups`` groups each way."""
    with RedisServer() as redis, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        together, singly = runner.run(_seconds(redis.url, groups, rounds))
    ratio = statistics.median(singly) / statistics.median(together)
    told = ", ".join(
        f"{how} {statistics.median(seconds) / groups * 1e6:.0f} us of processor time a group"
        for how, seconds in (("at once", together), ("one by one", singly))
    )
    return Row(
        name=f"cache look-ups of a group of {GROUP}",
        against=f"{GROUP} single GETs",
        goal=f">= {GOAL:.0f} x",
        value=ratio,
        unit="x",
        met=ratio >= GOAL,
        detail=f"{told}; {rounds} rounds of {groups}",
    )


async def _seconds(url: str, groups: int, rounds: int) -> tuple[list[float], list[float]]:
    store = RedisStore(parse_redis_url(url))
    keys = [f"jv:1:{number:064x}" for number in range(GROUP)]
    try:
        for key in keys:
            if not await store.put(key, VALUE, 600.0):
                raise RuntimeError("Redis does not answer")

        async def together() -> None:
            _check(list(await asyncio.gather(*(store.get(key) for key in keys))))

        async def singly() -> None:
            _check([await store.get(key) for key in keys])

        found: tuple[list[float], list[float]] = ([], [])
        for number in rounds_of(rounds, "lookups"):
            for way, seconds in zip((together, singly), found, strict=True):
                spent = await _spent(way, groups)
                if number:
                    seconds.append(spent)
        return found
    finally:
        await store.aclose()


def _check(values: list[bytes | None]) -> None:
    if values.count(VALUE) < GROUP - 1:  # a busy machine may be late for one
        raise RuntimeError("Redis does not answer in time")


async def _spent(way: Callable[[], Awaitable[None]], groups: int) -> float:
    before = time.process_time()
    for _ in range(groups):
        await way()
    return time.process_time() - before


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--groups", type=int, default=100, help="in each round")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print(measure(groups=given.groups, rounds=given.rounds))
