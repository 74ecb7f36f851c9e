"""One upstream request: cut off at its time, counted, and its place at the judge given back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from judge_service.asking.backend import Backend, ChatCall, ChatReply
from judge_service.deadline import Deadline
from judge_service.errors import (
    DeadlineExceeded,
    JudgeTimeout,
    JudgingError,
    ParameterRefused,
    RateLimited,
    TransportError,
    UpstreamError,
)
from judge_service.gates.gate import Gate
from judge_service.gates.passage import Fate, Passage
from judge_service.judges.judge import JudgeSpec
from judge_service.usage import Ledger, Usage
from judge_service.waiting import done_within

T = TypeVar("T")

CLOCK_S = 0.001
"""Less than this is no time."""
READ_ROUNDS = 5
STUBBORN_S = 2.0
"""A request that was given up and does not end keeps its place at the judge for so long."""


async def send(
    backend: Backend,
    gate: Gate,
    passage: Passage,
    call: ChatCall,
    deadline: Deadline,
    ledger: Ledger,
    read: Callable[[ChatReply], T],
) -> T:
    """Send one request and ``read`` its reply.

    It is cut off when its time is up even if the backend does not stop. The passage is left in
    every case, ``ledger`` has what was spent. Raises JudgingError, or ParameterRefused.
    """
    started = time.monotonic()
    task = asyncio.ensure_future(backend.complete(call))
    try:
        # An event loop's timer may go off early, by as much as its last round took.
        # The deadline may move meanwhile, to that of a request that waits for the same verdict.
        while not task.done() and (left := _left(started, call, deadline)) > 0:
            await done_within(task, left)
        # A busy loop may not have come to read a reply that is there.
        for _ in range(READ_ROUNDS):
            if not task.done():
                await asyncio.sleep(0)
    except asyncio.CancelledError:
        _abandon(task, passage, Fate.UNKNOWN)
        raise
    seconds = time.monotonic() - started
    if task.done():
        return _received(task, passage, ledger, seconds, read)
    ledger.add(_unanswered(call.judge))
    own_time = deadline.left() < CLOCK_S
    # A request in a hurry says little of the judge, one that waited long enough does.
    told = not own_time or gate.pace.is_long(seconds)
    _abandon(task, passage, Fate.FAILED if told else Fate.UNKNOWN)
    if own_time:
        raise DeadlineExceeded(
            f"the request's time was up while judge {call.judge.id!r} was answering"
        )
    raise JudgeTimeout(f"judge {call.judge.id!r} did not answer within {call.timeout_s:.3g} s")


def _left(started: float, call: ChatCall, deadline: Deadline) -> float:
    return min(started + call.timeout_s - time.monotonic(), deadline.left())


def _received(
    task: asyncio.Future[ChatReply],
    passage: Passage,
    ledger: Ledger,
    seconds: float,
    read: Callable[[ChatReply], T],
) -> T:
    usage = Usage(upstream_requests=1)
    fate = Fate.UNKNOWN
    try:
        reply = task.result()
        usage = reply.usage
        found = read(reply)
        fate = Fate.ANSWERED
    except ParameterRefused as refusal:
        fate = Fate.ANSWERED if refusal.sent else Fate.UNSENT
        usage = usage if refusal.sent else Usage()
        raise
    except JudgingError as error:
        fate = _fate(error)
        usage = error.spent or usage
        raise
    except asyncio.CancelledError:
        fate = Fate.FAILED
        raise UpstreamError("the connection to the judge was given up") from None
    finally:
        ledger.add(usage)
        passage.leave(fate, usage, seconds)
    return found


def _fate(error: JudgingError) -> Fate:
    if isinstance(error, RateLimited):
        return Fate.LIMITED
    broken = isinstance(error, TransportError) and not error.permanent
    return Fate.FAILED if broken else Fate.ANSWERED


def _abandon(task: asyncio.Future[ChatReply], passage: Passage, fate: Fate) -> None:
    """Stop a request; its place is free when it really has stopped."""
    task.cancel()

    def over(_: object = None) -> None:
        passage.leave(fate)

    def ended(done: asyncio.Future[ChatReply]) -> None:
        late.cancel()
        if not done.cancelled():
            # Taken, so that asyncio does not complain of it.
            done.exception()
        over()

    late = asyncio.get_running_loop().call_later(STUBBORN_S, over)
    task.add_done_callback(ended)


def _unanswered(judge: JudgeSpec) -> Usage:
    """A request whose answer nobody waited for: what it costs is known only where nothing costs."""
    if judge.price is not None and judge.price.free:
        return Usage(upstream_requests=1)
    return Usage(upstream_requests=1, cost_usd=None, unknown_cost_calls=1)
