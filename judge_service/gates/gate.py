"""One judge's way in: its breaker, its queue, how many calls it takes at once, and its rates.

Every upstream request passes its judge's gate and leaves it exactly once, however it ends. Calls
wait in one line, first come first served; whatever changes (a call leaves, a time is over, the
breaker changes) lets those at its head go on and turns away those who wait in vain.
"""

from __future__ import annotations

import asyncio
import bisect
import itertools
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal

from judge_service.deadline import Deadline
from judge_service.errors import JudgingError
from judge_service.events import Observer, QueueChanged, Shed
from judge_service.gates.breaker import Breaker, Permit
from judge_service.gates.claim import NO_CLAIM, Blocked, Claim, Claims
from judge_service.gates.concurrency import AdaptiveLimit
from judge_service.gates.gate_state import GateState
from judge_service.gates.pace import Pace
from judge_service.gates.passage import (
    Arrival,
    Fate,
    Passage,
    breaker_open,
    queue_full,
    rate_used_up,
    waited_in_vain,
)
from judge_service.gates.retry_budget import RetryBudget
from judge_service.judges.judge import JudgeSpec
from judge_service.usage import Usage
from judge_service.waiting import done_within

HOLD_MARGIN_S = 2.0
"""A shared place is held this much longer than its call may take."""

