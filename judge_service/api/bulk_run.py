"""Judging the items of a bulk: many at once, none at the cost of other requests, told in order."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from judge_service.access.cost_quota import Part
from judge_service.access.quota import Admission
from judge_service.api.bulk_items import BulkItem
from judge_service.api.json_response import finite_json
from judge_service.engine import Engine
from judge_service.errors import (
    DeadlineExceeded,
    InternalError,
    JudgingError,
    QuotaExhausted,
    RequestError,
)
from judge_service.outcome import Common

log = logging.getLogger("judge_service.api")
AT_ONCE = 256
"""How many items of one bulk are worked on at a time."""
LOST_S = 0.001
LOST_SHARE = 0.1
"""How long it takes to say that one item was not begun, in seconds, and the share of an item's time
that may be kept free for saying so of all that wait: the answer is due at the deadline.
"""
BUSY_S, LONGEST_PAUSE_S = 0.01, 0.05
"""A turn of all that takes longer than this, in seconds, is one of a busy service; the most time
that others are then given before one more item is begun.
"""
TOLD_BYTES = 64 * 1024
Tell = Callable[[bytes], Awaitable[None]]


class BulkRun:
    """One bulk being judged; ``admission`` is told of every outcome, once.

    Items whose time is up first are begun first, others in their order.
    """

    def __init__(self, engine: Engine, items: Sequence[BulkItem], admission: Admission) -> None:
        self._engine = engine
        self._admission = admission
        numbered = enumerate(items)
        self._waiting = deque(sorted(numbered, key=lambda one: one[1].case.deadline.at))
        self._places = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        loop = asyncio.get_running_loop()
        self._results: dict[int, asyncio.Future[bytes]] = {
            number: loop.create_future() for number in range(len(items))
        }

    async def tell(self, tell: Tell) -> None:
        """Judge all and give the results, JSON with commas between, to ``tell`` in the order of the
        items, several at once where they are there.

        When ``tell`` fails or this is cancelled, nothing of the bulk goes on.
        """
        begin = asyncio.create_task(self._begin())
        begin.add_done_callback(self._begun)
        try:
            number = 0
            while number in self._results:
                ready = [await self._results[number]]
                while self._is_ready(number + 1) and sum(map(len, ready)) < TOLD_BYTES:
                    del self._results[number]
                    number += 1
                    ready.append(self._results[number].result())
                del self._results[number]
                number += 1
                await tell(b",".join(ready))
        finally:
            begun: list[asyncio.Future[Any]] = [begin, *self._tasks, *self._results.values()]
            for one in begun:
                one.cancel()
            await asyncio.gather(*begun, return_exceptions=True)

    def _is_ready(self, number: int) -> bool:
        result = self._results.get(number)
        return result is not None and result.done()

    async def _begin(self) -> None:
        while self._waiting:
            start = await self._start()
            number, item = self._waiting.popleft()
            result = self._results[number]
            task = asyncio.create_task(self._finish(result, item, start))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            await _others_first()

    def _begun(self, begin: asyncio.Task[None]) -> None:
        error = None if begin.cancelled() else begin.exception()
        if error is not None:
            # Nobody must wait for what will never come.
            for result in self._results.values():
                if not result.done():
                    result.set_exception(error)

    def _left(self) -> float:
        """How long the next item may wait, in seconds."""
        case = self._waiting[0][1].case
        kept = min(LOST_S * len(self._waiting), LOST_SHARE * case.request.timeout_s)
        return case.deadline.left() - kept

    async def _place(self) -> bool:
        """Wait for a place for the next item; False when its time is up before."""
        left = self._left()
        if left <= 0:
            return False
        try:
            async with asyncio.timeout(left):
                return await self._places.acquire()
        except TimeoutError:
            return False

    async def _start(self) -> Part | JudgingError:
        """Wait until the next item can be begun, or until it is clear why it cannot."""
        late = DeadlineExceeded("the request's time was up before it could be begun")
        if not await self._place():
            return late
        start: Part | JudgingError | None = None
        try:
            start = await self._admission.begin(self._left())
        except TimeoutError:
            start = late
        finally:
            if not isinstance(start, Part):
                self._places.release()
        return start or QuotaExhausted("the key's daily cost is used up")

    async def _finish(
        self, result: asyncio.Future[bytes], item: BulkItem, start: Part | JudgingError
    ) -> None:
        try:
            found = await self._result(item, start)
            if not result.done():
                result.set_result(found)
        except Exception as error:  # noqa: BLE001 - raised where the result is waited for
            if not result.done():
                result.set_exception(error)
        finally:
            if isinstance(start, Part):
                self._places.release()

    async def _result(self, item: BulkItem, start: Part | JudgingError) -> bytes:
        part = start if isinstance(start, Part) else None
        lost = start if isinstance(start, JudgingError) else None
        try:
            return await self._judged(item, part, lost)
        except RequestError as error:
            # Seen too late to refuse the whole: a rule of the operator's own can do that.
            lost = InternalError(f"the request does not fit after all: {str(error)[:200]}")
        except Exception:
            log.exception("an item of a bulk ended in an unexpected error")
            lost = InternalError("an internal error")
        return await self._judged(item, part, lost)

    async def _judged(self, item: BulkItem, part: Part | None, lost: JudgingError | None) -> bytes:
        judge = item.kind.judge(self._engine)
        outcome: Common = await judge(item.case.request, item.case, lost=lost)
        result = _encoded(item.kind.wire(outcome), item.metadata)
        if part is None:
            self._admission.spent(outcome)
        else:
            await self._admission.end(part, outcome)
        return result


async def _others_first() -> None:
    """Let everybody else have a turn; a second one, and time for it, where the first took long."""
    started = time.monotonic()
    await asyncio.sleep(0)
    took = time.monotonic() - started
    if took > BUSY_S:
        await asyncio.sleep(min(took, LONGEST_PAUSE_S))


def _encoded(wire: dict[str, Any], metadata: bytes) -> bytes:
    """An outcome as JSON, with the caller's metadata, which is JSON already, at its end."""
    del wire["metadata"]
    return finite_json(wire)[:-1] + b',"metadata":' + metadata + b"}"
