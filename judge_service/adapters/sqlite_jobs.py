"""Work of one moment goes to the embedded store's thread together: one trip, one transaction.

A trip to a thread and back, and a transaction, each cost more than most of what is done there.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from judge_service.adapters.sqlite_file import SqliteFile
from judge_service.adapters.store_thread import StoreThread

MOST = 128
"""Pieces of work in one trip."""
GATHER_S = 0.005
"""How long work that nobody is in a hurry for waits for company, in seconds."""
TRIES = 3
"""How often a write is tried that another process stands in the way of."""
Work = Callable[[sqlite3.Connection], Any]


@dataclass(slots=True, eq=False)
class _Job:
    writes: bool
    work: Work
    future: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = None


class SqliteJobs:
    """Runs work on ``file`` in ``thread``, in the order it came; of what came
    together, reads go first, for they wait for nobody. A write that is done by itself is to be
    ``persistent``; in a transaction with others nobody can be in its way.
    """

    def __init__(self, thread: StoreThread, file: SqliteFile) -> None:
        self.heard_at = 0.0
        """When the thread last began or ended something, by the monotonic clock."""
        self.busy = False
        """Whether the thread has work. What it has done, an event loop that was held up itself may
        not know yet.
        """
        self._thread = thread
        self._file = file
        self._waiting: deque[_Job] = deque()
        self._due: asyncio.Handle | None = None
        self._due_soon = False
        self._running: asyncio.Future[None] | None = None

    def add(self, work: Work, *, writes: bool, hurry: bool = True) -> asyncio.Future[Any]:
        """What becomes of ``work``: its result, or the error it raised. Without ``hurry`` it may go
        with what comes in the next moment.
        """
        loop = asyncio.get_running_loop()
        job = _Job(writes, work, loop.create_future())
        self._waiting.append(job)
        if self._running is None and not self._due_soon and (hurry or self._due is None):
            self._no_more_due()
            self._due_soon = hurry
            self._due = loop.call_soon(self.send) if hurry else loop.call_later(GATHER_S, self.send)
        return job.future

    def _no_more_due(self) -> None:
        if self._due is not None:
            self._due.cancel()
        self._due, self._due_soon = None, False

    def send(self) -> None:
        """Hand over what waits, unless the thread is busy: then that comes next."""
        self._no_more_due()
        if self._running is not None or not self._waiting:
            return
        self.heard_at = time.monotonic()
        self.busy = True
        batch = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
        self._running = self._thread.run(partial(self._run, batch))
        self._running.add_done_callback(partial(self._done, batch))

    async def finished(self) -> None:
        """Wait for all that was added."""
        self.send()
        while self._running is not None:
            await asyncio.wait({self._running})

    def _done(self, batch: list[_Job], running: asyncio.Future[None]) -> None:
        self._running = None
        broken = None if running.cancelled() else running.exception()
        for job in batch:
            if job.future.done():
                continue
            if error := job.error or broken:
                job.future.set_exception(error)
            elif running.cancelled():
                job.future.cancel()
            else:
                job.future.set_result(job.result)
        self.send()

    def _run(self, batch: list[_Job]) -> None:
        """In the thread."""
        try:
            for job in batch:
                if not job.writes:
                    self._do(job)
            writes = [job for job in batch if job.writes]
            if len(writes) < 2 or not self._done_together(writes):
                for job in writes:
                    self._do(job)
        finally:
            self.busy = False

    def _do(self, job: _Job) -> None:
        try:
            job.result = self._file.run(job.work)
        except Exception as error:  # noqa: BLE001 - whoever asked for it is told
            job.error = error
        self.heard_at = time.monotonic()

    def _done_together(self, writes: list[_Job]) -> bool:
        """Do them in one transaction; False when nothing of it was done."""
        try:
            self._file.run(partial(persistent, partial(_together, writes)))
        except Exception as error:  # noqa: BLE001 - each is tried, and told of, by itself
            if not _in_the_way(error):
                return False
            # Each of them would wait as long as all of them have just done.
            for job in writes:
                job.error = error
        finally:
            self.heard_at = time.monotonic()
        return True


def persistent(work: Work, db: sqlite3.Connection) -> Any:
    """A write, tried again while another process is in the way."""
    for left in range(TRIES - 1, -1, -1):
        try:
            return work(db)
        except sqlite3.OperationalError as error:
            if not left or not _in_the_way(error):
                raise
    raise AssertionError("unreachable")


def _together(writes: list[_Job], db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        for job in writes:
            job.result = job.work(db)
    except BaseException:
        # Some errors have ended the transaction by themselves.
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _in_the_way(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", 0)
    return isinstance(error, sqlite3.OperationalError) and code & 0xFF == sqlite3.SQLITE_BUSY