SHORTEST_S = 0.001
"""No timer is shorter than this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateHooks:
    """What a gate needs from outside: how to run work in the background, whom to tell, the time.

    ``opened`` hears of the seconds that the breaker will stay open when its own calls opened it.
    """

    spawn: Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]
    opened: Callable[[float], None]
    observer: Observer
    clock: Callable[[], float]


class Gate:
    """The gate of one judge in this process."""

    def __init__(
        self,
        judge: JudgeSpec,
        *,
        breaker: Breaker,
        claims: Claims,
        slots: AdaptiveLimit,
        retries: RetryBudget,
        max_queue: int,
        hooks: GateHooks,
    ) -> None:
        self.judge = judge
        self.retries = retries
        self.pace = Pace()
        self._breaker = breaker
        self._claims = claims
        self._slots = slots
        self._max_queue = max_queue
        self._hooks = hooks
        self._clock = hooks.clock
        self._numbers = itertools.count()
        self._line: list[Arrival] = []
        self._running = 0
        # After a refusal by a shared limit calls try one by one, until nobody waits any more.
        self._trying = 0
        self._one_by_one = False
        self._blocked_by: Literal["rate", "place"] | None = None
        self._blocked_until = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._told: QueueChanged | None = None

    @property
    def state(self) -> GateState:
        """What the gate is like now."""
        breaker = self._breaker.state
        return GateState(
            judge=self.judge.id,
            breaker=breaker,
            probes_in_s=self._breaker.wait_s if breaker == "open" else None,
            waiting=len(self._line),
            running=self._running,
            limit=self._limit,
            retry_tokens=self.retries.tokens,
        )

    def look(self, deadline: Deadline, *, spare: bool = False, admitted: bool = False) -> None:
        """Raise now what ``enter`` would raise without waiting."""
        if self._line:
            self._pump()
        if not self._line and self._may_start():
            return
        error = self._in_vain(Arrival(-1, 0, deadline, spare, admitted), len(self._line))
        if error is not None:
            raise error
        if not admitted and len(self._line) >= self._max_queue:
            raise self._shed()

    async def enter(
        self, *, tokens: int, deadline: Deadline, spare: bool = False, admitted: bool = False
    ) -> Passage:
        """Wait until one more call may be sent. ``tokens`` is what it will cost, by estimate.

        With a ``spare`` judge a call does not wait for the breaker; an ``admitted`` one is not
        turned away by a full queue. Raises BreakerOpen, RateLimited, Overloaded, DeadlineExceeded.
        """
        if not (self._line or self._one_by_one or self._claims.needed) and self._may_start():
            return self._straight_in()
        call = Arrival(next(self._numbers), tokens, deadline, spare, admitted)
        while True:
            permit = await self._turn(call)
            try:
                claim = await self._claim(call)
            except BaseException:
                self._trying -= 1
                self._give_up(permit)
                raise
            self._trying -= 1
            if isinstance(claim, Blocked):
                self._block(claim)
            elif not self._crowded and (renewed := self._breaker.renewed(permit)) is not None:
                self._pump()
                return Passage(renewed, claim, self._left)
            elif claim is not NO_CLAIM:
                self._hooks.spawn(self._claims.undo(claim))
            self._breaker.leave(permit, alive=None)
            self._running -= 1

    def _straight_in(self) -> Passage:
        """Where nobody waits and nothing is counted with others."""
        permit = self._breaker.enter()
        assert permit is not None  # noqa: S101 - it may start
        self._running += 1
        self._tell()
        return Passage(permit, NO_CLAIM, self._left)

    def trip(self, for_s: float) -> None:
        """Another replica found the judge failing: open for so many seconds."""
        if self._breaker.state != "open":
            self._breaker.trip(for_s)
            self._pump()

    # Waiting.

    async def _turn(self, call: Arrival) -> Permit:
        """Wait in line; then the call has a place in this process and the breaker's permit."""
        turn: asyncio.Future[Permit | JudgingError]
        turn = call.turn = asyncio.get_running_loop().create_future()
        bisect.insort(self._line, call, key=lambda c: c.number)
        self._pump()
        full = len(self._line) > self._max_queue and not (call.admitted or call.waited)
        if full and not turn.done():
            self._remove(call)
            raise self._shed()
        call.waited |= not turn.done()
        try:
            # An event loop's timer may go off early.
            while not turn.done() and (left := call.deadline.left()) > 0:
                await done_within(turn, left)
        except asyncio.CancelledError:
            if turn.done() and isinstance(permit := turn.result(), Permit):
                self._trying -= 1
                self._give_up(permit)
            else:
                self._remove(call)
            raise
        given = turn.result() if turn.done() else self._expired(call)
        if isinstance(given, JudgingError):
            raise given
        return given

    async def _claim(self, call: Arrival) -> Claim | Blocked:
        if not self._claims.needed:
            return NO_CLAIM
        hold_s = call.deadline.attempt_s(self.judge.attempt_timeout_s) + HOLD_MARGIN_S
        # Cut off in the middle, nobody would know what was taken.
        task = self._hooks.spawn(self._claims.take(call.tokens, hold_s, queued=call.waited))
        try:
            claim: Claim | Blocked = await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(self._undo)
            raise
        return claim

    def _undo(self, task: asyncio.Task[Claim | Blocked]) -> None:
        if not task.cancelled() and task.exception() is None:
            claim = task.result()
            if isinstance(claim, Claim):
                self._hooks.spawn(self._claims.undo(claim))

    def _block(self, blocked: Blocked) -> None:
        self._blocked_by = blocked.by
        self._blocked_until = self._clock() + blocked.wait_s
        self._one_by_one = True

    # Going on.

    @property
    def _limit(self) -> int:
        cap = self._claims.cap
        return self._slots.limit if cap is None else min(cap, self._slots.limit)

    @property
    def _crowded(self) -> bool:
        """More calls run than may while the store, just lost, does not tell of other processes."""
        cap = self._claims.cap
        return cap is not None and self._running > cap

    def _may_start(self) -> bool:
        if self._running >= self._limit or not self._breaker.lets_in:
            return False
        if not self._one_by_one:
            return True
        return self._trying == 0 and self._clock() >= self._blocked_until

    def _pump(self) -> None:
        """Let those at the head of the line go on, and turn away those who wait in vain."""
        if not (self._line or self._one_by_one or self._trying or self._timer):
            self._tell()
            return
        while self._line and self._may_start():
            permit = self._breaker.enter()
            if permit is None:
                break
            self._running += 1
            self._trying += 1
            self._line.pop(0).go(permit)
        if self._breaker.state != "closed" or self._blocked_by == "rate":
            self._sweep()
        if not self._line and not self._trying:
            self._one_by_one = False
            self._blocked_by = None
        self._arm()
        self._tell()

    def _sweep(self) -> None:
        waiting, self._line = self._line, []
        for place, call in enumerate(waiting):
            error = self._in_vain(call, place)
            if error is None:
                self._line.append(call)
            else:
                call.go(error)

    def _in_vain(self, call: Arrival, place: int) -> JudgingError | None:
        """The error of a call that cannot go on in time from this place in the line."""
        left = call.deadline.left()
        if self._breaker.state != "closed":
            wait = self._breaker.wait_s
            if wait > left or (call.spare and not self._breaker.lets_in):
                return breaker_open(self.judge.id, wait)
        if self._blocked_by == "rate" and (wait := self._blocked_until - self._clock()) > 0:
            wait += place * self._claims.rates.pace_s
            if wait > left:
                return rate_used_up(self.judge.id, wait)
        return None

    def _arm(self) -> None:
        """Come back when a time is over that somebody waits for."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        blocked_s = self._blocked_until - self._clock() if self._one_by_one else 0.0
        wait = max(self._breaker.wait_s, blocked_s)
        # The time may have come since it was found not to have: then nobody else would come back.
        idle = self._trying == 0 and (self._running == 0 or self._one_by_one)
        if self._line and (wait > 0 or idle):
            wait = max(wait, SHORTEST_S)
            self._timer = asyncio.get_running_loop().call_later(wait, self._pump)

    def _expired(self, call: Arrival) -> JudgingError:
        """The error of a call whose time was up in the line."""
        error: JudgingError = waited_in_vain(self.judge.id)
        if self._breaker.state != "closed":
            error = breaker_open(self.judge.id, self._breaker.wait_s)
        elif self._blocked_by == "rate":
            error = rate_used_up(self.judge.id, self._blocked_until - self._clock())
        self._remove(call)
        return error

    def _remove(self, call: Arrival) -> None:
        if call in self._line:
            self._line.remove(call)
        self._pump()

    def _shed(self) -> JudgingError:
        self._hooks.observer(Shed(self.judge.id))
        waiting = len(self._line)
        return queue_full(self.judge.id, waiting, self.pace.queue_s(waiting + 1, self._clock()))

    # Leaving.

    def _left(self, passage: Passage, fate: Fate, usage: Usage, seconds: float) -> None:
        self.pace.ended(self._clock())
        if fate is Fate.LIMITED:
            self._slots.refused(self._running)
        elif fate is Fate.ANSWERED:
            self._slots.answered()
            self.pace.answered(seconds)
        if usage.completion_tokens:
            self.pace.completed(usage.completion_tokens)
        if self._breaker.leave(passage.permit, alive=fate.alive):
            self._hooks.opened(self._breaker.wait_s)
        if passage.claim is NO_CLAIM:
            self._free()
            return
        unsent = fate is Fate.UNSENT
        used = (usage.prompt_tokens + usage.completion_tokens) or None
        work = self._claims.undo if unsent else lambda claim: self._claims.settle(claim, used)
        # The place here comes free after the shared one, so that the next in line finds it so.
        task = self._hooks.spawn(work(passage.claim))
        task.add_done_callback(lambda _: self._free(shared=True))
        self._pump()

    def _give_up(self, permit: Permit) -> None:
        self._breaker.leave(permit, alive=None)
        self._free()

    def _free(self, *, shared: bool = False) -> None:
        if shared and self._blocked_by == "place":
            self._blocked_until = self._clock()
        self._running -= 1
        self._pump()

    def _tell(self) -> None:
        now = QueueChanged(self.judge.id, len(self._line), self._running, self._limit)
        if now != self._told:
            self._told = now
            self._hooks.observer(now)
