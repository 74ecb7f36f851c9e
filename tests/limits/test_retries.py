"""Retries over many verdicts: what an outage costs, what is told, what is given back."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest

from judge_service.asking.ask import Asker
from judge_service.asking.backend import ChatCall, ChatReply
from judge_service.deadline import Deadline
from judge_service.envelope.envelope import Question
from judge_service.errors import (
    BreakerOpen,
    DeadlineExceeded,
    JudgeServiceError,
    ParameterRefused,
    RateLimited,
    Unparsable,
    UpstreamError,
)
from judge_service.events import Attempted, Retried, RetryDenied
from judge_service.gates.gates import Gates
from judge_service.gates.retry_budget import CAPACITY, RETRY_COST
from judge_service.judges.judge import JudgeSpec
from judge_service.reply.reply import ScoreForm
from judge_service.usage import Ledger, Usage
from tests.limits.support import Events, gates, run, spec, within

QUESTION = Question(
    system="You judge.", slots=(("candidate", "x"),), form=ScoreForm(allowed=(1, 2, 3))
)
ONE = Usage(upstream_requests=1, prompt_tokens=10, completion_tokens=5)
Script = Callable[[int], object]
"""What a request gets, by its number: an error, ``None`` for a verdict, or the words of a reply."""


class ScriptedBackend:
    """Answers at once, as scripted."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.calls = 0

    async def complete(self, call: ChatCall) -> ChatReply:
        """The next of the script."""
        self.calls += 1
        found = self.script(self.calls)
        if isinstance(found, BaseException):
            raise found
        if found is None:
            form = re.search(r'\{"v":"(\w+)".*"end":"(\w+)"\}', call.user)
            assert form is not None
            found = f'{{"v":"{form[1]}","reason":"so","score":3,"end":"{form[2]}"}}'
        return ChatReply(content=str(found), model="judge-a", finish_reason="stop", usage=ONE)

    async def context_window(self, judge: JudgeSpec) -> int | None:
        """Not known."""
        return None

    async def aclose(self) -> None:
        """Nothing to release."""


async def many(
    script: Script, times: int, told: Events, *, gates: Gates | None = None, **more: Any
) -> tuple[ScriptedBackend, list[str | None], Asker]:
    """So many askings one after the other; the errors' codes."""
    backend = ScriptedBackend(script)
    asker = Asker(backend, gates=gates, observer=told, jitter=lambda: 0.0)
    codes: list[str | None] = []
    for _ in range(times):
        try:
            await asker.ask(spec(), QUESTION, Deadline.after(30.0), Ledger(), **more)
        except JudgeServiceError as error:
            codes.append(getattr(error, "code", "other"))
        else:
            codes.append(None)
    return backend, codes, asker


