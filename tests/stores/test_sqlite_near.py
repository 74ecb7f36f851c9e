"""What the embedded store has just read is not read again, and is never older than a moment."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from judge_service.adapters.sqlite_near import TRUSTED_S, Entry, Near
from judge_service.adapters.sqlite_store import SqliteStore
from tests.stores.support import found, put, run, until

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
