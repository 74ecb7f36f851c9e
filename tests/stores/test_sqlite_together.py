"""The embedded store's work of one moment, and whether a store has company."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from pathlib import Path

import pytest

from judge_service.adapters.sqlite_store import SqliteStore
from judge_service.events import Event
from judge_service.storage.store import StoreError


def test_writes_of_one_moment_are_all_kept(tmp_path: Path) -> None:
    """Puts, counts, leases and removals that come together each do what they do alone."""

    async def play() -> None:
        store = SqliteStore(tmp_path / "store.sqlite3")
        await store.put("old", b"x", 60.0)

        found = await asyncio.gather(
            *(store.put(f"k{number}", b"%d" % number, 60.0) for number in range(20)),
            *(store.add("count", 1, 60.0) for _ in range(5)),
            *(store.hold("place", f"owner {number}", 3, 60.0) for number in range(5)),
            store.delete("old"),
            store.put_new("k7", b"another", 60.0),
        )

        assert all(found[:20])
        assert sorted(n for n in found[20:25] if n) == list(range(1, 6))
        assert found[25:30] == [True, True, True, False, False]
        assert found[30:] == [1, False]
        assert await store.find("k0", "k19", "k7", "old") == {
            "k0": b"0",
            "k19": b"19",
            "k7": b"7",
        }
        await store.aclose()

    asyncio.run(play())


def test_one_write_that_fails_takes_no_other_with_it(tmp_path: Path) -> None:
    """Each of the writes of one moment is told what became of it by itself."""

    async def play() -> None:
        store = SqliteStore(tmp_path / "store.sqlite3")

        def refused(_: sqlite3.Connection) -> bool:
            raise sqlite3.IntegrityError("not this one")

        first, failed, last = await asyncio.gather(
            store.add("count", 1, 60.0), store._write(refused), store.add("count", 1, 60.0)
        )

        assert (first, failed, last) == (1, None, 2)
        await store.aclose()

    asyncio.run(play())


def test_what_was_begun_is_written_before_the_file_is_closed(tmp_path: Path) -> None:
    """A verdict that is just being put is there after the store was closed."""

    async def play() -> None:
        store = SqliteStore(tmp_path / "store.sqlite3")
        putting = [asyncio.ensure_future(store.put(f"k{n}", b"v", 60.0)) for n in range(300)]
        await asyncio.sleep(0)

        await store.aclose()
        await asyncio.gather(*putting)

        again = SqliteStore(tmp_path / "store.sqlite3")
        assert len(await again.find(*(f"k{n}" for n in range(300))) or {}) == 300
        await again.aclose()

    asyncio.run(play())


def test_what_is_put_soon_is_in_the_file_soon(tmp_path: Path) -> None:
    """At once where another process looks; at the latest when the store is closed."""

    async def play() -> None:
        file = tmp_path / "store.sqlite3"
        store = SqliteStore(file)
        await store.put_soon("alone", b"1", 60.0)
        await store.aclose()
        first, second = SqliteStore(file), SqliteStore(file)
        assert await second.get("alone") == b"1"
        await first.put_soon("shared", b"2", 60.0)
        assert await second.get("shared") == b"2"
        await first.aclose()
        await second.aclose()

    asyncio.run(play())


def test_what_is_put_soon_is_found_until_it_is_over(tmp_path: Path) -> None:
    """By every look, also while something else is put in its place; never after its time."""

    async def play() -> None:
        now = [1000.0]
        store = SqliteStore(tmp_path / "store.sqlite3", clock=lambda: now[0])
        for number in range(20):
            key = f"k{number}"
            await store.put_soon(key, b"1", 60.0)
            found, _, taken = await asyncio.gather(
                store.find(key), store.put(key, b"2", 60.0), store.put_new(key, b"3", 60.0)
            )
            assert found in ({key: b"1"}, {key: b"2"})
            assert taken is False
            assert await store.get(key) == b"2"
        await store.put_soon("short", b"1", 1.0)
        now[0] += 1.0
        assert await store.get("short") is None
        assert await store.find("short") == {}
        await store.aclose()

    asyncio.run(play())


def test_what_is_removed_stays_so(tmp_path: Path) -> None:
    """A verdict that is being written when it is removed does not come back."""

    async def play() -> None:
        store = SqliteStore(tmp_path / "store.sqlite3")
        await store.put_soon("k", b"1", 60.0)
        assert await store.delete("k") == 1
        assert await store.get("k") is None
        assert await store.find("k") == {}
        await store.aclose()

    asyncio.run(play())


def test_a_closed_store_has_nothing_to_list(tmp_path: Path) -> None:
    """Who lists it is told, and does not wait for ever."""

    async def play() -> None:
        store = SqliteStore(tmp_path / "store.sqlite3")
        await store.put("k", b"v", 60.0)
        listing = store.scan("")
        await store.aclose()
        with pytest.raises(StoreError, match="closed"):
            await asyncio.wait_for(anext(listing), 10.0)

    asyncio.run(play())


def test_a_process_that_had_no_time_does_not_blame_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread has answered long ago; the event loop was held up before it could hear of that."""
    monkeypatch.setattr("judge_service.adapters.sqlite_store.STUCK_S", 0.0)
    told: list[Event] = []

    async def play() -> None:
        store = SqliteStore(tmp_path / "store.sqlite3", observer=told.append)
        await store.put("k", b"v", 60.0)
        first = asyncio.ensure_future(store.find("k"))
        for _ in range(3):
            await asyncio.sleep(0)  # until the thread has it
        until = time.monotonic() + 10.0
        while store._jobs.busy and time.monotonic() < until:
            pass  # nor does anything else run on the event loop
        assert await store.find("k") == await first == {"k": b"v"}
        assert await store.trouble() is None
        await store.aclose()

    asyncio.run(play())
    assert told == []


def test_a_store_knows_whether_it_has_company(tmp_path: Path) -> None:
    """Alone until another one opens the file, and again when that one is closed."""

    async def play() -> None:
        first = SqliteStore(tmp_path / "store.sqlite3")
        seen = [first.alone]
        second = SqliteStore(tmp_path / "store.sqlite3")
        other = SqliteStore(tmp_path / "other.sqlite3")
        seen += [first.alone, second.alone, other.alone]
        await second.aclose()
        seen.append(first.alone)
        await first.aclose()
        await other.aclose()

        assert seen == [True, False, False, True, True]

    asyncio.run(play())
