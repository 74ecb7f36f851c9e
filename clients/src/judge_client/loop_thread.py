"""A thread with an event loop, for callers without one: one for each process, made when needed.

It gives the synchronous client the deadlines, retries and cancellation of the asynchronous one.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, NamedTuple, TypeVar

from judge_client.results import Failure

T = TypeVar("T")
_STOP_S = 2.0
_LOOK_S = 1.0
"""How often a caller looks whether the thread that works for it is still there."""


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
        self._running: _Running | None = None

    def run(self, work: Coroutine[Any, Any, T], without: Callable[[Failure], T]) -> T:
        """The result of ``work``, which is cancelled when the caller is interrupted.

        Where there is no loop for it (no thread or no file descriptor is left, or the loop was
        stopped), the result is what ``without`` makes of that failure.
        """
        try:
            running = self._here()
            future = asyncio.run_coroutine_threadsafe(work, running.loop)
        # The loop or its thread: whatever keeps them from being there is nobody's verdict.
        except Exception as error:  # noqa: BLE001
            work.close()
            return without(_no_loop(f"{type(error).__name__}: {str(error)[:200]}"))
        except BaseException:
            work.close()
            raise
        try:
            while not wait([future], _LOOK_S).done:
                if not running.thread.is_alive() and not future.done():
                    return without(_no_loop("it ended in the middle of a call"))
            return without(_no_loop("it was stopped")) if future.cancelled() else future.result()
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """End the loop, which closes its connections; a later call starts another."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None and running.thread.is_alive():
            # It may be closing already.
            with contextlib.suppress(RuntimeError):
                running.loop.call_soon_threadsafe(running.ended.set)
            running.thread.join(_STOP_S)

    def _here(self) -> _Running:
        """The loop that runs, started where there is none. Raises what keeps it from starting."""
        with self._lock:
            if self._running is None or not self._running.thread.is_alive():
                self._running = _start()
            return self._running


class _Running(NamedTuple):
    loop: asyncio.AbstractEventLoop
    ended: asyncio.Event
    thread: threading.Thread


def _start() -> _Running:
    """A thread whose loop runs. Raises what the thread, or the loop in it, could not start for."""
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def main() -> None:
        ended = asyncio.Event()
        started.set_result((asyncio.get_running_loop(), ended))
        await ended.wait()

    def live() -> None:
        life = main()
        try:
            asyncio.run(life)
        except BaseException as error:
            life.close()
            if started.done():
                raise
            # Whoever waits for the loop must hear that it will never be there.
            started.set_exception(error)

    thread = threading.Thread(target=live, name="judge-client", daemon=True)
    thread.start()
    return _Running(*started.result(), thread)


def _no_loop(why: str) -> Failure:
    """The failure of a call that there is no loop for; the next call tries to start one."""
    return Failure(
        code="unreachable", message=f"the client's background loop is not there: {why}",
        retryable=True, at="client",
    )  # fmt: skip


LOOP = LoopThread()
