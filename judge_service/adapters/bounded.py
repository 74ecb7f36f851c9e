"""Work that ends in time, whatever the store it talks to and the caller that began it do."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

LIMIT_S = 0.05
"""How long one operation on a store may keep its caller."""
ROUNDS = 8
"""A busy event loop sees that time is up before it has read what arrived meanwhile. So many of its
rounds are granted, which is enough for an answer that is already there."""
T = TypeVar("T")


async def settled(future: asyncio.Future[Any], limit_s: float = LIMIT_S) -> bool:
    """Wait at most ``limit_s`` for the future, which is not cancelled; whether it is done."""
    await asyncio.wait({future}, timeout=limit_s)
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
        loop = asyncio.get_running_loop()
        task = loop.create_task(work)
        timer = loop.call_later(limit_s, _time_up, task, ROUNDS)
        self._tasks.add(task)
        task.add_done_callback(lambda _: timer.cancel())
        task.add_done_callback(self._tasks.discard)
        return task

    async def aclose(self) -> None:
        """Cut off whatever still runs."""
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=1.0)


def _time_up(task: asyncio.Task[Any], rounds: int) -> None:
    if task.done():
        return
    if rounds:
        task.get_loop().call_soon(_time_up, task, rounds - 1)
    else:
        task.cancel()
