"""Asking judges while nobody waits for them: begun only where there is room, over at shutdown."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from judge_service.events import Kind, Observer, WatchSkipped
from judge_service.gates.gate_state import GateState
from judge_service.judges.judge import JudgeSpec
from judge_service.rubric.rubric import Rubric
from judge_service.watch.bill import Bill, Reserved, Watch

log = logging.getLogger("judge_service.watch")
Reason = Literal["busy", "breaker", "ceiling", "full"]
Work: TypeAlias = Callable[[Reserved], Coroutine[Any, Any, None]]


@dataclass(slots=True, kw_only=True)
class Background:
    """Runs work for ``watch`` on judges that have nothing better to do.

    ``state`` tells of a judge's gate. At most ``most`` are under way, ``per_judge`` of them with
    one judge; what finds no room is skipped, never queued.
    """

    watch: Watch
    bill: Bill
    state: Callable[[JudgeSpec], GateState]
    tell: Observer
    most: int
    per_judge: int
    skipped: dict[str, int] = field(default_factory=dict)
    _running: dict[str, int] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _closed: bool = False

    def begin(self, judge: JudgeSpec, requests: int, work: Work) -> bool:
        """Begin ``work``, which sends ``judge`` so many requests and settles what is reserved for
        them; whether it was.
        """
        if self._closed:
            return False
        if len(self._tasks) >= self.most or self._running.get(judge.id, 0) >= self.per_judge:
            return self._skip(judge, "full")
        self._running[judge.id] = self._running.get(judge.id, 0) + 1
        # A context of its own: nothing of it belongs to the request that is being served.
        task = asyncio.get_running_loop().create_task(
            self._work(judge, requests, work), context=contextvars.Context()
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def _work(self, judge: JudgeSpec, requests: int, work: Work) -> None:
        try:
            reserved = await self.bill.reserve(requests)
            if reserved is None:
                self._skip(judge, "ceiling")
                return
            reason = self._in_the_way(judge)
            if reason is not None:
                self._skip(judge, reason)
            else:
                await work(reserved)
            await self.bill.release(reserved)  # what came to nothing
        except Exception:
            # Nobody waits for it, and judging goes on without. What was reserved may be spent.
            log.exception("a %s request broke off", self.watch)
        finally:
            self._running[judge.id] -= 1

    def _in_the_way(self, judge: JudgeSpec) -> Reason | None:
        state = self.state(judge)
        if state.breaker != "closed":
            return "breaker"
        # Half of the places stay for those who wait for an answer.
        busy = state.waiting > 0 or 2 * state.running >= state.limit
        return "busy" if busy else None

    def _skip(self, judge: JudgeSpec, reason: Reason) -> bool:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1
        self.tell(WatchSkipped(self.watch, judge.id, reason))
        return False

    async def aclose(self) -> None:
        """Break off what is under way, and begin nothing more."""
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def requests_of(rubric: Rubric, kind: Kind) -> int:
    """What asking one judge about one item takes, where nothing is tried again."""
    if kind != "assess":
        return 2  # both orders
    return 1 if rubric.judging.ask == "together" else len(rubric.criteria)
