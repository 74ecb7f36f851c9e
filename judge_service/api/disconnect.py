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
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(_hung_up(request))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise Disconnected
    finally:
        watch.cancel()
        if not task.done():
            task.cancel()
        await asyncio.gather(task, watch, return_exceptions=True)


async def _hung_up(request: Request) -> None:
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return
