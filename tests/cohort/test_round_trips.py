"""What a join costs at the store: a few round trips, however long the group's name is in use."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.cohort.support import CountingStore, cohorts, joined, request, turns

WAITING = {"find": 1, "put_new": 1, "hold": 1, "holders": 1}
"""A look at all generations, the candidate, the place, and a count of who is there."""
BEGINNING = {"add": 1, "put_new": 1, "put": 1}


@pytest.fixture(autouse=True)
def _only_what_happens_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks for what other replicas do meanwhile."""
    for name in ("FIRST_LOOK_S", "LAST_LOOK_S", "CHECK_S"):
        monkeypatch.setattr(f"judge_service.cohort.watch.{name}", 60.0)


@pytest.mark.parametrize("generations", [0, 1, 8, 12])
def test_a_join_is_a_few_round_trips(tmp_path: Path, generations: int) -> None:
    """After any number of groups of the same name and prompt."""
    store = CountingStore()
    place = cohorts(tmp_path, store)

    async def run() -> list[dict[str, int]]:
        for number in range(generations):
            texts = [f"{member} of group {number}" for member in range(8)]
            await asyncio.gather(*(joined(place, request(text, n)) for n, text in enumerate(texts)))
        tasks, costs = [], []
        for member in range(7):
            store.asked.clear()
            wanted = request(f"{member} of the last", member)
            tasks.append(asyncio.create_task(joined(place, wanted)))
            await turns()
            costs.append(dict(store.asked))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return costs

    first, *others = asyncio.run(run())

    assert others == [WAITING] * 6
    # Where there are many generations already, the first member looks twice.
    first["find"] -= generations > 2
    assert first == {
        name: WAITING.get(name, 0) + BEGINNING.get(name, 0) for name in {**WAITING, **BEGINNING}
    }


def test_a_stored_answer_is_two_round_trips(tmp_path: Path) -> None:
    """One to find the group, one for what it came to."""
    store = CountingStore()
    place = cohorts(tmp_path, store)

    async def run() -> dict[str, int]:
        texts = [f"{member} text" for member in range(8)]
        first = await asyncio.gather(
            *(joined(place, request(text, n)) for n, text in enumerate(texts))
        )
        store.asked.clear()
        again = await joined(place, request(texts[3], 3))
        assert again.posted == first[3].posted
        return dict(store.asked)

    assert asyncio.run(run()) == {"find": 2}
