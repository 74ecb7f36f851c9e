"""Stopping work for a caller that has hung up."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from starlette.requests import Request

T = TypeVar("T")


class Disconnected(Exception):
    """The caller is gone; there is nobody to answer."""


async def while_connected(request: Request, work: Coroutine[None, None, T]) -> T:
    """Run ``work``; when the caller hangs up, cancel it. The body must have been read before.

    Raises Disconnected, or what ``work`` raises.
    """
    running = asyncio.current_task()
    assert running is not None  # noqa: S101 - a coroutine that is awaited runs in a task
    over = gone = False

    def hung_up(watch: asyncio.Task[None]) -> None:
        nonlocal gone
        if not watch.cancelled():
            watch.exception()  # looked at, so that asyncio does not complain of it
            gone = not over
            if gone:
                running.cancel()

    watch = asyncio.create_task(_hung_up(request))
    watch.add_done_callback(hung_up)
    try:
        return await work
    except asyncio.CancelledError:
        # Somebody else may have cancelled the request as well; then it stays cancelled.
        if gone and running.uncancel() == 0:
            raise Disconnected from None
        raise
    finally:
        over = True
        watch.cancel()


async def _hung_up(request: Request) -> None:
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return
