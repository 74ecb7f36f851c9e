"""Numbers for members that only their text tells apart."""

from __future__ import annotations

import asyncio
import math

from judge_service.cohort.seats import Seats
from judge_service.storage.memory_store import MemoryStore


class Lost(MemoryStore):
    """A store that cannot say who holds what, so many times or for ever."""

    def __init__(self, times: float = math.inf) -> None:
        super().__init__()
        self.times = times

    async def hold(self, key: str, owner: str, limit: int, ttl_s: float) -> bool | None:
        """Nobody knows."""
        self.times -= 1
        return None if self.times >= 0 else await super().hold(key, owner, limit, ttl_s)


def test_everybody_has_a_number_of_their_own() -> None:
    """Over two replicas of one store; a number that is given back is taken again."""
    store = MemoryStore()
    one, other = Seats(store), Seats(store)

    async def run() -> list[int]:
        async with one.seat("run", "text") as first, other.seat("run", "text") as second:
            async with one.seat("run", "text") as third, one.seat("run", "other") as apart:
                pass
            async with other.seat("run", "text") as again:
                pass
            return [first, second, third, apart, again]

    assert asyncio.run(run()) == [0, 1, 2, 0, 2]


def test_a_connection_that_was_lost_frees_its_number() -> None:
    """Who is cancelled holds nothing."""
    seats = Seats(MemoryStore())

    async def run() -> int:
        taken = asyncio.Event()

        async def lost() -> None:
            async with seats.seat("text"):
                taken.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(lost())
        await taken.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        async with seats.seat("text") as number:
            return number

    assert asyncio.run(run()) == 0


def test_without_a_store_a_process_tells_its_own_apart() -> None:
    """Members of one process never get the same number."""
    seats = Seats(Lost())

    async def run() -> list[int]:
        async with seats.seat("text") as first, seats.seat("text") as second:
            return [first, second]

    assert asyncio.run(run()) == [0, 1]


def test_a_store_that_is_slow_once_does_not_part_members() -> None:
    """Two replicas tell their members apart although neither was answered at once."""
    store = Lost(times=3)
    one, other = Seats(store), Seats(store)

    async def run() -> list[int]:
        async with one.seat("text") as first, other.seat("text") as second:
            return [first, second]

    assert asyncio.run(run()) == [0, 1]
