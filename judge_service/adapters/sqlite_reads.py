"""Look-ups in the embedded store: from what is known here, or from its file.

What was read a moment ago and what the file surely does not hold is known here; what is not is read
in the store's thread, and what is looked up until the thread comes to it goes along.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from judge_service.adapters import sqlite_entries as entries
from judge_service.adapters.bounded import settled
from judge_service.adapters.sqlite_absent import Absent
from judge_service.adapters.sqlite_file import SqliteFile
from judge_service.adapters.sqlite_jobs import Job, Work
from judge_service.adapters.sqlite_near import TRUSTED_S, Entry, Near
from judge_service.storage.store import UNKNOWN, Found

MAX_KEYS = 256
"""So many look-ups go along with one."""


class Begin(Protocol):
    """How work on the file is begun."""

    def __call__(
        self, work: Work, over: Callable[[Job], None], *, hurry: bool = True
    ) -> Job | None:
        """Have it done in the thread, then call ``over``; None where it is not begun. Without
        ``hurry`` nobody can wait for it.
        """


@dataclass(slots=True, eq=False)
class _Reading:
    """A look-up of ``keys``, which takes more of them until its ``job`` is sent; ``late`` once it
    was told that it takes too long.
    """

    keys: dict[str, None]
    job: Job | None
    late: bool = False

    def takes_more(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether one more key may go along, for somebody who waits in ``loop``."""
        job = self.job
        if job is None or job.sent or job.done is None:
            return False
        return not self.late and len(self.keys) < MAX_KEYS and job.done.get_loop() is loop


class SqliteReads:
    """Reads ``file``, for one event loop at a time. ``alone`` says whether no other process has it
    open; ``late`` is called once for each trip to the thread that takes too long, ``over`` with
    each that has come to its end. ``clock`` gives seconds since the epoch.
    """

    def __init__(
        self,
        file: SqliteFile,
        begin: Begin,
        *,
        alone: Callable[[], bool],
        late: Callable[[], None],
        over: Callable[[Job], None],
        clock: Callable[[], float],
    ) -> None:
        self._file = file
        self._begin = begin
        self._alone = alone
        self._late = late
        self._over = over
        self._clock = clock
        self._near = Near(clock=clock)
        self._absent = Absent()
        self._look: Job | None = None  # whether anything has changed
        self._was_alone = False  # when the file was looked at last
        self._looked_at = float("-inf")
        self._latest: _Reading | None = None
        self._writing: dict[str, int] = {}  # how many writes of each are not over

    @property
    def alone(self) -> bool:
        """Whether no other process has the file open, as it was a moment ago."""
        if time.monotonic() - self._looked_at > TRUSTED_S:
            return self._alone()
        return self._was_alone

    async def look_up(self, key: str) -> Found:
        """The value; UNKNOWN when it was not here in time."""
        if self._near.has(key):
            if self._near.ageing:
                self._begin_look()
            near = self._near.get(key)
            if near is None and self._look is not None and self._look.done is not None:
                await settled(self._look.done)
                near = self._near.get(key)
            if near is not None:
                return near
        elif self._absent.known and self._was_alone:
            if self._absent.ageing:
                self._begin_look()
            if self._absent.lacks(key):
                return None
        latest = self._latest
        if latest is None or not latest.takes_more(asyncio.get_running_loop()):
            keys: dict[str, None] = {}
            latest = self._latest = _Reading(keys, self._begin_read(keys))
        latest.keys[key] = None
        found = await self._found(latest)
        if found is None:
            return UNKNOWN
        entry = found.get(key)
        return None if entry is None else entry.value

    async def find(self, keys: Collection[str]) -> dict[str, bytes] | None:
        """The values that are there, by one SELECT; None when they were not here in time."""
        found = await self._found(_Reading(dict.fromkeys(keys), self._begin_read(keys)))
        return None if found is None else {key: entry.value for key, entry in found.items()}

    def begun(self, keys: Collection[str]) -> None:
        """This process begins to write these: what was read of them counts no more."""
        self._near.changed(*keys)
        self._absent.add(keys)
        for key in keys:
            self._writing[key] = self._writing.get(key, 0) + 1

    def written(self, keys: Collection[str]) -> None:
        """It is through with that: what was read of them meanwhile does not count, either."""
        self._near.changed(*keys)
        for key in keys:
            left = self._writing.pop(key, 1) - 1
            if left:
                self._writing[key] = left

    async def _found(self, reading: _Reading) -> dict[str, Entry] | None:
        job = reading.job
        if job is None or job.done is None:
            return None
        if not await settled(job.done):
            if not reading.late:
                reading.late = True
                self._late()
            return None
        return None if job.error is not None else job.result[2]

    def _begin_look(self) -> None:
        """Whether anything has changed is one step in the thread; to read it all again is one for
        each value, and for each the thread must wait its turn.
        """
        if self._look is None:
            self._look = self._begin_read(())

    def _begin_read(self, keys: Collection[str]) -> Job | None:
        """A look at the file; what it finds is kept near.
        More ``keys`` may be added until it is sent.
        """
        look = partial(self._read, keys=keys, now=self._clock())
        return self._begin(look, partial(self._seen, time.monotonic(), self._near.changes))

    def _read(
        self, db: sqlite3.Connection, *, keys: Collection[str], now: float
    ) -> tuple[Hashable, bool, dict[str, Entry]]:
        """In the thread. Who else has it open and the version come first: what changes after that
        is seen by the next look. Another connection counts anew.
        """
        alone, version = self._alone(), self._version(db)
        return version, alone, entries.get_many(db, keys, now) if keys else {}

    def _version(self, db: sqlite3.Connection) -> Hashable:
        return self._file.openings, entries.version(db)

    def _seen(self, began: float, changes: int, look: Job) -> None:
        if look is self._look:
            self._look = None
        self._over(look)
        if look.error is not None:
            return
        version, self._was_alone, found = look.result
        self._looked_at = began
        self._near.read(found, version=version, began=began, changes=changes)
        self._absent.looked(version, began)
        if self._absent.due and self._was_alone:
            self._absent.begin(version, self._writing)
            self._read_keys(version)

    def _read_keys(self, version: Hashable, after: bytes = b"") -> None:
        """Get to know all keys of a file of this version, page by page, while nobody waits."""

        def page(db: sqlite3.Connection) -> tuple[Hashable, list[str], bytes | None]:
            return self._version(db), *entries.keys_after(db, after)

        def over(job: Job) -> None:
            self._over(job)
            found, keys, last = job.result or (None, (), None)
            if found != version:
                self._absent.break_off()
                return
            self._absent.read(keys)
            if last is None:
                self._absent.all_read()
            else:
                self._read_keys(version, last)

        if self._begin(page, over, hurry=False) is None:
            self._absent.break_off()
