"""One thread that does what it is given, one thing after the other.

An executor of the standard library does the same with locks, weak references and two futures for
each piece of work, which costs more than most of what a store does there.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
_Job = tuple[asyncio.AbstractEventLoop, asyncio.Future[Any], Callable[[], Any]]


class StoreThread:
    """The thread begins with the first piece of work. It does not keep the process from ending."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._ended = False

    def run(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """What becomes of ``work``, for the running event loop. Raises RuntimeError after ``end``:
        nobody would ever do it.
        """
        if self._ended:
            raise RuntimeError("the thread takes no more work")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put((loop, future, work))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        return future

    def end(self) -> None:
        """End when everything is done that it was given."""
        self._ended = True
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            loop, future, work = job
            result, error = None, None
            try:
                result = work()
            except BaseException as raised:  # noqa: BLE001 - whoever gave it is told
                error = raised
            try:
                loop.call_soon_threadsafe(_settle, future, result, error)
            except RuntimeError:
                continue  # its loop is closed: nobody waits
            finally:
                del job, loop, future, work, result, error


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
