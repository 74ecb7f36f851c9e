"""The embedded store in one event loop after the other: what one leaves, the next one finds."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from judge_service.adapters.sqlite_store import SqliteStore
from tests.stores.support import found, is_well, put, run, until

LEFT = [f"left{number}" for number in range(200)]
"""More than go in one trip to the thread."""


def ended(work: Coroutine[Any, Any, None]) -> None:
    """Run it in an event loop that then ends, whatever is still under way there."""
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(work)
    finally:
        loop.close()


async def kept(file: Path) -> int:
    """How many of what was left are in the file, for whoever opens it."""
    store = SqliteStore(file)
    there = await store.find(*LEFT)
    await store.aclose()
    return len(there or {})


async def leave(store: SqliteStore) -> None:
    """Put all of it soon."""
    for key in LEFT:
        await store.put_soon(key, b"1", 60.0)


async def look(store: SqliteStore) -> None:
    """It is found."""
    for key in LEFT:
        assert await found(store, key) == b"1"


async def write(store: SqliteStore) -> None:
    """Something else is written, and it is found."""
    await store.put_soon("more", b"2", 60.0)
    await put(store, "other", b"3")
    assert await found(store, "more") == b"2"
    await look(store)


async def is_busy(store: SqliteStore) -> bool:
    """Whether its thread is at work."""
    return store._jobs.busy


async def nothing(_: SqliteStore) -> None:
    """The store is closed at once."""


@pytest.mark.parametrize("then", [look, write, nothing])
@pytest.mark.parametrize("ends", [run, ended])
def test_what_was_put_soon_is_written(
    tmp_path: Path,
    ends: Callable[[Coroutine[Any, Any, None]], None],
    then: Callable[[SqliteStore], Awaitable[None]],
) -> None:
    """Though the event loop ended before that was due."""
    file = tmp_path / "store.sqlite3"
    store = SqliteStore(file)
    ends(leave(store))

    async def work() -> None:
        await then(store)
        await store.aclose()
        assert await kept(file) == len(LEFT)

    run(work())


def test_what_was_being_written_is_written(tmp_path: Path) -> None:
    """Though the event loop ended before the thread was heard of. What is removed then stays so."""
    file = tmp_path / "store.sqlite3"
    store = SqliteStore(file)
    goes_on = threading.Event()
    left: list[object] = []

    async def first() -> None:
        left.append(store._thread.run(partial(goes_on.wait, 60)))
        await leave(store)
        left.append(asyncio.ensure_future(store.put("waited for", b"1", 60.0)))
        await until(partial(is_busy, store))

    async def second() -> None:
        assert await store.get(LEFT[0]) == b"1"
        goes_on.set()
        assert await found(store, "waited for") == b"1"
        assert await store.delete(LEFT[0]) == 1
        assert await store.get(LEFT[0]) is None
        await until(lambda: is_well(store))
        await store.aclose()
        assert await kept(file) == len(LEFT) - 1

    run(first())
    run(second())


def test_look_ups_that_were_under_way_stand_in_nobodys_way(tmp_path: Path) -> None:
    """However many event loops have ended in the middle of one."""
    store = SqliteStore(tmp_path / "store.sqlite3")
    left: list[object] = []

    async def looking(rounds: int) -> None:
        left.append(asyncio.ensure_future(store.look_up("k")))
        for _ in range(rounds):
            await asyncio.sleep(0)

    async def work() -> None:
        for _ in range(20):
            assert await found(store, "k") == b"1"
            await asyncio.sleep(0.01)
        await store.aclose()

    run(put(store, "k", b"1"))
    for rounds in range(8):
        run(looking(rounds))
    run(work())
