"""Calls that find a judge's breaker open: who waits, who does not, and who is woken when."""

from __future__ import annotations

import asyncio

import pytest

from judge_service.errors import BreakerOpen
from judge_service.events import BreakerChanged
from judge_service.gates.passage import Fate
from tests.limits.support import (
    Crowd,
    Events,
    entered,
    fail,
    gates,
    now,
    run,
    settled,
    spec,
    within,
)


def test_a_call_without_another_judge_waits_for_the_probe() -> None:
    """It is the probe, or goes on as soon as the probes have closed the breaker."""

    async def main() -> None:
        told = Events()
        gate, crowd = gates(observer=told).of(spec()), Crowd()
        fail(gate)
        started = now()
        assert gate.state.breaker == "open"
        assert gate.state.probes_in_s == pytest.approx(5.0)
        await asyncio.gather(*(crowd.visit(gate, n, seconds=1.0) for n in range(10)))
        assert now() - started == pytest.approx(7.0)
        assert crowd.order == list(range(10))
        assert [e.state for e in told.of(BreakerChanged)] == ["open", "half_open", "closed"]

    run(main())


def test_a_call_with_another_judge_does_not_wait() -> None:
    """Neither while it is open nor while probes are under way."""

    async def main() -> None:
        gate, crowd = gates().of(spec()), Crowd()
        fail(gate)
        started = now()
        with pytest.raises(BreakerOpen) as raised:
            gate.look(within(), spare=True)
        with pytest.raises(BreakerOpen):
            await crowd.visit(gate, spare=True)
        assert raised.value.retry_after_s == pytest.approx(5.0)
        assert now() == started
        probes = [asyncio.ensure_future(crowd.visit(gate)) for _ in range(2)]
        await asyncio.sleep(5.5)
        assert gate.state.breaker == "half_open"
        with pytest.raises(BreakerOpen):
            await crowd.visit(gate, spare=True)
        await asyncio.gather(*probes)
        await crowd.visit(gate, spare=True)

    run(main())


def test_a_call_without_time_for_the_probe_fails_at_once() -> None:
    """It says when probes will be let through."""

    async def main() -> None:
        gate = gates().of(spec())
        fail(gate)
        started = now()
        with pytest.raises(BreakerOpen) as raised:
            await Crowd().visit(gate, deadline=within(4.0))
        assert now() == started
        assert raised.value.retry_after_s == pytest.approx(5.0)

    run(main())


def test_those_who_wait_in_line_hear_of_it_at_once() -> None:
    """Who has another judge, or too little time, does not wait for calls that hang."""

    async def main() -> None:
        gate, crowd = gates().of(spec(max_concurrency=20)), Crowd()
        passages = [entered(gate) for _ in range(20)]
        spare = asyncio.ensure_future(crowd.visit(gate, spare=True))
        hurried = asyncio.ensure_future(crowd.visit(gate, deadline=within(2.0)))
        patient = asyncio.ensure_future(crowd.visit(gate))
        await settled()
        assert gate.state.waiting == 3
        started = now()
        for passage in passages[:19]:
            passage.leave(Fate.FAILED)
        await settled()
        # One more failure, of the last of the first or of one who came after it.
        passages[19].leave(Fate.FAILED)
        await settled()
        assert now() == started
        assert gate.state.breaker == "open"
        ends = await asyncio.gather(spare, hurried, patient, return_exceptions=True)
        assert ends[2] is None
        assert gate.state.running == gate.state.waiting == 0

    run(main())


def test_a_failed_probe_keeps_the_others_waiting_or_turns_them_away() -> None:
    """Who still has time for the next probe waits on, who has not is told."""

    async def main() -> None:
        gate, crowd = gates().of(spec()), Crowd()
        fail(gate)
        started = now()
        probe = asyncio.ensure_future(crowd.visit(gate, fate=Fate.FAILED))
        other = asyncio.ensure_future(crowd.visit(gate, seconds=2.0))
        await settled()
        short = asyncio.ensure_future(crowd.visit(gate, deadline=within(8.0)))
        long = asyncio.ensure_future(crowd.visit(gate))
        await probe
        with pytest.raises(BreakerOpen):
            await short
        assert now() - started == pytest.approx(6.0)
        await asyncio.gather(other, long)
        assert now() - started == pytest.approx(12.0)

    run(main())


def test_time_that_runs_out_during_probes_is_the_breakers_doing() -> None:
    """The judge was still not known to work when the deadline came."""

    async def main() -> None:
        gate, crowd = gates().of(spec()), Crowd()
        fail(gate)
        probes = [asyncio.ensure_future(crowd.visit(gate, seconds=10.0)) for _ in range(2)]
        await settled()
        started = now()
        with pytest.raises(BreakerOpen):
            await crowd.visit(gate, deadline=within(9.0))
        assert now() - started == pytest.approx(9.0)
        await asyncio.gather(*probes)

    run(main())


def test_a_cancelled_probe_lets_the_next_one_through() -> None:
    """Callers that hang up do not leave the breaker half open for ever."""

    async def main() -> None:
        gate, crowd = gates().of(spec()), Crowd()
        fail(gate)
        leaving = [asyncio.ensure_future(crowd.visit(gate, seconds=50.0)) for _ in range(2)]
        await settled()
        staying = [asyncio.ensure_future(crowd.visit(gate)) for _ in range(3)]
        await asyncio.sleep(6.0)
        assert crowd.inside == 2
        started = now()
        for one in leaving:
            one.cancel()
        await asyncio.gather(*staying)
        assert now() - started == pytest.approx(2.0)

    run(main())


@pytest.mark.parametrize("fate", [Fate.LIMITED, Fate.ANSWERED, Fate.UNKNOWN, Fate.UNSENT])
def test_what_is_not_a_transport_failure_never_opens_it(fate: Fate) -> None:
    """A 429, an unusable reply, a wrong model, a refused key, a caller that hangs up."""

    async def main() -> None:
        gate = gates().of(spec())
        for _ in range(100):
            entered(gate).leave(fate)
        assert gate.state.breaker == "closed"

    run(main())
