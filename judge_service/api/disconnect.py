"""Stopping work for a caller that has hung up."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from starlette.requests import Request

from judge_service.api.door.line import Line, line_of

T = TypeVar("T")
HUNG_UP = 499
"""The status of a request whose caller is gone, for log lines and metrics: nobody is there to see
it."""


class Disconnected(Exception):
    """The caller is gone; there is nobody to answer."""


async def while_connected(request: Request, work: Coroutine[None, None, T]) -> T:
    """Run ``work``; when the caller hangs up, cancel it. The body must have been read before.

    Raises Disconnected, or what ``work`` raises.
    """
    line = line_of(request.scope)
    if line is not None:
        return await _while_up(line, work)
    # Behind another server the caller's end is a message like any other, or an error.
    line = Line()
    watch = asyncio.create_task(_hung_up(request))

    def ended(watch: asyncio.Task[None]) -> None:
        if not watch.cancelled():
            watch.exception()  # looked at, so that asyncio does not complain of it
            line.cut()

    watch.add_done_callback(ended)
    try:
        return await _while_up(line, work)
    finally:
        watch.cancel()


async def _while_up(line: Line, work: Coroutine[None, None, T]) -> T:
    running = asyncio.current_task()
    assert running is not None  # noqa: S101 - a coroutine that is awaited runs in a task
    if line.is_cut():
        work.close()
        raise Disconnected
    cancel = running.cancel
    line.when_cut(cancel)
    try:
        return await work
    except asyncio.CancelledError:
        # Somebody else may have cancelled the request as well; then it stays cancelled.
        if line.is_cut() and running.uncancel() == 0:
            raise Disconnected from None
        raise
    finally:
        line.forget(cancel)


async def _hung_up(request: Request) -> None:
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return
