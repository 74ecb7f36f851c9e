"""Counting together: as if each had counted alone, with far fewer round trips."""

from __future__ import annotations

import asyncio

from judge_service.access.shared_count import SharedCount
from tests.keys.stores import SharedStore


class SlowStore(SharedStore):
    """A store that answers when the event loop has gone round a few times."""

    asked = 0

    async def add(self, key: str, amount: int, ttl_s: float) -> int | None:
        """Count."""
        self.asked += 1
        for _ in range(3):
            await asyncio.sleep(0)
        return await super().add(key, amount, ttl_s)


def test_each_has_its_own_count() -> None:
    """Two replicas count to 200 between them; nobody has the same count as another."""
    store = SlowStore()
    counts = [SharedCount(store, 60.0) for _ in range(2)]

    async def crowd() -> list[int | None]:
        return await asyncio.gather(*(counts[n % 2].add("key", 1) for n in range(200)))

    found = asyncio.run(crowd())
    assert sorted(n or 0 for n in found) == list(range(1, 201))
    assert store.asked <= 6


def test_whoever_leaves_takes_nobody_along() -> None:
    """A caller that hangs up is counted, and the others have their answers."""
    counts = SharedCount(SlowStore(), 60.0)

    async def one_leaves() -> tuple[list[int | None], int | None]:
        leaving = [asyncio.ensure_future(counts.add("key", 1)) for _ in range(2)]
        staying = [asyncio.ensure_future(counts.add("key", 1)) for _ in range(3)]
        await asyncio.sleep(0)
        for task in leaving:
            task.cancel()
        return await asyncio.gather(*staying), await counts.add("key", 1)

    staying, last = asyncio.run(one_leaves())
    assert None not in staying
    assert last == 6


def test_a_store_that_is_away_is_said_so() -> None:
    """Nobody waits for it."""
    store = SlowStore()
    store.gone = True
    counts = SharedCount(store, 60.0)

    async def crowd() -> list[int | None]:
        return await asyncio.gather(*(counts.add("key", 1) for _ in range(5)))

    assert asyncio.run(crowd()) == [None] * 5
