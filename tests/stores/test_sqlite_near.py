"""What the embedded store has just read is not read again, and is never older than a moment."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from judge_service.adapters import sqlite_store
from judge_service.adapters.sqlite_near import TRUSTED_S, Entry, Near
from judge_service.adapters.sqlite_store import SqliteStore
from tests.stores.support import found, put, run, sure, until

LATER = 1e12


class Ticks:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def near(ticks: Ticks, max_bytes: int = 10_000) -> Near:
    """An empty one."""
    return Near(clock=ticks, tick=ticks, max_bytes=max_bytes)


def read(
    one: Near, ticks: Ticks, version: int = 1, changes: int | None = None, **values: str
) -> None:
    """A read of the file that found these."""
    found = {key: Entry(value.encode(), LATER) for key, value in values.items()}
    changes = one.changes if changes is None else changes
    one.read(found, version=version, began=ticks(), changes=changes)


def test_what_was_read_counts_for_a_moment() -> None:
    """Then the file is looked at again, and where nobody changed it all of it counts anew."""
    ticks = Ticks()
    one = near(ticks)
    read(one, ticks, a="1", b="2")
    assert (one.get("a"), one.get("c")) == (b"1", None)

    ticks.now += TRUSTED_S + 0.001
    assert one.get("a") is None
    read(one, ticks, c="3")
    assert (one.get("a"), one.get("b"), one.get("c")) == (b"1", b"2", b"3")


def test_another_version_of_the_file_ends_all_of_it() -> None:
    """Whatever somebody else has changed."""
    ticks = Ticks()
    one = near(ticks)
    read(one, ticks, a="1", b="2")
    read(one, ticks, version=2, b="3")

    assert (one.get("a"), one.get("b")) == (None, b"3")


def test_a_read_that_a_change_overtook_says_nothing() -> None:
    """It may have found what was there before."""
    ticks = Ticks()
    one = near(ticks)
    before = one.changes
    one.changed("a")
    read(one, ticks, changes=before, a="old")

    assert one.get("a") is None


def test_what_is_over_is_not_given() -> None:
    """However lately it was read."""
    ticks = Ticks()
    one = near(ticks)
    one.read({"a": Entry(b"1", ticks() + 0.01)}, version=1, began=ticks(), changes=0)
    assert one.get("a") == b"1"

    ticks.now += 0.02
    assert one.get("a") is None


def test_the_oldest_make_room() -> None:
    """It holds no more bytes than it may."""
    ticks = Ticks()
    one = near(ticks, max_bytes=5_000)
    for number in range(100):
        entry = Entry(b"x" * 700, LATER)
        one.read({f"key{number}": entry}, version=1, began=ticks(), changes=0)

    kept = [number for number in range(100) if one.get(f"key{number}") is not None]
    assert kept == [95, 96, 97, 98, 99]


@pytest.mark.parametrize("what", ["replaced", "deleted"])
def test_another_process_changes_it(tmp_path: Path, what: str) -> None:
    """Seen soon, without a restart, while the value is asked for all the time."""

    async def work() -> None:
        one, other = SqliteStore(tmp_path / "s.db"), SqliteStore(tmp_path / "s.db")
        await put(one, "a", b"1")
        for _ in range(5):
            assert await found(one, "a") == b"1"
        if what == "replaced":
            await put(other, "a", b"2")
        else:
            assert await other.delete("a") == 1

        async def seen() -> bool:
            return await one.get("a") == (b"2" if what == "replaced" else None)

        await until(seen)
        await asyncio.gather(one.aclose(), other.aclose())

    run(work())


def test_its_own_changes_are_seen_at_once(tmp_path: Path) -> None:
    """Among other reads that are under way."""

    async def work() -> None:
        store = SqliteStore(tmp_path / "s.db")
        await put(store, "a", b"0")
        for number in range(1, 200):
            value = str(number).encode()
            await asyncio.gather(store.get("a"), put(store, "a", value), store.get("a"))
            assert await found(store, "a") == value
            assert await found(store, "a") == value
        assert await store.delete("a") == 1
        assert await store.get("a") is None
        await store.aclose()

    run(work())


@asynccontextmanager
async def slow_disk(store: SqliteStore) -> AsyncIterator[threading.Event]:
    """A disk that is at work until it is told to go on, with a look-up that came first."""
    goes_on = threading.Event()
    held = store._thread.run(partial(goes_on.wait, 60))
    first = asyncio.ensure_future(store.find("first"))
    try:
        await until(partial(_is_busy, store))
        yield goes_on
    finally:
        goes_on.set()
        await asyncio.gather(held, first)


async def _is_busy(store: SqliteStore) -> bool:
    return store._jobs.busy


Change = Callable[[SqliteStore], Awaitable[object]]
CHANGES: dict[str, tuple[Change, bytes | None]] = {
    "put": (lambda store: store.put("k", b"new", 60.0), b"new"),
    "put soon, beside others": (lambda store: store.put_soon("k", b"new", 60.0), b"new"),
    "deleted": (lambda store: store.delete("k"), None),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_nobody_waited_for_is_seen_once_it_is_done(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was read between the end of the waiting and the end of the write."""
    monkeypatch.setattr(sqlite_store, "STUCK_S", 60.0)
    change, after = CHANGES[name]

    async def work() -> None:
        store, other = SqliteStore(tmp_path / "s.db"), SqliteStore(tmp_path / "s.db")
        await put(store, "k", b"old")
        assert await found(store, "k") == b"old"
        async with slow_disk(store) as goes_on:
            assert not await change(store)
            looking = asyncio.ensure_future(store.look_up("k"))
            for _ in range(5):
                await asyncio.sleep(0)
            goes_on.set()
            await looking

        async def changed() -> bool:
            return await sure(partial(other.find, "k")) == ({} if after is None else {"k": after})

        await until(changed)
        await sure(partial(store.find, "other"))  # whatever the thread has done was heard of
        assert (await store.get("k") if after is None else await found(store, "k")) == after
        await asyncio.gather(store.aclose(), other.aclose())

    run(work())


def test_a_change_that_is_not_begun_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was put soon before it is found, and written."""

    async def work() -> None:
        store = SqliteStore(tmp_path / "s.db")
        monkeypatch.setattr(sqlite_store, "STUCK_S", 60.0)
        async with slow_disk(store):
            await store.put_soon("k", b"1", 60.0)
            monkeypatch.setattr(sqlite_store, "STUCK_S", 0.0)
            await store.put_soon("k", b"2", 60.0)
            assert await store.delete("k") == 0
            assert await store.put("k", b"3", 60.0) is False
            assert await store.look_up("k") == b"1"
            monkeypatch.undo()
        assert await found(store, "k") == b"1"
        assert await sure(partial(store.find, "k")) == {"k": b"1"}
        await store.aclose()

    run(work())


def test_another_file_in_its_place(tmp_path: Path) -> None:
    """What the old one held is not found in it, though it is asked for all the time."""

    async def work() -> None:
        store = SqliteStore(tmp_path / "s.db")
        await put(store, "k", b"old")
        assert await found(store, "k") == b"old"
        _empty(tmp_path)

        async def seen() -> bool:
            return await store.get("k") is None

        await until(seen)
        await put(store, "other", b"1")
        assert await store.get("k") is None
        await store.aclose()

    run(work())


def _empty(folder: Path) -> None:
    for file in list(folder.iterdir()):
        file.unlink()
