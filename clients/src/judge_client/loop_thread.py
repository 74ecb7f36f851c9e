"""A thread with an event loop, for callers without one: one for each process, made when needed.

It gives the synchronous client the deadlines, retries and cancellation of the asynchronous one.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_STOP_S = 2.0


class LoopThread:
    """The loop of this process; a forked child has its own."""

    def __init__(self) -> None:
        self._forget()
        atexit.register(self.stop)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Start anew: of a parent's thread, loop and lock nothing is left to use in a child."""
        self._lock = threading.Lock()
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Event, threading.Thread] | None = (
            None
        )

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of ``work``, which is cancelled when the caller is interrupted."""
        try:
            loop = self._loop()
        except BaseException:
            work.close()
            raise
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """End the loop, which closes its connections; a later call starts another."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            loop, ended, thread = running
            loop.call_soon_threadsafe(ended.set)
            thread.join(_STOP_S)

    def _loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._running is None:
                self._running = _start()
            return self._running[0]


def _start() -> tuple[asyncio.AbstractEventLoop, asyncio.Event, threading.Thread]:
    made: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
    ready = threading.Event()

    async def main() -> None:
        ended = asyncio.Event()
        made.append((asyncio.get_running_loop(), ended))
        ready.set()
        await ended.wait()

    thread = threading.Thread(target=lambda: asyncio.run(main()), name="judge-client", daemon=True)
    thread.start()
    ready.wait()
    return (*made[0], thread)


LOOP = LoopThread()
