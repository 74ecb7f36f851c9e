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
from typing import Any, Literal

from judge_service.adapters.sqlite_file import SqliteFile, primary_code
from judge_service.adapters.store_thread import StoreThread

MOST = 128
"""Pieces of work in one trip."""
GATHER_S = 0.025
"""How long work that nobody is in a hurry for waits for company, in seconds."""
TRIES = 3
"""How often a write is tried that another process stands in the way of."""
Work = Callable[[sqlite3.Connection], Any]
State = Literal["idle", "gathering", "due", "running"]
"""What becomes of the work that waits, in the order in which it comes to that:

idle       there is none;
gathering  nobody is in a hurry for it, so it goes when its moment is over;
due        it goes in the next round of the event loop;
running    the thread is at work, and it goes when that is done.
"""


@dataclass(slots=True, eq=False)
class Job:
    """A piece of work. When it is over it has its ``result`` or its ``error``, and ``over``, which
    must not raise, is called with it in the event loop, whether or not anybody waits. Then ``done``
    wakes whoever does; it is None where nobody can.
    """

    work: Work
    writes: bool
    over: Callable[[Job], None]
    done: asyncio.Future[None] | None
    result: Any = None
    error: BaseException | None = None
    sent: bool = False
    """Whether the thread has it; until then it may be added to."""


class SqliteJobs:
    """Runs work on ``file`` in ``thread``, in the order it came; of what came together, reads go
    first, for they wait for nobody. A write that is done by itself is to be ``persistent``; in a
    transaction with others nobody can be in its way.

    For one event loop at a time. When one has ended, the next one goes on with what that one left.
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
        self._loop: asyncio.AbstractEventLoop | None = None
        self._state: State = "idle"
        self._waiting: deque[Job] = deque()
        self._next: asyncio.Handle | None = None  # what will send it, when gathering or due
        self._batch: list[Job] = []  # while running
        self._running: asyncio.Future[None] | None = None  # the same

    def add(
        self, work: Work, over: Callable[[Job], None], *, writes: bool, hurry: bool = True
    ) -> Job:
        """Have it done. Without ``hurry`` it may go with what comes in the next moment, and nobody
        can wait for it.
        """
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._go_on_in(loop)
        job = Job(work, writes, over, loop.create_future() if hurry else None)
        self._waiting.append(job)
        if self._state == "idle" or (self._state == "gathering" and hurry):
            if self._next is not None:
                self._next.cancel()
            if hurry:
                self._state, self._next = "due", loop.call_soon(self._send)
            else:
                self._state, self._next = "gathering", loop.call_later(GATHER_S, self._send)
        return job

    async def finished(self) -> None:
        """Wait for all that was added."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._go_on_in(loop)
        self._send()
        while self._running is not None:
            await asyncio.wait({self._running})

    def _go_on_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """The event loop before this one has ended, and with it whoever waited, what was due, and
        the word of what the thread was doing.
        """
        self._loop, self._next = loop, None
        for job in (*self._batch, *self._waiting):
            job.done = None
        if self._state == "running":
            # The thread does one thing after the other: after this, it is through with that.
            self._running = self._thread.run(_nothing)
            self._running.add_done_callback(self._done)
        else:
            self._state = "idle"

    def _send(self) -> None:
        """Hand over what waits, unless the thread is busy: then that comes next."""
        if self._state == "running":
            return
        if not self._waiting:
            self._state = "idle"
            return
        self._state = "running"
        self.heard_at = time.monotonic()
        self.busy = True
        self._batch = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
        for job in self._batch:
            job.sent = True
        self._running = self._thread.run(partial(self._run, self._batch))
        self._running.add_done_callback(self._done)

    def _done(self, running: asyncio.Future[None]) -> None:
        if running is not self._running:
            return  # of an event loop that was taken for ended
        batch, self._batch = self._batch, []
        self._running, self._state = None, "idle"
        broken = running.exception()
        came = bool(self._waiting)  # what comes from now on has its own moment
        for job in batch:
            job.error = job.error or broken
            job.over(job)
            if job.done is not None and not job.done.done():
                job.done.set_result(None)
        if came:
            self._send()

    def _run(self, batch: list[Job]) -> None:
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

    def _do(self, job: Job) -> None:
        try:
            job.result = self._file.run(job.work)
        except Exception as error:  # noqa: BLE001 - whoever asked for it is told
            job.error = error
        self.heard_at = time.monotonic()

    def _done_together(self, writes: list[Job]) -> bool:
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


def _together(writes: list[Job], db: sqlite3.Connection) -> None:
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
    return (
        isinstance(error, sqlite3.OperationalError) and primary_code(error) == sqlite3.SQLITE_BUSY
    )


def _nothing() -> None:
    """What the thread does so that it is heard of."""
