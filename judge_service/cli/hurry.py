"""A stop in a hurry: requests are cut off, and the app still closes what it has open, but in time.

Uvicorn itself would leave the app's own ending out, and with it what is yet to be stored.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import uvicorn

CUT_S = 1.0
"""How long requests that were cut off are waited for, in seconds."""
HURRY_S = 5.0
"""How long all of it may take, in seconds."""
LOOK_S = 0.05
log = logging.getLogger("judge_service")


class Hurry:
    """Of one server that has been told to stop. To be made in its event loop."""

    def __init__(self, server: uvicorn.Server) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Hurry from now on. Signal handlers may call it, any number of times."""
        self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        if self._task is None:
            self._task = self._loop.create_task(self._run())

    async def _run(self) -> None:
        # There is nothing to end before.
        while not self._server.started:  # noqa: ASYNC110 - uvicorn tells nobody
            await asyncio.sleep(LOOK_S)
        until = self._loop.time() + HURRY_S
        await self._cut_off()
        await asyncio.sleep(until - self._loop.time())
        log.warning("not everything was closed within %g s; the rest is broken off", HURRY_S)
        # Uvicorn waits for the app no longer.
        lifespan: Any = self._server.lifespan
        lifespan.shutdown_event.set()

    async def _cut_off(self) -> None:
        """End requests. Uvicorn goes on when there are none, so those that stay are forgotten."""
        state = self._server.server_state
        told: set[asyncio.Task[None]] = set()
        until = self._loop.time() + CUT_S
        while self._loop.time() < until:
            # More may come as long as uvicorn has not looked at the first signal.
            for task in state.tasks - told:
                task.cancel()
            told |= state.tasks
            if not state.tasks:
                _abort(state.connections)
            await asyncio.sleep(LOOK_S)
        _abort(state.connections)
        state.tasks.clear()
        state.connections.clear()


def _abort(connections: set[Any]) -> None:
    for connection in list(connections):
        connection.transport.abort()
