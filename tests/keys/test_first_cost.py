"""Dollars a day while nobody knows yet what a request costs: one at a time finds out."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from judge_service.access.cost_quota import CostQuota, OverLimit, Reservation
from judge_service.access.rate_quota import name_key
from judge_service.storage.store import Store
from tests.keys.keyed import COST, entry, keyed
from tests.keys.stores import Clock, SharedStore
from tests.provider import behaviours, faults

LIMIT = 1.0
KEY = "key-of-ann"
USUAL = f"jq:usual:{name_key('ann')}"


async def reserve(quota: CostQuota, items: int = 1, wait_s: float = 5.0) -> Reservation | OverLimit:
    """A request of a name with a limit."""
    return await quota.reserve("ann", LIMIT, items, wait_s=wait_s if items == 1 else None)


async def crowd(quotas: list[CostQuota], many: int) -> float:
    """What so many requests at once spend together."""

    async def one(quota: CostQuota) -> float:
        made = await reserve(quota)
        if isinstance(made, OverLimit):
            return 0.0
        await asyncio.sleep(0)
        await quota.settle(made, COST)
        return COST

    return sum(await asyncio.gather(*(one(quotas[n % len(quotas)]) for n in range(many))))


def test_a_crowd_of_first_requests_stays_near_the_limit() -> None:
    """Two fresh workers that are asked by many at once."""
    store = SharedStore()
    quotas = [CostQuota(store, clock=Clock()) for _ in range(2)]

    spent = asyncio.run(crowd(quotas, 64))

    assert LIMIT - COST < spent <= LIMIT + 2 * COST


def test_what_is_usual_is_known_to_other_workers() -> None:
    """A restart begins with what is known: a batch that cannot fit is refused at once."""
    store = SharedStore()

    async def restart() -> tuple[Reservation | OverLimit, Reservation | OverLimit]:
        quota = CostQuota(store, clock=Clock())
        made = await reserve(quota)
        assert isinstance(made, Reservation)
        await quota.settle(made, COST)
        again = CostQuota(store, clock=Clock())
        return await reserve(again, 11), await reserve(again, 10)

    too_many, fits = asyncio.run(restart())
    assert isinstance(too_many, OverLimit)
    assert isinstance(fits, Reservation)
    assert fits.aside == 900_000


@pytest.mark.parametrize(
    "value", [b"", b"0", b"-1", b"nan", b"inf", b"1e3", b"\xff", b"5.0", b" 7", b"1\n",
              b"9" * 13, b"9" * 5000, b"1000001", "\u0663".encode()],
)  # fmt: skip
def test_what_the_store_says_is_checked(value: bytes) -> None:
    """A store that was written to by others neither opens the purse nor shuts it."""
    store = SharedStore()

    async def hostile() -> float:
        await store.put(USUAL, value, 60.0)
        return await crowd([CostQuota(store, clock=Clock())], 30)

    assert LIMIT - COST < asyncio.run(hostile()) <= LIMIT + COST


def test_who_cannot_wait_for_the_first_price_comes_later() -> None:
    """The wait is bounded; the request before goes on, and the next one is let in after it."""
    quota = CostQuota(SharedStore(), clock=Clock())

    async def waiting() -> list[object]:
        first = await reserve(quota)
        second = await reserve(quota, wait_s=0.0)
        assert isinstance(first, Reservation)
        await quota.settle(first, 0.0)  # a failure says nothing about prices
        third = await reserve(quota, wait_s=0.0)
        fourth = await reserve(quota, wait_s=0.0)
        assert isinstance(third, Reservation)
        return [second, fourth]

    assert asyncio.run(waiting()) == [OverLimit(1.0, untried=True)] * 2


def test_judges_without_a_price_do_not_make_requests_wait() -> None:
    """Once one was asked and cost nothing, the others go together."""
    quota = CostQuota(SharedStore(), clock=Clock())

    async def free() -> list[Reservation | OverLimit]:
        first = await reserve(quota)
        assert isinstance(first, Reservation)
        await quota.settle(first, 0.0, free=True)
        return [await reserve(quota, wait_s=0.0) for _ in range(5)]

    assert all(isinstance(made, Reservation) for made in asyncio.run(free()))


@pytest.mark.parametrize("known", [False, True])
def test_items_are_begun_while_they_fit(known: bool) -> None:
    """Of a batch on each of two workers, as many items as the day has money for; what was set
    aside is given back at the end.
    """
    store, clock = SharedStore(), Clock()
    quotas = [CostQuota(store, clock=clock) for _ in range(2)]

    async def batch(quota: CostQuota) -> float:
        made = await reserve(quota, 100)
        assert isinstance(made, Reservation)
        spent = 0.0
        for _ in range(100):
            part = await quota.begin(made, 5.0)
            if part is not None:
                await asyncio.sleep(0)
                await quota.end(made, part, COST, free=False)
                spent += COST
        await quota.settle(made, spent)
        return spent

    async def batches() -> tuple[float, int | None]:
        if known:
            # It was cheap until now.
            await store.put(USUAL, b"1000", 60.0)
        spent = sum(await asyncio.gather(*map(batch, quotas)))
        return spent, await counted(store, clock)

    spent, count = asyncio.run(batches())
    assert LIMIT - COST < spent <= LIMIT + 2 * COST
    assert count == pytest.approx(spent * 1e6, abs=2)


async def counted(store: Store, clock: Clock) -> int | None:
    """What is spent and set aside, in millionths."""
    return await store.add(f"jq:usd:{name_key('ann')}:{int(clock() // 86_400)}", 0, 60.0)


def test_a_batch_that_is_left_pays_for_what_was_begun() -> None:
    """Items that are over at their cost, running ones at the usual, the others nothing; and nobody
    waits for a price that it was to find out.
    """
    store, clock = SharedStore(), Clock()
    quota = CostQuota(store, clock=clock)

    async def left() -> tuple[int | None, Reservation | OverLimit]:
        made = await reserve(quota, 10)
        assert isinstance(made, Reservation)
        part = await quota.begin(made, 5.0)
        assert part is not None
        await quota.end(made, part, COST, free=False)
        assert await quota.begin(made, 5.0) is not None
        await quota.settle(made, COST, complete=False)
        trial = await quota.reserve("ben", LIMIT, 10)
        assert isinstance(trial, Reservation)
        assert await quota.begin(trial, 5.0) is not None
        await quota.settle(trial, 0.0, complete=False)
        return await counted(store, clock), await quota.reserve("ben", LIMIT, wait_s=0.0)

    count, next_one = asyncio.run(left())
    assert count == 180_000
    assert isinstance(next_one, Reservation)


@pytest.mark.parametrize("more", [{}, {"rpm": 1000}])
def test_first_requests_over_http(tmp_path: Path, more: dict[str, int]) -> None:
    """Sixteen clients at once with a fresh key spend what it may, and one request more."""
    with keyed(tmp_path, entry("ann", KEY, daily_cost_usd=LIMIT, **more)) as own:

        def ask(number: int) -> float:
            answer = own.assess(KEY, f"Answer {number}.")
            assert answer.status_code in (200, 429)
            return answer.json()["usage"]["cost_usd"] if answer.status_code == 200 else 0.0

        with ThreadPoolExecutor(16) as threads:
            spent = sum(threads.map(ask, range(48)))

    assert COST <= spent <= LIMIT + COST


def test_waiting_for_the_first_price_is_part_of_the_time(tmp_path: Path) -> None:
    """Who has less time than the first request takes is told to come again; who has more gets an
    answer within it.
    """
    gate = threading.Event()
    with keyed(tmp_path, entry("ann", KEY, daily_cost_usd=LIMIT)) as own:
        own.provider.behave("alpha", [behaviours.held(behaviours.honest(), gate), faults.hang()])
        with ThreadPoolExecutor(2) as threads:
            first = threads.submit(own.assess, KEY, "The first.")
            assert own.provider.wait_until(lambda: len(own.provider.requests) == 1)
            short = own.assess(KEY, "The second.", {"x-request-timeout-ms": "100"})
            patient = threads.submit(own.assess, KEY, "The third.", timeout_s=4.0)
            own.service.http.get("/healthz")
            assert not patient.done()
            gate.set()
            answers = [first.result(), patient.result()]

    assert (short.status_code, short.headers["retry-after"]) == (429, "1")
    assert "show what one costs" in short.json()["error"]["message"]
    assert [answer.status_code for answer in answers] == [200, 200]
    # The third had what was left of its time.
    assert [answer.json()["status"] for answer in answers] == ["success", "failed"]
    assert answers[1].json()["error"]["code"] == "deadline_exceeded"
