"""The embedded store's file: opened, mended, and never left to whoever may have broken it."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from judge_service.storage.store import StoreError

APPLICATION_ID = 0x4A534331
VERSION = 1
BUSY_MS = 50
"""How long one statement waits for another process that is writing."""
OPEN_BUSY_MS = 2000
FOLLOW_S = 0.5
"""How often it is checked that the file is still the one that was opened."""
WAL_BYTES = 64 * 1024 * 1024
SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value BLOB, until REAL NOT NULL);
CREATE INDEX IF NOT EXISTS entries_until ON entries (until);
CREATE TABLE IF NOT EXISTS counts (key TEXT PRIMARY KEY, count INTEGER, until REAL NOT NULL);
CREATE TABLE IF NOT EXISTS places (
  key TEXT, owner TEXT, until REAL NOT NULL, PRIMARY KEY (key, owner));
"""
T = TypeVar("T")
log = logging.getLogger("judge_service.store")


class SqliteFile:
    """One connection to the file, for one thread at a time. Nothing here knows of asyncio.

    Raises StoreError when the file cannot even be read. ``writable`` tells whether it can be
    written to, ``openings`` how often it was opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writable = True
        self.openings = 0
        self._identity: tuple[int, int] | None = None
        self._followed_at = 0.0
        self._connection: sqlite3.Connection | None = self._open()

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do ``work`` with the connection. A file that turns out to be broken is moved aside and
        the work is done with a new one; other errors of sqlite3 are raised, and StoreError when
        there is no file any more and none can be made.
        """
        try:
            return work(self._followed())
        except sqlite3.DatabaseError as error:
            if not is_broken(error):
                raise
        self.close()
        self._connection = self._open()
        return work(self._connection)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):  # it is not used again
                self._connection.close()
        self._connection = None

    def _followed(self) -> sqlite3.Connection:
        """The connection; a new one when somebody has removed the file or put another one in its
        place.
        """
        now = time.monotonic()
        due = now - self._followed_at >= FOLLOW_S
        if due:
            self._followed_at = now
            if self.writable and _identity(self.path) != self._identity:
                self.close()
        if self._connection is None:
            if not due:
                raise StoreError(f"{self.path}: the store cannot be opened")
            self._connection = self._open()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _alone(self.path):
                connection = self._open_or_replace()
        except (OSError, sqlite3.Error) as error:
            connection = self._open_to_read(error)
        self._identity = _identity(self.path)
        self._followed_at = time.monotonic()
        self.openings += 1
        return connection

    def _open_or_replace(self) -> sqlite3.Connection:
        try:
            return _open_to_write(self.path)
        except sqlite3.DatabaseError as error:
            if not is_broken(error):
                raise
        aside = _move_aside(self.path)
        log.warning("the store %s is broken; it is now %s, and a new one begins", self.path, aside)
        return _open_to_write(self.path)

    def _open_to_read(self, why: OSError | sqlite3.Error) -> sqlite3.Connection:
        """The last resort, where neither file nor folder can be written to."""
        place = self.path.absolute().as_uri()
        for mode in ("mode=ro", "mode=ro&immutable=1"):
            with contextlib.suppress(sqlite3.Error):  # ``why`` is what is told
                connection = sqlite3.connect(
                    f"{place}?{mode}", uri=True, isolation_level=None, check_same_thread=False
                )
                try:
                    _check(connection)
                    connection.execute("SELECT key FROM entries LIMIT 1").fetchall()
                except (sqlite3.Error, StoreError):
                    connection.close()
                    continue
                connection.text_factory = bytes
                self.writable = False
                return connection
        reason = why.strerror if isinstance(why, OSError) else str(why)
        raise StoreError(f"{self.path}: the store cannot be opened: {reason}")


def primary_code(error: sqlite3.Error) -> int:
    """What kind of error it is, one of SQLite's primary result codes; 0 where SQLite had no say."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def is_broken(error: sqlite3.Error) -> bool:
    """Whether the file is no database, or no sound one."""
    return primary_code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def reason_of(error: sqlite3.Error) -> str:
    """What the error says, in a few words of ours."""
    match primary_code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "another process keeps it locked"
        case sqlite3.SQLITE_FULL:
            return "the disk is full"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return "it cannot be written to"
        case sqlite3.SQLITE_IOERR:
            return "the disk reports an error"
    return "SQLite reports an error"


def _open_to_write(path: Path) -> sqlite3.Connection:
    with contextlib.suppress(FileExistsError):
        # Made here, for SQLite would let others read it. Its side files get the same mode.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout = {OPEN_BUSY_MS}")
        version = _check(connection)
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
        if version != VERSION:
            connection.executescript(
                f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA application_id = {APPLICATION_ID};"
                f"PRAGMA user_version = {VERSION}; COMMIT;"
            )
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    except BaseException:
        connection.close()
        raise
    # What somebody else has written need not be what SQLite takes for text.
    connection.text_factory = bytes
    return connection


def _check(connection: sqlite3.Connection) -> int:
    """The file's version, 0 for a new one. Raises StoreError for another program's database and
    sqlite3.DatabaseError for a broken one.
    """
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and application != APPLICATION_ID:
        raise StoreError("the file is another program's database")
    if version > VERSION:
        raise StoreError("the file was written by a newer version of the service")
    return int(version)


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """While one process opens the file, others wait: two must not both move it aside."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    lock = os.open(path.with_name(f"{path.name}.lock"), flags, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _move_aside(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.broken-{number}")).exists():
        number += 1
    path.rename(aside)
    for side in ("-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):  # not all of them need be there
            path.with_name(path.name + side).rename(aside.with_name(aside.name + side))
    return aside


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
