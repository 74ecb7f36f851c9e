"""A lease that is renewed while somebody asks: a timer until then, for most have done before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

from judge_service.waiting import call_off


class Renewing:
    """Runs ``renew`` from ``after_s`` seconds on, until it is ended."""

    def __init__(self, renew: Callable[[], Coroutine[None, None, None]], after_s: float) -> None:
        self._renew = renew
        self._task: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(after_s, self._begin)

    def _begin(self) -> None:
        self._task = asyncio.create_task(self._renew())

    async def end(self) -> None:
        """Renew it no longer."""
        self._timer.cancel()
        if self._task is not None:
            await call_off(self._task)
