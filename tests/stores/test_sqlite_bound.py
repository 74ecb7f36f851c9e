"""How much the embedded store's file holds: what is over goes, and what is too much."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from judge_service.adapters import sqlite_entries as entries
from judge_service.adapters import sqlite_store
from judge_service.adapters.sqlite_store import SqliteStore
from tests.stores.support import opened, put, run, until


def test_a_bound_in_bytes(tmp_path: Path) -> None:
    """The file stays near its bound; what was written first goes first."""
    file = tmp_path / "store.sqlite3"
    bound = 2_000_000

    async def work() -> None:
        async with opened(file, max_bytes=bound) as store:
            for n in range(400):
                await until(lambda n=n: store.put(f"k{n:03}", b"x" * 10_000, 60.0))  # type: ignore[misc]
            left = [key async for key, _, _ in store.scan("k")]
            assert left
            assert left == [f"k{n:03}" for n in range(400 - len(left), 400)]
            assert await store.put("larger", b"x" * bound, 60.0) is False

    run(work())
    assert file.stat().st_size < 2 * bound


def test_a_bound_in_bytes_after_a_burst(tmp_path: Path) -> None:
    """Without another write; each tidying takes a part of it."""
    bound = 500_000

    async def work() -> None:
        async with opened(tmp_path / "store.sqlite3", max_bytes=bound) as store:
            for n in range(3_000):
                await store.put_soon(f"k{n:04}", b"x" * 2_000, 60.0)

            async def is_small() -> bool:
                left = [key async for key, _, _ in store.scan("k")]
                return len(left) * 2_000 <= bound

            await until(is_small)

    run(work())


def test_what_is_over_goes(tmp_path: Path) -> None:
    """Values whose time is over do not stay in the file."""
    file = tmp_path / "store.sqlite3"
    now = 1000.0

    async def work() -> None:
        nonlocal now
        store = SqliteStore(file, clock=lambda: now)
        for n in range(100):
            await put(store, f"old{n}", b"1", 10.0)
            await store.add(f"old{n}", 1, 10.0)
        now += 20.0
        for n in range(2 * sqlite_store.TIDY_EVERY):
            await until(lambda n=n: store.put(f"new{n}", b"1", 10.0))  # type: ignore[misc]
        await store.aclose()

    run(work())
    with sqlite3.connect(file) as db:
        assert db.execute("SELECT count(*) FROM entries WHERE key LIKE 'old%'").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM counts").fetchone() == (0,)
    db.close()


def test_what_cannot_be_removed_is_not_tidied_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counters are not removed before their time, however full of them the file is."""
    tidied = []
    tidy = entries.tidy

    def counted(db: sqlite3.Connection, max_bytes: int, now: float) -> None:
        tidied.append(now)
        tidy(db, max_bytes, now)

    monkeypatch.setattr(entries, "tidy", counted)

    async def work() -> None:
        async with opened(tmp_path / "store.sqlite3", max_bytes=1_000) as store:
            await until(lambda: store.add("n", 1, 60.0))
            for _ in range(20):
                await store._jobs.finished()

    run(work())
    assert 1 <= len(tidied) <= 3
