"""What the embedded store's file surely does not hold is not asked for, and is never held."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from pathlib import Path

import pytest

from judge_service.adapters import sqlite_absent, sqlite_reads
from judge_service.adapters.sqlite_absent import AGAIN_S, Absent
from judge_service.adapters.sqlite_near import TRUSTED_S
from judge_service.adapters.sqlite_store import SqliteStore
from judge_service.storage.store import UNKNOWN
from tests.stores.support import put, run, until

FAR = 1e12
MANY = 1_700
"""More keys than are read at once."""


class Ticks:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def known(ticks: Ticks, *keys: str) -> Absent:
    """All keys of a file of version 1, looked at just now."""
    one = Absent(ticks)
    one.begin(1, ())
    one.read(keys)
    one.all_read()
    one.looked(1, ticks())
    return one


def test_a_key_that_was_read_or_written_is_not_absent() -> None:
    """None of many; and nearly every other one is."""
    ticks = Ticks()
    one = known(ticks, *(f"read{number}" for number in range(50_000)))
    one.add([f"written{number}" for number in range(50_000)])

    names = [f"{how}{number}" for how in ("read", "written") for number in range(50_000)]
    assert not any(one.lacks(name) for name in names)
    assert sum(one.lacks(f"new{number}") for number in range(10_000)) > 9_900


def test_nothing_is_absent_before_all_was_read() -> None:
    """Nor of a file that has changed meanwhile."""
    ticks = Ticks()
    one = Absent(ticks)
    assert one.due
    one.begin(1, ())
    one.looked(1, ticks())
    assert not one.lacks("a")

    one.all_read()
    one.looked(2, ticks())
    assert not one.lacks("a")
    assert not one.known


def test_it_counts_for_a_moment_after_a_look_at_the_file() -> None:
    """Then the file is looked at again: another version of it may hold anything."""
    ticks = Ticks()
    one = known(ticks)
    assert one.lacks("a")

    ticks.now += TRUSTED_S + 0.001
    assert not one.lacks("a")
    one.looked(1, ticks())
    assert one.lacks("a")
    one.looked(2, ticks())
    assert not one.lacks("a")


def test_all_is_read_again_after_a_while() -> None:
    """Not at once: somebody who goes on writing would make this process do nothing else."""
    ticks = Ticks()
    one = known(ticks)
    assert not one.due
    one.looked(2, ticks())
    assert not one.due

    ticks.now += AGAIN_S
    assert one.due


def test_what_is_being_written_while_all_is_read_anew_is_not_absent() -> None:
    """Begun before, and in the file after its page was read; or begun meanwhile."""
    ticks = Ticks()
    one = known(ticks, "gone")
    one.looked(2, ticks())
    ticks.now += AGAIN_S
    one.add(["before", "written"])
    one.begin(2, ["before"])
    one.read(["written"])
    one.add(["meanwhile"])
    one.all_read()
    one.looked(2, ticks())

    names = ("before", "written", "meanwhile", "gone", "new")
    assert [one.lacks(name) for name in names] == [False, False, False, True, True]


def test_when_too_many_were_counted_all_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of them are gone; until that is done, what was known is."""
    monkeypatch.setattr(sqlite_absent, "MOST_KEYS", 10)
    ticks = Ticks()
    one = known(ticks)
    one.add([f"k{number}" for number in range(11)])
    seen = [one.due]
    ticks.now += AGAIN_S
    seen.append(one.due)
    one.begin(1, ())
    seen.append(one.due)

    assert seen == [False, True, False]
    one.looked(1, ticks())
    assert (one.lacks("k0"), one.lacks("new")) == (False, True)
    one.all_read()
    assert one.lacks("k0")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Absent]:
    """The knowledge of all stores that are made."""
    made: list[Absent] = []

    def make() -> Absent:
        made.append(Absent())
        return made[-1]

    monkeypatch.setattr(sqlite_reads, "Absent", make)
    return made


async def knows(store: SqliteStore, one: Absent) -> None:
    """Look things up until all keys of the file are known."""

    async def is_known() -> bool:
        await store.get("some")
        return one.known

    await until(is_known)


async def held(store: SqliteStore, key: str) -> None:
    """It is there; a store that had no time to look may say so, but not that it is not."""
    assert await store.look_up(key) in (b"1", UNKNOWN)


def test_what_a_process_before_this_one_wrote_is_found(tmp_path: Path, reads: list[Absent]) -> None:
    """All pages of it, while keys are read and after that."""
    file = tmp_path / "s.db"

    async def work() -> None:
        before = SqliteStore(file)
        await asyncio.gather(*(before.put(f"k{n}", b"1", 60.0) for n in range(MANY)))
        await before.aclose()
        store = SqliteStore(file)
        names = [f"k{number}" for number in range(MANY)]
        random.Random(1).shuffle(names)  # noqa: S311 - an order
        while not reads[-1].known:
            name = names.pop()
            await held(store, name)
        for name in names:
            await held(store, name)
        await store.aclose()

    run(work())


def test_its_own_writes_are_found(tmp_path: Path, reads: list[Absent]) -> None:
    """However they are written, while others go on, and not when they are gone."""

    async def work() -> None:
        store = SqliteStore(tmp_path / "s.db")
        await knows(store, reads[-1])
        for number in range(300):
            name = f"k{number}"
            assert await store.get(name) is None
            if number % 3 == 0:
                await put(store, name, b"1")
            elif number % 3 == 1:
                await store.put_soon(name, b"1", 60.0)
            else:
                assert await store.put_new(name, b"1", 60.0)
            await held(store, name)
        await put(store, "last", b"1")  # what was put soon is in the file before it
        for number in range(300):
            await held(store, f"k{number}")
        assert await store.delete("k0") == 1
        assert await store.get("k0") is None
        await store.aclose()

    run(work())


def test_in_company_what_another_wrote_is_found_at_once(
    tmp_path: Path, reads: list[Absent]
) -> None:
    """Whoever has the file open, too, may write at any moment; that it is there is known soon."""

    async def work() -> None:
        store = SqliteStore(tmp_path / "s.db")
        await knows(store, reads[-1])
        other = SqliteStore(tmp_path / "s.db")

        async def is_known() -> bool:
            await store.get("other")
            return not store._reads.alone

        await until(is_known)
        for number in range(200):
            assert await store.get(f"k{number}") is None
            await put(other, f"k{number}", b"1")
            await held(store, f"k{number}")
        await other.aclose()
        for number in range(200):
            await held(store, f"k{number}")
        await store.aclose()

    run(work())


def test_what_somebody_writes_without_a_word_is_found_soon(
    tmp_path: Path, reads: list[Absent]
) -> None:
    """By another program, say: at most a moment late."""

    async def work() -> None:
        store = SqliteStore(tmp_path / "s.db")
        await knows(store, reads[-1])
        foreign = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
        foreign.execute("INSERT INTO entries VALUES ('k', ?, ?)", (b"1", FAR))
        foreign.close()
        await until(lambda: store.get("k"))
        await store.aclose()

    run(work())
