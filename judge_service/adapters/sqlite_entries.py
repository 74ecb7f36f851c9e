"""The store's operations in SQL, each one transaction. Times are seconds since the epoch."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from judge_service.adapters.bounded import MAX_VALUE_BYTES
from judge_service.adapters.sqlite_near import Entry
from judge_service.storage.store import FOREVER_S

SCAN_BATCH = 500
TIDY_BATCH = 200
SPARE = 0.95
"""How full of its bound a file that was over it may stay."""


def get_many(db: sqlite3.Connection, keys: Collection[str], now: float) -> dict[str, Entry]:
    """What there is and is not over."""
    marks = ",".join("?" * len(keys))
    rows = db.execute(
        f"SELECT key, value, until FROM entries WHERE key IN ({marks}) AND until > ?"  # noqa: S608 - only marks  # nosec B608
        " AND length(value) <= ?",
        (*keys, now, MAX_VALUE_BYTES),
    ).fetchall()
    return {
        _text(key): Entry(value, until) for key, value, until in rows if isinstance(value, bytes)
    }


def keys_after(db: sqlite3.Connection, after: bytes) -> tuple[list[str], bytes | None]:
    """The next keys in their order, and the last of them as it is stored, None where there are no
    more.
    """
    rows = db.execute(
        "SELECT CAST(key AS BLOB) FROM entries WHERE key > CAST(? AS TEXT)"
        " AND typeof(key) = 'text' ORDER BY key LIMIT ?",
        (after, SCAN_BATCH),
    ).fetchall()
    return [_text(key) for (key,) in rows], rows[-1][0] if len(rows) == SCAN_BATCH else None


def version(db: sqlite3.Connection) -> int:
    """Another one when another connection than this one has changed the file."""
    return int(db.execute("PRAGMA data_version").fetchone()[0])


def put(db: sqlite3.Connection, key: str, value: bytes, until: float) -> bool:
    """Store or replace; the entry becomes the youngest."""
    db.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", (key, value, until))
    return True


def put_new(db: sqlite3.Connection, key: str, value: bytes, until: float, now: float) -> bool:
    """Store unless the key exists."""
    with _transaction(db):
        found = db.execute("SELECT 1 FROM entries WHERE key = ? AND until > ?", (key, now))
        if found.fetchall():
            return False
        return put(db, key, value, until)


def delete(db: sqlite3.Connection, keys: Sequence[str], now: float) -> int:
    """Remove keys; how many of them were there."""
    removed = 0
    with _transaction(db):
        for key in keys:
            gone = db.execute("DELETE FROM entries WHERE key = ? RETURNING until > ?", (key, now))
            removed += sum(there for (there,) in gone.fetchall())
    return removed


def add(db: sqlite3.Connection, key: str, amount: int, until: float, now: float) -> int:
    """Count; a counter whose time is over begins anew."""
    with _transaction(db):
        row = db.execute(
            "SELECT count, until FROM counts WHERE key = ? AND until > ?", (key, now)
        ).fetchone()
        if row is not None and isinstance(row[0], int):
            amount, until = amount + row[0], row[1]
        db.execute("INSERT OR REPLACE INTO counts VALUES (?, ?, ?)", (key, amount, until))
    return amount


def hold(
    db: sqlite3.Connection, key: str, owner: str, limit: int, until: float, now: float
) -> bool:
    """Take or renew a place."""
    with _transaction(db):
        db.execute("DELETE FROM places WHERE key = ? AND until <= ?", (key, now))
        owners = [
            _text(row[0]) for row in db.execute("SELECT owner FROM places WHERE key = ?", (key,))
        ]
        if owner not in owners and len(owners) >= limit:
            return False
        db.execute("INSERT OR REPLACE INTO places VALUES (?, ?, ?)", (key, owner, until))
    return True


def holders(db: sqlite3.Connection, key: str, now: float) -> list[str]:
    """The owners whose places have not ended."""
    rows = db.execute("SELECT owner FROM places WHERE key = ? AND until > ?", (key, now))
    return [_text(row[0]) for row in rows]


def drop(db: sqlite3.Connection, key: str, owner: str) -> None:
    """Give a place back."""
    db.execute("DELETE FROM places WHERE key = ? AND owner = ?", (key, owner))


def page(
    db: sqlite3.Connection, prefix: str, after: str, now: float
) -> list[tuple[str, bytes, float]]:
    """The next entries under the prefix, in the order of their keys, with the seconds left."""
    rows = db.execute(
        "SELECT key, value, until FROM entries WHERE key > ? AND key >= ? AND key < ?"
        " AND until > ? AND typeof(value) = 'blob' ORDER BY key LIMIT ?",
        (after, prefix, prefix + "\U0010ffff", now, SCAN_BATCH),
    ).fetchall()
    return [(_text(key), value, min(until - now, FOREVER_S)) for key, value, until in rows]


def tidy(db: sqlite3.Connection, max_bytes: int, now: float) -> None:
    """Remove some of what is over, and of what is oldest while the file is fuller than its bound.

    A batch at a time, so that nobody waits long.
    """
    for table in ("entries", "counts", "places"):
        db.execute(
            f"DELETE FROM {table} WHERE rowid IN"  # noqa: S608 - the names above  # nosec B608
            f" (SELECT rowid FROM {table} WHERE until <= ? LIMIT ?)",
            (now, TIDY_BATCH),
        )
    for _ in range(10):
        if used_bytes(db) <= max_bytes * SPARE:
            return
        db.execute(
            "DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries ORDER BY rowid LIMIT ?)",
            (TIDY_BATCH,),
        )


def used_bytes(db: sqlite3.Connection) -> int:
    """Bytes of the file that hold something."""
    pages, free, size = (
        int(db.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    if db.in_transaction:
        # Several writes share one; whoever began it ends it, whole or not at all.
        yield
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _text(key: bytes | str) -> str:
    return key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key)
