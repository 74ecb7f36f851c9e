"""The embedded store: one SQLite file for all processes of a machine, worked on in a thread."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from judge_service.adapters import sqlite_entries as entries
from judge_service.adapters.bounded import MAX_VALUE_BYTES, settled
from judge_service.adapters.coalescer import Coalescer
from judge_service.adapters.sqlite_company import Company
from judge_service.adapters.sqlite_file import SqliteFile, reason_of
from judge_service.adapters.sqlite_jobs import SqliteJobs, persistent
from judge_service.adapters.sqlite_near import Entry, Near
from judge_service.adapters.store_thread import StoreThread
from judge_service.adapters.store_trouble import StoreTrouble
from judge_service.events import Observer, StoreFailed, nobody
from judge_service.storage.store import FOREVER_S, UNKNOWN, Found, StoreError

MAX_BYTES = 1024 * 1024 * 1024
TIDY_EVERY = 200
"""After so many writes, what is over is removed."""
STUCK_S = 0.5
"""When the thread was not heard of for so long, nobody waits for it any more."""
CLOSE_S = 2.0
What = Literal["read", "write"]
T = TypeVar("T")


class SqliteStore:
    """Implements ``Store``. ``clock`` gives seconds since the epoch; all processes share it.

    Raises StoreError when the file cannot be opened.
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
        self._clock = clock
        self._trouble = StoreTrouble()
        self._thread = StoreThread("judge-service-store")
        self._gets = Coalescer(self._get_many)
        self._near = Near(clock=clock)
        self._coming: dict[str, Entry] = {}  # what is being written, and found here meanwhile
        self._look: asyncio.Task[dict[str, bytes] | None] | None = None
        self._jobs = SqliteJobs(self._thread, self._file)
        self._writes = 0
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
        if self._near.has(key):
            if self._near.ageing and self._look is None:
                # Whether anything has changed is one step in the thread; to read it all again is
                # one for each value, and for each the thread must wait its turn.
                self._look = asyncio.ensure_future(self._get_many(()))
                self._look.add_done_callback(self._looked)
            near = self._near.get(key)
            if near is None and self._look is not None:
                await settled(self._look)
                near = self._near.get(key)
            if near is not None:
                return near
        return await self._gets.look_up(key)

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
        found = await self._get_many(keys)
        return None if found is None else found | coming

    async def put(self, key: str, value: bytes, ttl_s: float) -> bool:
        """Store or replace."""
        if len(value) > min(MAX_VALUE_BYTES, self._max_bytes // 2):
            return False
        until = self._until(ttl_s)
        # What comes before it is written before it, and found until then.
        self._near.changed(key)
        done = bool(await self._write(lambda db: entries.put(db, key, value, until)))
        self._near.changed(key)
        return done

    async def put_soon(self, key: str, value: bytes, ttl_s: float) -> None:
        """The same, in company of what else is written. Other processes find it in the file only,
        so where there are any it is there first.
        """
        if not self.alone or len(value) > min(MAX_VALUE_BYTES, self._max_bytes // 2):
            await self.put(key, value, ttl_s)
            return
        entry = Entry(value, self._until(ttl_s))
        self._changed(key)
        work = partial(entries.put, key=key, value=value, until=entry.until)
        writing = self._begin("write", partial(self._written, work), hurry=False)
        if writing is not None:
            self._coming[key] = entry
            writing.add_done_callback(partial(self._came, key, entry))

    def _came(self, key: str, entry: Entry, _: object) -> None:
        if self._coming.get(key) is entry:
            self._changed(key)

    def _changed(self, *keys: str) -> None:
        self._near.changed(*keys)
        for key in keys:
            self._coming.pop(key, None)

    async def put_new(self, key: str, value: bytes, ttl_s: float) -> bool | None:
        """Store unless the key exists."""
        if len(value) > min(MAX_VALUE_BYTES, self._max_bytes // 2):
            return None
        until, now = self._until(ttl_s), self._clock()
        self._near.changed(key)
        done = await self._write(lambda db: entries.put_new(db, key, value, until, now))
        self._near.changed(key)
        return done

    async def delete(self, *keys: str) -> int:
        """Remove keys, some hundred at a time."""
        removed, now = 0, self._clock()
        for start in range(0, len(keys), entries.SCAN_BATCH):
            some = keys[start : start + entries.SCAN_BATCH]
            work = partial(entries.delete, keys=some, now=now)
            self._changed(*some)
            removed += await self._write(work) or 0
            self._near.changed(*some)
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
        now = self._clock()
        return await self._do("read", lambda db: entries.holders(db, key, now))

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
        await self._gets.aclose()
        await asyncio.wait({asyncio.ensure_future(self._jobs.finished())}, timeout=CLOSE_S)
        await asyncio.wait({self._thread.run(self._file.close)}, timeout=CLOSE_S)
        self._thread.end()
        self._company.leave()

    def _until(self, ttl_s: float) -> float:
        return self._clock() + min(ttl_s, FOREVER_S)

    def _looked(self, _: object) -> None:
        self._look = None

    async def _get_many(self, keys: Sequence[str]) -> dict[str, bytes] | None:
        now, began, changes = self._clock(), time.monotonic(), self._near.changes
        look = partial(_read, keys=keys, now=now)
        seen = await self._do("read", look)
        if seen is None:
            return None
        version, found = seen
        self._near.read(found, version=version, began=began, changes=changes)
        return {key: entry.value for key, entry in found.items()}

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        return await self._do("write", partial(self._written, work))

    def _written(self, work: Callable[[sqlite3.Connection], T], db: sqlite3.Connection) -> T:
        """In the thread: a write, and now and then some tidying."""
        result: T = persistent(work, db)
        self._writes += 1
        if self._writes % TIDY_EVERY == 0 or entries.used_bytes(db) > self._max_bytes:
            persistent(lambda db: entries.tidy(db, self._max_bytes, self._clock()), db)
        return result

    async def _do(self, what: What, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Work in the thread, waited for no longer than the limit."""
        future = self._begin(what, work)
        if future is None:
            return None
        if not await settled(future):
            self._observer(StoreFailed(what))
            return None
        return None if future.exception() else future.result()

    def _begin(
        self, what: What, work: Callable[[sqlite3.Connection], T], *, hurry: bool = True
    ) -> asyncio.Future[T] | None:
        """Work in the thread; None where nobody should wait for that."""
        if self._closed:
            return None
        if self._jobs.busy and time.monotonic() - self._jobs.heard_at > STUCK_S:
            self._failed(what, "the disk does not answer")
            return None
        future: asyncio.Future[T] = self._jobs.add(work, writes=what == "write", hurry=hurry)
        future.add_done_callback(partial(self._over, what))
        return future

    def _over(self, what: What, future: asyncio.Future[T]) -> None:
        error = None if future.cancelled() else future.exception()
        if error is None:
            self._trouble.ends(what)
        elif isinstance(error, sqlite3.Error):
            self._failed(what, reason_of(error))
        else:
            self._failed(what, "it cannot be opened any more")

    def _failed(self, what: What, why: str) -> None:
        self._observer(StoreFailed(what))
        self._trouble.begins(what, f"the store {self._path}: {why}")


def _read(
    db: sqlite3.Connection, *, keys: Sequence[str], now: float
) -> tuple[tuple[int, int], dict[str, Entry]]:
    """In the thread. The version comes first: what changes after it is seen by the next look."""
    return entries.version(db), entries.get_many(db, keys, now) if keys else {}
