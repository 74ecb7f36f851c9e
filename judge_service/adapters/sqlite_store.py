"""The embedded store: one SQLite file for all processes of a machine, worked on in a thread."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from judge_service.adapters import sqlite_entries as entries
from judge_service.adapters.bounded import MAX_VALUE_BYTES, settled
from judge_service.adapters.sqlite_company import Company
from judge_service.adapters.sqlite_file import SqliteFile, reason_of
from judge_service.adapters.sqlite_jobs import Job, SqliteJobs, Work, persistent
from judge_service.adapters.sqlite_near import Entry
from judge_service.adapters.sqlite_reads import SqliteReads
from judge_service.adapters.store_thread import StoreThread
from judge_service.adapters.store_trouble import StoreTrouble
from judge_service.events import Observer, StoreFailed, nobody
from judge_service.storage.store import FOREVER_S, UNKNOWN, Found, StoreError

MAX_BYTES = 1024 * 1024 * 1024
TIDY_EVERY = 200
"""After so many writes, what is over is removed; what is too much, soon after any of them."""
STUCK_S = 0.5
"""When the thread was not heard of for so long, nobody waits for it any more."""
CLOSE_S = 2.0
What = Literal["read", "write"]
T = TypeVar("T")


class SqliteStore:
    """Implements ``Store``. ``clock`` gives seconds since the epoch; all processes share it.

    For one event loop at a time. What one has begun that ended meanwhile is done when the next one
    first asks something or closes the store. Raises StoreError when the file cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        *,
        observer: Observer = nobody,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._file = SqliteFile(path)
        self._company = Company(path)
        self._observer = observer
        self._max_bytes = max_bytes
        self._longest = min(MAX_VALUE_BYTES, max_bytes // 2)  # a value
        self._clock = clock
        self._trouble = StoreTrouble()
        self._thread = StoreThread("judge-service-store")
        self._coming: dict[str, Entry] = {}  # what is being written, and found here meanwhile
        self._jobs = SqliteJobs(self._thread, self._file)
        self._reads = SqliteReads(
            self._file,
            partial(self._begin, "read"),
            alone=lambda: self._company.alone,
            late=lambda: observer(StoreFailed("read")),
            over=partial(self._over, "read"),
            clock=clock,
        )
        self._writes = 0  # since it was tidied up
        self._tidying: Job | None = None
        self._closed = False
        if not self._file.writable:
            self._trouble.begins("write", f"the store {path}: it cannot be written to")

    @property
    def shared(self) -> bool:
        """All processes of this machine see it."""
        return True

    @property
    def alone(self) -> bool:
        """Whether no other process has the file open just now."""
        return self._company.alone

    @property
    def recovered_at(self) -> float:
        """A file is not lost by itself."""
        return 0.0

    async def look_up(self, key: str) -> Found:
        """The value, as it was read a moment ago or by a SELECT that other look-ups share."""
        if self._coming and (coming := self._coming.get(key)) and coming.until > self._clock():
            return coming.value
        return await self._reads.look_up(key)

    async def get(self, key: str) -> bytes | None:
        """The same; None also when the file cannot be read."""
        found = await self.look_up(key)
        return None if found is UNKNOWN else found

    async def find(self, *keys: str) -> dict[str, bytes] | None:
        """The values that are there, by one SELECT."""
        now = self._clock()
        coming = {
            key: one.value
            for key in keys
            if (one := self._coming.get(key)) is not None and one.until > now
        }
        found = await self._reads.find(keys)
        return None if found is None else found | coming

    async def put(self, key: str, value: bytes, ttl_s: float) -> bool:
        """Store or replace. What was put soon before it is written before it, and found until
        then.
        """
        if len(value) > self._longest:
            return False
        until = self._until(ttl_s)
        return bool(await self._write(lambda db: entries.put(db, key, value, until), key))

    async def put_soon(self, key: str, value: bytes, ttl_s: float) -> None:
        """The same, in company of what else is written. Other processes find it in the file only,
        so where there are any it is there first.
        """
        if not self._reads.alone or len(value) > self._longest:
            await self.put(key, value, ttl_s)
            return
        entry = Entry(value, self._until(ttl_s))
        work = partial(entries.put, key=key, value=value, until=entry.until)
        if self._begin_write(work, (key,), entry) is not None:
            self._coming[key] = entry

    async def put_new(self, key: str, value: bytes, ttl_s: float) -> bool | None:
        """Store unless the key exists."""
        if len(value) > self._longest:
            return None
        until, now = self._until(ttl_s), self._clock()
        return await self._write(lambda db: entries.put_new(db, key, value, until, now), key)

    async def delete(self, *keys: str) -> int:
        """Remove keys, some hundred at a time."""
        removed, now = 0, self._clock()
        for start in range(0, len(keys), entries.SCAN_BATCH):
            some = keys[start : start + entries.SCAN_BATCH]
            work = partial(entries.delete, keys=some, now=now)
            removed += await self._write(work, *some) or 0
        return removed

    async def add(self, key: str, amount: int, ttl_s: float) -> int | None:
        """Count."""
        until, now = self._until(ttl_s), self._clock()
        return await self._write(lambda db: entries.add(db, key, amount, until, now))

    async def hold(self, key: str, owner: str, limit: int, ttl_s: float) -> bool | None:
        """Take or renew a place."""
        until, now = self._until(ttl_s), self._clock()
        return await self._write(lambda db: entries.hold(db, key, owner, limit, until, now))

    async def holders(self, key: str) -> list[str] | None:
        """Who has a place."""
        look = partial(entries.holders, key=key, now=self._clock())
        owners: list[str] | None
        owners = await self._result(self._begin("read", look, partial(self._over, "read")), "read")
        return owners

    async def drop(self, key: str, owner: str) -> None:
        """Give a place back."""
        await self._write(lambda db: entries.drop(db, key, owner))

    async def trouble(self) -> str | None:
        """What is wrong."""
        self._trouble.tick()
        return self._trouble.now

    async def scan(self, prefix: str) -> AsyncIterator[tuple[str, bytes, float]]:
        """Everything under the prefix, in the order of the keys."""
        after = ""
        while True:
            if self._closed:
                raise StoreError(f"{self._path}: the store is closed")
            look = partial(entries.page, prefix=prefix, after=after, now=self._clock())
            try:
                page = await self._thread.run(partial(self._file.run, look))
            except sqlite3.Error as error:
                raise StoreError(f"{self._path}: {reason_of(error)}") from None
            for entry in page:
                yield entry
            if len(page) < entries.SCAN_BATCH:
                return
            after = page[-1][0]

    async def aclose(self) -> None:
        """Write what was begun, then close the file."""
        if self._closed:
            return
        self._closed = True
        await asyncio.wait({asyncio.ensure_future(self._jobs.finished())}, timeout=CLOSE_S)
        await asyncio.wait({self._thread.run(self._file.close)}, timeout=CLOSE_S)
        self._thread.end()
        self._company.leave()

    def _until(self, ttl_s: float) -> float:
        return self._clock() + min(ttl_s, FOREVER_S)

    async def _write(self, work: Callable[[sqlite3.Connection], T], *keys: str) -> T | None:
        written: T | None = await self._result(self._begin_write(work, keys), "write")
        return written

    def _begin_write(
        self, work: Work, keys: Collection[str], coming: Entry | None = None
    ) -> Job | None:
        """A write, of entries under ``keys`` if there are any. What was read of them counts no more
        from now on, and what is read meanwhile not from its end on, whenever that is and whether or
        not anybody still waits. Nobody waits for what is found as ``coming``.
        """
        over = partial(self._wrote, keys, coming)
        job = self._begin("write", partial(persistent, work), over, hurry=coming is None)
        if job is not None and keys:
            self._reads.begun(keys)
        return job

    def _wrote(self, keys: Collection[str], coming: Entry | None, job: Job) -> None:
        if keys:
            self._reads.written(keys)
        for key in keys if coming is not None else ():
            if self._coming.get(key) is coming:
                del self._coming[key]
        self._over("write", job)
        self._writes += 1
        if self._tidying is None and job.error is None:
            self._tidying = self._begin("write", self._tidy, self._tidied, hurry=False)

    def _tidy(self, db: sqlite3.Connection) -> int | None:
        """In the thread, with what comes next: how many bytes less are used; None where there was
        nothing to tidy up.
        """
        used = entries.used_bytes(db)
        if self._writes < TIDY_EVERY and used <= self._max_bytes:
            return None
        persistent(lambda db: entries.tidy(db, self._max_bytes, self._clock()), db)
        return used - entries.used_bytes(db)

    def _tidied(self, job: Job) -> None:
        self._tidying = None
        if job.error is None and job.result is None:
            return  # nothing was written, so that nothing is known of writing
        self._over("write", job)
        if job.error is not None:
            return
        self._writes = 0
        if job.result > 0:  # there may be more to remove
            self._tidying = self._begin("write", self._tidy, self._tidied, hurry=False)

    def _begin(
        self, what: What, work: Work, over: Callable[[Job], None], *, hurry: bool = True
    ) -> Job | None:
        """Work in the thread; None where nobody should wait for that."""
        if self._closed:
            return None
        if self._jobs.busy and time.monotonic() - self._jobs.heard_at > STUCK_S:
            self._failed(what, "the disk does not answer")
            return None
        return self._jobs.add(work, over, writes=what == "write", hurry=hurry)

    async def _result(self, job: Job | None, what: What) -> Any:
        """What became of it, waited for no longer than the limit; None where that is not known."""
        if job is None or job.done is None:
            return None
        if not await settled(job.done):
            self._observer(StoreFailed(what))
            return None
        return job.result if job.error is None else None

    def _over(self, what: What, job: Job) -> None:
        if job.error is None:
            self._trouble.ends(what)
        elif isinstance(job.error, sqlite3.Error):
            self._failed(what, reason_of(job.error))
        else:
            self._failed(what, "it cannot be opened any more")

    def _failed(self, what: What, why: str) -> None:
        self._observer(StoreFailed(what))
        self._trouble.begins(what, f"the store {self._path}: {why}")
