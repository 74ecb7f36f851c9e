"""Single flight: several requests that wait for one verdict share one asking.

The asking is a task of its own. It goes on as long as anybody waits, whoever began it; what it
spends is billed to the one who has waited longest, and to nobody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace

from judge_service.asking.ask import Answer
from judge_service.deadline import Deadline
from judge_service.errors import DeadlineExceeded
from judge_service.usage import NOTHING, Ledger
from judge_service.waiting import done_within

GRACE_S = 0.1
"""How long a request waits past its deadline for the asking's own account of its end."""


@dataclass(slots=True, eq=False)
class _Waiter:
    deadline: Deadline
    ledger: Ledger


class Flight:
    """One verdict in the making.

    ``deadline`` is the latest of those who wait, ``ledger`` what is spent, ``tries`` how many
    upstream requests it may take; ``elsewhere`` says that another process asks, too. ``landed`` is
    called when no more requests may join.
    """

    def __init__(
        self, key: str, deadline: Deadline, landed: Callable[[Flight], None], *, tries: int
    ) -> None:
        self.key = key
        self.tries = tries
        self.elsewhere = False
        self.deadline = deadline.copy()
        self.ledger = Ledger()
        self._landed = landed
        self._answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        # Its failure may find nobody waiting.
        self._answer.add_done_callback(lambda f: f.cancelled() or f.exception())
        self._waiters: list[_Waiter] = []
        self._task: asyncio.Task[None] | None = None

    def start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Begin. ``work`` calls ``settle`` as soon as there is a verdict; its exception settles
        the flight, too.
        """
        self._task = asyncio.create_task(work)
        self._task.add_done_callback(self._ended)
        return self._task

    def settle(self, answer: Answer) -> None:
        """Give everybody who waits the answer."""
        if not self._answer.done():
            self._answer.set_result(answer)

    async def wait(self, deadline: Deadline, ledger: Ledger) -> Answer:
        """The answer, as it is for one more request: billed to the first who waits, free for the
        others. Raises what the asking ended in, or DeadlineExceeded at the request's own deadline.
        """
        waiter = _Waiter(deadline, Ledger(ledger))
        self._waiters.append(waiter)
        self.deadline.extend_to(deadline)
        self._bill()
        try:
            while not self._answer.done():
                # The asking knows best how it ended; who must leave before it ends cannot wait.
                grace = GRACE_S if deadline.at >= self.deadline.at else 0.0
                left = deadline.at + grace - deadline.clock()
                if left <= 0:
                    raise DeadlineExceeded("the request's time was up before there was a verdict")
                await done_within(self._answer, left)
            return self._shared_with(waiter, self._answer.result())
        finally:
            self._leave(waiter)

    def _shared_with(self, waiter: _Waiter, answer: Answer) -> Answer:
        if answer.cached:
            return answer
        if waiter is self._waiters[0]:
            spent = waiter.ledger.total
            return answer if answer.usage == spent else replace(answer, usage=spent)
        return replace(answer, cached=True, attempts=0, usage=NOTHING)

    def _leave(self, waiter: _Waiter) -> None:
        # The first stays the payer as long as others read a settled answer.
        if self._answer.done():
            return
        self._waiters.remove(waiter)
        self._bill()
        if not self._waiters and self._task is not None:
            self._landed(self)
            self._task.cancel()

    def _bill(self) -> None:
        self.ledger.bill(self._waiters[0].ledger if self._waiters else None)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._landed(self)
        if self._answer.done():
            return
        if task.cancelled():
            self._answer.cancel()
            return
        error = task.exception()
        self._answer.set_exception(error or RuntimeError("a flight ended without an answer"))
