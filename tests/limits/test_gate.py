"""A judge's queue: in turn, bounded, never beyond the limit, and without leaks."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_service.errors import DeadlineExceeded, JudgingError, Overloaded, RateLimited
from judge_service.events import QueueChanged, Shed
from judge_service.gates.claim import shared_name
from judge_service.gates.passage import Fate
from judge_service.usage import Usage
from tests.limits.support import Crowd, Events, SharedStore, gates, now, run, settled, spec, within


def test_never_more_than_the_configured_number_at_once_and_in_turn() -> None:
    """Twenty calls of a second each, two at a time, first come first served."""

    async def main() -> None:
        gate, crowd = gates().of(spec(max_concurrency=2)), Crowd()
        started = now()
        await asyncio.gather(*(crowd.visit(gate, n) for n in range(20)))
        assert crowd.most == 2
        assert crowd.order == list(range(20))
        assert now() - started == pytest.approx(10.0)
        assert (gate.state.waiting, gate.state.running, gate.state.limit) == (0, 0, 2)

    run(main())


def test_a_full_queue_turns_calls_away_before_any_request() -> None:
    """With a time to come back after; who has another call under way may still wait."""

    async def main() -> None:
        told = Events()
        gate, crowd = gates(max_queue=3, observer=told).of(spec(max_concurrency=1)), Crowd()
        calls = [asyncio.ensure_future(crowd.visit(gate, n)) for n in range(4)]
        await settled()
        assert (gate.state.running, gate.state.waiting) == (1, 3)
        with pytest.raises(Overloaded) as raised:
            await crowd.visit(gate)
        assert raised.value.retry_after_s is not None
        assert 0 < raised.value.retry_after_s <= 60
        with pytest.raises(Overloaded):
            gate.look(within(), spare=False, admitted=False)
        assert len(told.of(Shed)) == 2
        gate.look(within(), spare=False, admitted=True)
        await asyncio.gather(crowd.visit(gate, 9, admitted=True), *calls)
        assert crowd.order == [0, 1, 2, 3, 9]

    run(main())


def test_a_queue_of_nothing_still_lets_calls_through() -> None:
    """``max_queue`` 0 means that nobody waits, not that nobody goes."""

    async def main() -> None:
        gate, crowd = gates(max_queue=0).of(spec(max_concurrency=1)), Crowd()
        call = asyncio.ensure_future(crowd.visit(gate))
        await settled()
        with pytest.raises(Overloaded):
            await crowd.visit(gate)
        await call
        await crowd.visit(gate)

    run(main())


def test_the_time_to_come_back_follows_the_throughput() -> None:
    """Ten calls a second went lately, so twenty waiting ones take two."""

    async def main() -> None:
        gate, crowd = gates(max_queue=20).of(spec(max_concurrency=1)), Crowd()
        for _ in range(30):
            await crowd.visit(gate, seconds=0.1)
        calls = [asyncio.ensure_future(crowd.visit(gate, seconds=0.1)) for _ in range(21)]
        await settled()
        with pytest.raises(Overloaded) as raised:
            await crowd.visit(gate)
        assert raised.value.retry_after_s == pytest.approx(2.1, rel=0.1)
        await asyncio.gather(*calls)

    run(main())


def test_who_waits_until_the_deadline_has_no_answer() -> None:
    """And leaves nothing behind."""

    async def main() -> None:
        gate, crowd = gates().of(spec(max_concurrency=1)), Crowd()
        call = asyncio.ensure_future(crowd.visit(gate, seconds=5.0))
        await settled()
        started = now()
        with pytest.raises(DeadlineExceeded):
            await crowd.visit(gate, deadline=within(2.0))
        assert now() - started == pytest.approx(2.0)
        assert gate.state.waiting == 0
        await call
        assert gate.state.running == 0

    run(main())


def test_429s_make_room_smaller() -> None:
    """The rest of the calls go in smaller numbers, and all of them go."""

    async def main() -> None:
        gate, crowd = gates().of(spec()), Crowd()
        await asyncio.gather(*(crowd.visit(gate, fate=Fate.LIMITED) for _ in range(16)))
        assert gate.state.limit == 6  # half of those that were left at the fifth
        crowd.most = 0
        await asyncio.gather(*(crowd.visit(gate) for _ in range(64)))
        assert 6 <= crowd.most <= 16
        assert gate.state.running == 0

    run(main())


def test_a_rate_that_comes_in_time_is_waited_for() -> None:
    """Five a minute: the sixth goes when enough of the window has passed."""

    async def main() -> None:
        gate, crowd = gates().of(spec(rpm=5)), Crowd()
        started = now()
        await asyncio.gather(*(crowd.visit(gate, n, seconds=0.1) for n in range(8)))
        assert crowd.order == list(range(8))
        assert now() - started > 20.0
        assert gate.state.running == 0

    run(main())


def test_a_rate_that_comes_too_late_is_an_error_at_once() -> None:
    """It says when to come back, and nobody waited for it."""

    async def main() -> None:
        gate, crowd = gates().of(spec(rpm=5)), Crowd()
        started = now()
        calls = [crowd.visit(gate, seconds=0.1, deadline=within(1.0)) for _ in range(9)]
        ends = await asyncio.gather(*calls, return_exceptions=True)
        late = [end for end in ends if end is not None]
        assert len(late) == 4
        for error in late:
            assert isinstance(error, RateLimited)
            assert error.permanent
            assert error.retry_after_s is not None
            assert 1.0 < error.retry_after_s <= 120.0
        assert now() - started == pytest.approx(0.1)

    run(main())


def test_those_far_behind_in_a_rates_line_know_that_it_is_in_vain() -> None:
    """Of a hundred calls with a minute's time at six a minute, most are told at once."""

    async def main() -> None:
        gate, crowd = gates().of(spec(rpm=6)), Crowd()

        async def call() -> float | None:
            began = now()
            try:
                await crowd.visit(gate, seconds=0.1, deadline=within(70.0))
            except RateLimited:
                return now() - began
            return None

        ends = await asyncio.gather(*(call() for _ in range(100)))
        told = [end for end in ends if end is not None]
        assert 6 <= 100 - len(told) <= 14
        assert sum(seconds < 1.0 for seconds in told) >= 80
        assert gate.state.running == gate.state.waiting == 0

    run(main())


