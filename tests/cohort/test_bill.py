"""What judging a group has cost is on the bill of one of its members."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.cohort.support import CountingStore, cohorts, joined, request


class LateStore(CountingStore):
    """Gives the lead back only after somebody has looked once more at what was posted."""

    def __init__(self) -> None:
        super().__init__()
        self._seen = asyncio.Event()

    async def find(self, *keys: str) -> dict[str, bytes] | None:
        """The values that are there."""
        found = await super().find(*keys)
        if any(key.endswith(":posted") for key in found or ()):
            self._seen.set()
        return found

    async def drop(self, key: str, owner: str) -> None:
        """Give a place back."""
        if key.endswith(":lead") and any(one.endswith(":posted") for one in self._values):
            self._seen.clear()
            async with asyncio.timeout(10):
                await self._seen.wait()
        await super().drop(key, owner)


@pytest.mark.parametrize("replicas", [1, 2])
def test_an_outcome_that_is_seen_before_its_leader_is_done(tmp_path: Path, replicas: int) -> None:
    """Whoever leads tells what it cost, although the outcome can be read from the store before."""
    store = LateStore()
    places = [cohorts(tmp_path, store) for _ in range(replicas)]

    async def run() -> int:
        found = await asyncio.gather(
            *(joined(places[n % replicas], request(f"{n % 5} text {n}", n)) for n in range(8))
        )
        assert all(one.posted["error"] is None for one in found)
        return sum(one.spent.upstream_requests for one in found)

    assert asyncio.run(run()) >= 8
