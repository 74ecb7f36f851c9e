"""Limits that replicas share through a store, and what is left of them when it is lost."""

from __future__ import annotations

import asyncio

import pytest

from judge_service.gates.claim import shared_name
from judge_service.gates.passage import Fate
from tests.limits.support import (
    Crowd,
    SharedStore,
    entered,
    fail,
    gates,
    now,
    run,
    settled,
    spec,
    within,
)


def test_two_replicas_share_the_places_of_a_judge() -> None:
    """Never three at once where two are allowed; all get their turn, and nobody takes it all."""

    async def main() -> None:
        store, crowd = SharedStore(), Crowd()
        both = [gates(store), gates(store)]
        judge = spec(max_concurrency=2)
        started = now()
        work = [crowd.visit(both[n % 2].of(judge), n % 2, seconds=0.5) for n in range(80)]
        await asyncio.gather(*work)
        assert crowd.most == 2
        assert 20.0 <= now() - started < 25.0
        first_half = crowd.order[:40]
        assert 10 <= sum(first_half) <= 30
        for one in both:
            await one.aclose()
            assert one.of(judge).state.running == 0

    run(main())


def test_a_replica_that_dies_gives_its_places_back_in_time() -> None:
    """Its places run out a little after the time its calls might have taken."""

    async def main() -> None:
        store = SharedStore()
        judge = spec(max_concurrency=1, attempt_timeout_s=3.0)
        dead = gates(store).of(judge)
        await dead.enter(tokens=1, deadline=within())
        started = now()
        await Crowd().visit(gates(store).of(judge))
        assert 3.0 < now() - started < 7.0

    run(main())


def test_a_place_that_a_store_did_not_take_back_is_given_back_later() -> None:
    """It is not missing for as long as the call might have taken."""

    async def main() -> None:
        store, crowd = SharedStore(), Crowd()
        mine = gates(store).of(spec(max_concurrency=1))
        passage = await mine.enter(tokens=1, deadline=within())
        store.lost = True
        passage.leave(Fate.ANSWERED)
        await asyncio.sleep(0.2)
        assert mine.state.running == 0
        store.lost = False
        started = now()
        await crowd.visit(gates(store).of(spec(max_concurrency=1)), seconds=0.0)
        assert now() - started < 1.0

    run(main())


def test_two_replicas_share_a_rate() -> None:
    """Ten a minute are ten over both."""

    async def main() -> None:
        store, crowd = SharedStore(), Crowd()
        both = [gates(store), gates(store)]
        judge = spec(rpm=10)
        work = [
            crowd.visit(both[n % 2].of(judge), seconds=0.1, deadline=within(5.0)) for n in range(30)
        ]
        ends = await asyncio.gather(*work, return_exceptions=True)
        assert ends.count(None) == 10

    run(main())


@pytest.mark.parametrize("limit", ["max_concurrency", "rpm", "tpm"])
def test_a_lost_store_leaves_each_worker_its_share(limit: str) -> None:
    """Never more than that, and never nothing."""

    async def main() -> None:
        store, crowd = SharedStore(), Crowd()
        store.lost = True
        mine = gates(store, workers=2)
        gate = mine.of(spec(**{limit: 8}))
        work = [crowd.visit(gate, tokens=1, deadline=within(0.9)) for _ in range(30)]
        ends = await asyncio.gather(*work, return_exceptions=True)
        assert ends.count(None) == crowd.most == 4
        await mine.aclose()
        assert gate.state.running == 0

    run(main())


def test_workers_without_a_shared_store_divide_the_limits() -> None:
    """Four workers, eight places: two each."""

    async def main() -> None:
        crowd = Crowd()
        gate = gates(workers=4).of(spec(max_concurrency=8))
        await asyncio.gather(*(crowd.visit(gate) for _ in range(10)))
        assert crowd.most == gate.state.limit == 2

    run(main())


def test_a_store_that_comes_back_is_used_again() -> None:
    """The whole limit is open to whoever needs it."""

    async def main() -> None:
        store, crowd = SharedStore(), Crowd()
        gate = gates(store, workers=2).of(spec(max_concurrency=8))
        store.lost = True
        await asyncio.gather(*(crowd.visit(gate) for _ in range(10)))
        assert crowd.most == 4
        store.lost = False
        await asyncio.gather(*(crowd.visit(gate) for _ in range(20)))
        assert crowd.most == 8

    run(main())


def test_a_slow_store_does_not_hold_up_many_calls() -> None:
    """Sixty calls of one moment wait for it together, not one after the other."""

    async def main() -> None:
        store, crowd = SharedStore(delay_s=0.05), Crowd()
        gate = gates(store).of(spec(max_concurrency=64, rpm=1000))
        started = now()
        await asyncio.gather(*(crowd.visit(gate, seconds=0.0) for _ in range(60)))
        assert now() - started < 0.3

    run(main())


def test_replicas_learn_of_an_open_breaker() -> None:
    """Within a second of calling the judge; it is open for the rest of the time."""

    async def main() -> None:
        store, judge = SharedStore(), spec()
        first, second = gates(store), gates(store)
        entered(second.of(judge)).leave(Fate.ANSWERED)
        await asyncio.sleep(0.5)
        fail(first.of(judge))
        await asyncio.sleep(0.6)
        gate = second.of(judge)
        await asyncio.sleep(0.1)
        assert gate.state.breaker == "open"
        assert gate.state.probes_in_s == pytest.approx(4.3, abs=0.1)
        started = now()
        await Crowd().visit(gate)
        assert now() - started == pytest.approx(5.3, abs=0.1)

    run(main())


@pytest.mark.parametrize(
    "note", [b"", b".", b"nan", b"inf", b"-1", b"\xff" * 9, b"1e9", b"0", b"9" * 10_000, b"1.2.3"]
)
def test_a_note_that_makes_no_sense_is_nothing(note: bytes) -> None:
    """Whoever wrote it."""

    async def main() -> None:
        store, judge = SharedStore(), spec()
        await store.put(f"jb:1:{shared_name(judge)}", note, 60.0)
        gate = gates(store).of(judge)
        await asyncio.sleep(0.1)
        await settled()
        assert gate.state.breaker == "closed"

    run(main())


def test_a_note_opens_the_breaker_for_a_breakers_time_at_most() -> None:
    """A clock that is far ahead does not stop the judge for good."""

    async def main() -> None:
        store, judge = SharedStore(), spec()
        await store.put(f"jb:1:{shared_name(judge)}", b"9999999999.5", 1.0)
        gate = gates(store).of(judge)
        await asyncio.sleep(0.1)
        assert gate.state.breaker == "open"
        assert gate.state.probes_in_s == pytest.approx(5.9, abs=0.1)

    run(main())


def test_a_clock_that_ticks_between_two_looks_stops_nobody() -> None:
    """A time that comes just after it was found not to have come yet is not slept through."""

    async def main() -> None:
        last = 0.0

        def ticking() -> float:
            # Timers go off a little early, and each look is a moment later than the one before.
            nonlocal last
            last = max(last + 2e-5, 0.999 * now())
            return last

        store, crowd = SharedStore(), Crowd()
        both = [gates(store, clock=ticking), gates(store, clock=ticking)]
        judge = spec(max_concurrency=1)
        started = now()
        work = [crowd.visit(both[n % 2].of(judge), n % 2, seconds=0.05) for n in range(200)]
        await asyncio.gather(*work)
        assert now() - started < 30.0

    run(main())