def test_tokens_are_corrected_by_what_was_used() -> None:
    """An estimate that was too high does not keep others out."""

    async def main() -> None:
        gate, crowd = gates().of(spec(tpm=1000)), Crowd()
        used = Usage(upstream_requests=1, prompt_tokens=40, completion_tokens=10)
        started = now()
        for _ in range(10):
            await crowd.visit(gate, tokens=500, seconds=0.01, usage=used)
        assert now() - started < 1.0
        with pytest.raises(RateLimited):
            await crowd.visit(gate, tokens=900, deadline=within(0.5))

    run(main())


def test_a_call_that_was_not_sent_costs_no_rate() -> None:
    """A request that the library refused, or that came too late to be sent."""

    async def main() -> None:
        gate, crowd = gates().of(spec(rpm=1)), Crowd()
        for _ in range(5):
            await crowd.visit(gate, seconds=0.0, fate=Fate.UNSENT, deadline=within(1.0))
        await crowd.visit(gate, deadline=within(2.0))
        with pytest.raises(RateLimited):
            await crowd.visit(gate, deadline=within(1.0))

    run(main())


def test_changes_of_the_queue_are_told() -> None:
    """Up, and down to nothing again."""

    async def main() -> None:
        told = Events()
        gate, crowd = gates(observer=told).of(spec(max_concurrency=1)), Crowd()
        await asyncio.gather(*(crowd.visit(gate) for _ in range(3)))
        seen = [(e.waiting, e.running) for e in told.of(QueueChanged)]
        assert (2, 1) in seen
        assert seen[-1] == (0, 0)

    run(main())


@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 2**32), shared=st.booleans(), rpm=st.sampled_from([None, 30]))
def test_whatever_is_cancelled_no_place_is_lost(seed: int, shared: bool, rpm: int | None) -> None:
    """Calls hang up, run out of time, fail and succeed in any order, timers come early and late."""
    draw = random.Random(seed)  # noqa: S311 - repeatable

    async def main() -> None:
        store = SharedStore() if shared else None
        limit = draw.choice([1, 2, 5])
        all_gates = gates(store, max_queue=draw.choice([0, 3, 50]))
        gate, crowd = all_gates.of(spec(max_concurrency=limit, rpm=rpm, tpm=rpm)), Crowd()

        async def call(number: int) -> None:
            await asyncio.sleep(draw.uniform(0, 3))
            fate = draw.choice(list(Fate))
            try:
                await crowd.visit(
                    gate, number, seconds=draw.choice([0.0, 0.5, 2.0]), fate=fate, tokens=1,
                    deadline=within(draw.choice([0.0, 0.7, 5.0, 200.0])),
                    spare=draw.random() < 0.3, admitted=draw.random() < 0.3,
                )  # fmt: skip
            except JudgingError:
                return

        calls = [asyncio.ensure_future(call(n)) for n in range(30)]
        for one in calls:
            if draw.random() < 0.5:
                asyncio.get_running_loop().call_later(draw.uniform(0, 5), one.cancel)
        ends = await asyncio.gather(*calls, return_exceptions=True)
        assert all(e is None or isinstance(e, asyncio.CancelledError) for e in ends)
        if store is not None:
            store.lost = draw.random() < 0.1
        await all_gates.aclose()
        await settled()
        assert crowd.most <= limit
        assert (gate.state.waiting, gate.state.running, crowd.inside) == (0, 0, 0)
        # Whatever the breaker has come to, it lets calls through again.
        for _ in range(2):
            await crowd.visit(gate, tokens=1, admitted=True)
        if store is not None and not store.lost:
            await all_gates.aclose()
            assert await store.hold(f"jp:1:{shared_name(gate.judge)}", "probe", 1, 1.0)

    run(main(), draw)
