"""A store that does not answer at once parts no group, and one that is lost does so for a while."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from judge_service.cohort.insist import StoreLost, insist
from tests.cohort.support import CountingStore, cohorts, joined, request, turns


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge_service.cohort.insist.PAUSES_S", (0.0,) * 7)


@pytest.mark.parametrize("kind", ["find", "put", "add", "hold", "holders"])
def test_members_meet_although_one_kind_of_answer_is_slow(tmp_path: Path, kind: str) -> None:
    """Four members on each of two replicas, while the store says nothing three times."""
    store = CountingStore()
    one, other = cohorts(tmp_path, store), cohorts(tmp_path, store)

    async def run() -> set[int]:
        store.slow[kind] = 3
        found = await asyncio.gather(
            *(joined((one, other)[n % 2], request(f"{n} text", n)) for n in range(8))
        )
        return {len(one.posted["members"]) for one in found}

    assert asyncio.run(run()) == {8}


def test_without_the_store_members_of_one_process_meet(tmp_path: Path) -> None:
    """Those who wait and those who come; what they came to is right."""
    store = CountingStore()
    place = cohorts(tmp_path, store)

    async def run() -> set[int]:
        early = [asyncio.create_task(joined(place, request(f"{n} text", n))) for n in range(5)]
        await turns()
        for kind in ("find", "put", "add", "hold", "holders"):
            store.slow[kind] = 1_000_000
        late = [joined(place, request(f"{n} text", n)) for n in range(5, 8)]
        found = await asyncio.gather(*early, *late)
        assert all(one.posted["error"] is None for one in found)
        return {len(one.posted["members"]) for one in found}

    assert asyncio.run(run()) == {8}


def test_insisting_ends() -> None:
    """A store that never answers is lost; one that does at last is not."""
    tries = iter([None, None, False])

    async def slow() -> bool | None:
        return next(tries)

    async def never() -> None:
        return None

    assert asyncio.run(insist(slow)) is False
    with pytest.raises(StoreLost):
        asyncio.run(insist(never))