@pytest.mark.parametrize("workers", [1, 2])
def test_replies_without_verdicts_cost_at_most_a_twentieth_more(workers: int) -> None:
    """Two thousand calls to a judge that only babbles; every one fails explicitly."""

    async def main() -> None:
        told, requests = Events(), 0
        for _ in range(workers):
            gates = Gates(workers=workers)
            backend, codes, _ = await many(lambda _: "Hm.", 2000 // workers, told, gates=gates)
            requests += backend.calls
            assert set(codes) == {"unparsable"}
        assert requests <= 1.05 * 2000
        assert len(told.of(Attempted)) == requests
        assert len(told.of(Retried)) == requests - 2000
        assert len(told.of(RetryDenied)) == 4000 - requests
        assert {e.code for e in told.of(Attempted)} == {"unparsable"}

    asyncio.run(main())


def test_an_outage_is_not_asked_again_and_again() -> None:
    """After twenty failures nobody is asked; who has another judge is told at once."""

    async def main() -> None:
        told = Events()
        backend, codes, _ = await many(lambda _: UpstreamError("500"), 500, told, keep=1)
        assert backend.calls == 20
        assert set(codes) == {"upstream_error", "breaker_open"}
        assert codes.count("breaker_open") >= 490

    asyncio.run(main())


def test_a_fifth_of_faults_is_retried_within_bounds() -> None:
    """Every fifth request fails: every call gets its verdict for 1.25 requests."""

    async def main() -> None:
        told = Events()
        script: Script = lambda n: Unparsable("?") if n % 5 == 0 else None  # noqa: E731
        backend, codes, _ = await many(script, 1000, told)
        assert codes == [None] * 1000
        assert backend.calls == pytest.approx(1250, abs=1)
        assert not told.of(RetryDenied)

    asyncio.run(main())


def test_what_a_retry_costs_comes_back_when_it_succeeds() -> None:
    """And only then; a dropped parameter is no retry and costs nothing."""

    async def main() -> None:
        told = Events()
        error = UpstreamError("500")
        backend, codes, asker = await many(lambda n: error if n == 1 else None, 1, told)
        assert (backend.calls, codes) == (2, [None])
        assert asker.gates.state(spec()).retry_tokens == CAPACITY
        _, codes, asker = await many(lambda n: error if n < 4 else None, 1, told)
        assert codes == ["upstream_error"]
        assert asker.gates.state(spec()).retry_tokens == CAPACITY - 2 * RETRY_COST
        told.clear()
        refusal = ParameterRefused("temperature", parameters=frozenset({"temperature"}))
        backend, codes, asker = await many(lambda n: refusal if n == 1 else None, 1, told)
        assert (backend.calls, codes) == (2, [None])
        assert asker.gates.state(spec()).retry_tokens == CAPACITY
        assert not told.of(Retried)
        assert [e.code for e in told.of(Attempted)] == ["upstream_error", None]

    asyncio.run(main())


def test_a_retry_that_is_cancelled_before_it_is_sent_costs_nothing() -> None:
    """The caller hangs up while the service waits to ask again."""

    async def main() -> None:
        backend = ScriptedBackend(lambda _: RateLimited("429", retry_after_s=20.0))
        asker, judge = Asker(backend), spec()
        work = asker.ask(judge, QUESTION, Deadline.after(30.0), Ledger())
        asking = asyncio.ensure_future(work)
        for _ in range(1000):
            await asyncio.sleep(0)
            if asker.gates.state(judge).retry_tokens < CAPACITY:
                break
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert asker.gates.state(judge).retry_tokens == CAPACITY
        assert asker.gates.state(judge).running == 0

    asyncio.run(main())


def test_a_caller_that_hangs_up_frees_its_place_when_the_request_has_ended() -> None:
    """Not before: the judge is still busy with it."""

    async def main() -> None:
        begun, going, gone = asyncio.Event(), asyncio.Event(), asyncio.Event()

        class SlowToStop(ScriptedBackend):
            async def complete(self, call: ChatCall) -> ChatReply:
                begun.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    going.set()
                    await gone.wait()
                return await super().complete(call)

        asker, judge = Asker(SlowToStop(lambda _: None)), spec(max_concurrency=1)
        work = asker.ask(judge, QUESTION, Deadline.after(30.0), Ledger())
        asking = asyncio.ensure_future(work)
        await begun.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await going.wait()
        assert asker.gates.state(judge).running == 1
        gone.set()
        for _ in range(10):
            await asyncio.sleep(0)
        assert asker.gates.state(judge).running == 0

    asyncio.run(main())


@pytest.mark.parametrize(
    "fault",
    [RuntimeError("a bug"), KeyError("x"), asyncio.CancelledError(), UpstreamError("500")],
    ids=lambda fault: type(fault).__name__,
)
def test_whatever_a_request_ends_in_its_place_is_free_again(fault: BaseException) -> None:
    """A bug in an adapter included."""

    async def main() -> None:
        backend = ScriptedBackend(lambda _: fault)
        asker, judge = Asker(backend, jitter=lambda: 0.0), spec(max_concurrency=1)
        for _ in range(3):
            with pytest.raises((RuntimeError, KeyError, UpstreamError)):
                await asker.ask(judge, QUESTION, Deadline.after(5.0), Ledger())
        assert asker.gates.state(judge).running == 0

    asyncio.run(main())


def test_a_deadline_that_cuts_calls_short_at_once_says_nothing_of_the_judge() -> None:
    """Callers in a hurry do not close it for everybody else."""

    async def main() -> None:
        class Hanging(ScriptedBackend):
            async def complete(self, call: ChatCall) -> ChatReply:
                await asyncio.Event().wait()
                raise AssertionError("nobody sets it")

        asker, judge = Asker(Hanging(lambda _: None), gates=gates()), spec()

        async def hurried() -> None:
            with pytest.raises(JudgeServiceError) as raised:
                await asker.ask(judge, QUESTION, within(0.05), Ledger())
            assert not isinstance(raised.value, BreakerOpen)

        await asyncio.gather(*(hurried() for _ in range(60)))
        assert asker.gates.state(judge).breaker == "closed"

    run(main())


HURRY_S = 3.0


@pytest.mark.parametrize("long_s", [1.0, 60.0], ids=["long enough", "in a hurry"])
def test_judges_that_hang_until_the_deadline_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, long_s: float
) -> None:
    """Where nothing better is known, some seconds without a word are trouble; less says nothing:
    callers in a hurry do not close a judge to everybody.
    """
    monkeypatch.setattr("judge_service.gates.pace.LONG_UNKNOWN_S", long_s)

    async def main() -> None:
        class Hanging(ScriptedBackend):
            async def complete(self, call: ChatCall) -> ChatReply:
                self.calls += 1
                await asyncio.Event().wait()
                raise AssertionError("nobody sets it")

        backend = Hanging(lambda _: None)
        asker, judge = Asker(backend), spec()
        asks = [asker.ask(judge, QUESTION, Deadline.after(HURRY_S), Ledger()) for _ in range(20)]
        ends = await asyncio.gather(*asks, return_exceptions=True)
        assert {getattr(e, "code", None) for e in ends} == {"deadline_exceeded"}
        expected = BreakerOpen if long_s < HURRY_S else DeadlineExceeded
        with pytest.raises(expected):
            await asker.ask(judge, QUESTION, Deadline.after(HURRY_S), Ledger())
        assert backend.calls == (20 if expected is BreakerOpen else 21)

    asyncio.run(main())
