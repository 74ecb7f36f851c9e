"""Work that ends in time, whatever the store it talks to and the caller that began it do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from judge_service.waiting import done_within

LIMIT_S = 0.05
"""How long one operation on a store may keep its caller."""
MAX_VALUE_BYTES = 8 * 1024 * 1024
"""The longest value that is stored. What is longer was not put there by us and is a miss."""
STALL_S = 0.01
"""A timer that goes off so late says that this process had no time itself. The store is then given
as much once more, for it may well have been in time."""
ROUNDS = 8
"""A busy event loop sees that time is up before it has read what arrived meanwhile. So many of its
rounds are granted, which is enough for an answer that is already there."""
T = TypeVar("T")


async def settled(future: asyncio.Future[Any], limit_s: float = LIMIT_S) -> bool:
    """Wait at most ``limit_s`` for the future, which is not cancelled; whether it is done."""
    until = time.monotonic() + limit_s
    if await done_within(future, limit_s):
        return True
    if (late := time.monotonic() - until) > STALL_S:
        await done_within(future, min(late, limit_s))
    for _ in range(ROUNDS):
        if future.done():
            break
        await asyncio.sleep(0)
    return future.done()


class Running:
    """Tasks that outlive the caller's cancellation, each cut off when its time is up.

    So a connection is never given up between a question and its answer: either the answer is read,
    or the task is cut off and the connection with it.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T], limit_s: float = LIMIT_S) -> asyncio.Task[T]:
        """Run ``work`` for at most ``limit_s``; wait for the task with ``asyncio.wait``."""
        task = asyncio.get_running_loop().create_task(work)
        timer = _Timer(task, limit_s)
        self._tasks.add(task)
        task.add_done_callback(timer.stop)
        task.add_done_callback(self._tasks.discard)
        return task

    async def aclose(self) -> None:
        """Cut off whatever still runs."""
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=1.0)


class _Timer:
    """Cuts a task off when its time is up."""

    def __init__(self, task: asyncio.Task[Any], limit_s: float) -> None:
        self._task = task
        self._limit_s = limit_s
        self._loop = task.get_loop()
        self._rounds = ROUNDS
        self._until = self._loop.time() + limit_s
        self._handle: asyncio.Handle = self._loop.call_at(self._until, self._up)

    def stop(self, _: asyncio.Task[Any]) -> None:
        """The task is done."""
        self._handle.cancel()

    def _up(self) -> None:
        if (late := self._loop.time() - self._until) > STALL_S:
            self._handle = self._loop.call_later(min(late, self._limit_s), self._round)
        else:
            self._round()

    def _round(self) -> None:
        self._rounds -= 1
        if self._rounds >= 0:
            self._handle = self._loop.call_soon(self._round)
        else:
            self._task.cancel()
