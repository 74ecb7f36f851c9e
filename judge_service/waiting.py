"""Waiting, as asyncio does it for many at once, at a smaller cost where it is one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def done_within(future: asyncio.Future[Any], seconds: float) -> bool:
    """Wait until the future is done, at most so many seconds; whether it is done.

    It is neither cancelled nor looked at, whatever happens to whoever waits. An event loop's timer
    may go off early, by as much as its last round took.
    """
    if future.done():
        return True
    loop = asyncio.get_running_loop()
    waiter = loop.create_future()

    def wake(_: object = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    timer = loop.call_later(seconds, wake)
    future.add_done_callback(wake)
    try:
        await waiter
    finally:
        timer.cancel()
        future.remove_done_callback(wake)
    return future.done()


async def call_off(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait until it has ended.

    Raises what it ended in, unless that is this cancellation; CancelledError means that whoever
    waits here was cancelled.
    """
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.result()


async def together(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Do all of it at once; the results in its order. What one raises ends the others, too."""
    if len(work) == 1:
        return [await work[0]]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one) for one in work]
    return [task.result() for task in tasks]
