"""The embedded store's file: shared, broken, full, read-only, removed, too large."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from judge_service.adapters.sqlite_store import SqliteStore
from judge_service.storage.store import StoreError
from tests.stores.support import LATE_S, Seen, found, hold, opened, put, run, sure, timed, until

REPOSITORY = Path(__file__).resolve().parents[2]
NOBODY = 65534
DONE_S = 60


def writer(file: Path, name: str, number: int) -> subprocess.Popen[str]:
    """Another process that writes to the same file."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.stores.sqlite_writer", str(file), name, str(number)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_outlives_the_process(tmp_path: Path) -> None:
    """What was stored is there after closing and opening; folder and files are the user's own."""
    file = tmp_path / "state" / "judge-service" / "store.sqlite3"

    async def work() -> None:
        async with opened(file) as store:
            await put(store, "a", b"1")
            assert await sure(lambda: store.add("n", 2, 60.0)) == 2
            assert await hold(store, "h", "me")
            modes = {f.name: stat.S_IMODE(f.stat().st_mode) for f in file.parent.iterdir()}
            assert set(modes.values()) == {0o600}
        async with opened(file) as store:
            assert await found(store, "a") == b"1"
            assert await sure(lambda: store.add("n", 2, 60.0)) == 4
            assert await hold(store, "h", "you") is False

    run(work())
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    """Two processes lose nothing to each other, neither values nor counts."""
    file = tmp_path / "store.sqlite3"
    writers = {name: writer(file, name, 150) for name in ("ann", "bob")}
    said = {name: w.communicate(timeout=DONE_S)[0].split("\n") for name, w in writers.items()}
    counted = sum(int(lines[-2].removeprefix("counted ")) for lines in said.values())

    async def work() -> None:
        async with opened(file) as store:
            for name, lines in said.items():
                assert len(lines) > 100
                for n in lines[:-2]:
                    assert await found(store, f"{name}:{n}") == f"{name}:{n}".encode()
            assert (await store.add("count", 0, 60.0) or 0) >= counted > 200

    run(work())


def test_a_writer_is_killed(tmp_path: Path) -> None:
    """What a process was told is stored survives its SIGKILL, and the file is sound."""
    file = tmp_path / "store.sqlite3"
    killed = writer(file, "ann", 1_000_000)
    assert killed.stdout is not None
    stored = [killed.stdout.readline().strip() for _ in range(50)]
    killed.kill()
    killed.wait(timeout=10)
    killed.stdout.close()

    async def work() -> None:
        async with opened(file) as store:
            for n in stored:
                await until(lambda n=n: store.get(f"ann:{n}"))  # type: ignore[misc]
            await put(store, "more", b"1")

    run(work())
    with sqlite3.connect(file) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.close()


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\x00broken"])
def test_no_database(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """A file that is no database is kept under another name, and a new one begins, said once."""
    file = tmp_path / "store.sqlite3"
    for number in (1, 2):
        file.write_bytes(content)

        async def work() -> None:
            async with opened(file) as store:
                assert await store.get("a") is None
                await put(store, "a", b"1")
                assert await found(store, "a") == b"1"

        run(work())
        assert file.with_name(f"store.sqlite3.broken-{number}").read_bytes() == content
    assert [r.levelname for r in caplog.records] == ["WARNING"] * 2


def test_broken_while_in_use(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file that is overwritten while two stores use it is replaced once, for both of them."""
    file = tmp_path / "store.sqlite3"

    async def work() -> None:
        async with opened(file) as one, opened(file) as two:
            for n in range(200):
                assert await one.put(f"k{n}", b"x" * 1000, 60.0)
            assert await two.get("k1") == b"x" * 1000
            for side in (file, file.with_name(f"{file.name}-wal")):
                with side.open("r+b") as out:
                    out.write(b"\xa5" * side.stat().st_size)
            await until(lambda: _goes_across(one, two))
            await until(lambda: _goes_across(two, one))

    run(work())
    assert file.with_name("store.sqlite3.broken-1").exists()
    assert not file.with_name("store.sqlite3.broken-2").exists()
    assert len(caplog.records) >= 1


async def _goes_across(one: SqliteStore, two: SqliteStore) -> bool:
    return await one.put("a", b"1", 60.0) and await two.get("a") == b"1"


def test_removed_while_in_use(tmp_path: Path) -> None:
    """When somebody removes the file, or its folder, a new one begins."""
    file = tmp_path / "deep" / "store.sqlite3"

    async def work() -> None:
        async with opened(file) as store:
            await put(store, "a", b"1")
            for left in list(file.parent.iterdir()):
                left.unlink()
            file.parent.rmdir()
            await until(lambda: _written(store, file))
            assert await found(store, "b") == b"2"
            assert await store.get("a") is None

    run(work())


async def _written(store: SqliteStore, file: Path) -> bool:
    return await store.put("b", b"2", 60.0) and await asyncio.to_thread(file.exists)


@contextmanager
def no_more_disk(file: Path) -> Iterator[None]:
    """No file of this process may grow: what a full disk is like."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    largest = max(f.stat().st_size for f in file.parent.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_full_disk(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """On a full disk reads go on, writes are refused with one warning, until there is room."""
    file = tmp_path / "store.sqlite3"

    async def work() -> None:
        async with opened(file) as store:
            await put(store, "a", b"1")
            with no_more_disk(file):
                for n in range(5):
                    assert await store.put(f"k{n}", b"x" * 1_000_000, 60.0) is False
                    assert await found(store, "a") == b"1"
                assert "the disk" in str(await store.trouble())
            await until(lambda: store.put("k", b"x" * 1_000_000, 60.0))
            assert await store.trouble() is None
            assert await found(store, "a") == b"1"

    with caplog.at_level(logging.INFO, "judge_service.store"):
        run(work())
    assert [r.levelname for r in caplog.records] == ["WARNING", "INFO"]


@contextmanager
def not_writable(folder: Path) -> Iterator[None]:
    """The folder and its files can be read only; root, who may write everything, is nobody."""
    files = list(folder.iterdir())
    for file in files:
        file.chmod(0o444)
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)
        folder.chmod(0o755)
        for file in files:
            file.chmod(0o644)


def test_read_only(caplog: pytest.LogCaptureFixture) -> None:
    """A store that can only be read is read; writes are refused with one warning."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "store.sqlite3"

        async def fill() -> None:
            async with opened(file) as store:
                await put(store, "a", b"1")

        async def work() -> None:
            async with opened(file) as store:
                assert await found(store, "a") == b"1"
                assert await store.put("b", b"1", 60.0) is False
                assert await store.add("n", 1, 60.0) is None
                assert await store.put_new("b", b"1", 60.0) is None
                assert await store.hold("h", "me", 1, 60.0) is None
                assert "cannot be written to" in str(await store.trouble())
                await store._jobs.finished()  # nor is that over when all was done that was begun
                await store.get("c")
                assert "cannot be written to" in str(await store.trouble())
                assert [key async for key, _, _ in store.scan("")] == ["a"]

        run(fill())
        with not_writable(folder):
            run(work())
    told = [r.levelname for r in caplog.records if r.name.startswith("judge_service.store")]
    assert told == ["WARNING"]


def test_another_programs_database(tmp_path: Path) -> None:
    """A database that another program made is refused and left as it is."""
    file = tmp_path / "store.sqlite3"
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE theirs (x)")
    db.close()
    before = file.read_bytes()
    with pytest.raises(StoreError, match="another program's database"):
        SqliteStore(file)
    assert file.read_bytes() == before


def test_what_a_hostile_writer_puts(tmp_path: Path) -> None:
    """Rows of other types are misses, hurt no neighbour and are replaced."""
    file = tmp_path / "store.sqlite3"

    async def work() -> None:
        async with opened(file) as store:
            await put(store, "near", b"1")
            with sqlite3.connect(file) as db:
                for key, value in (("int", 7), ("null", None), ("float", 1.5), ("text", "t")):
                    db.execute("INSERT INTO entries VALUES (?, ?, 1e300)", (key, value))
                db.execute("INSERT INTO entries VALUES ('utf', CAST(x'ff' AS TEXT), 'late')")
                db.execute("INSERT INTO counts VALUES ('n', 'many', 1e300)")
            db.close()
            keys = ["int", "null", "float", "text", "utf", "near"]
            values = await asyncio.gather(*map(store.get, keys))
            assert values[:3] == [None] * 3
            assert values[5] == b"1"
            assert await sure(lambda: store.add("n", 2, 60.0)) == 2
            for key in keys:
                await put(store, key, b"2")
                assert await found(store, key) == b"2"
            assert len([key async for key, _, _ in store.scan("")]) == 6

    run(work())


def test_locked_by_another(tmp_path: Path) -> None:
    """While another process keeps the file locked, callers wait no longer than the limit; reads go
    on, and a write that was begun is done when the lock is gone.
    """
    file = tmp_path / "store.sqlite3"
    seen = Seen()

    async def work() -> None:
        async with opened(file, seen) as store:
            await put(store, "a", b"1")
            with sqlite3.connect(file, isolation_level=None) as db:
                db.execute("BEGIN EXCLUSIVE")
                stored, took = await timed(store.put("b", b"2", 60.0))
                await store._jobs.finished()
                troubled = await store.trouble()
                db.execute("ROLLBACK")
            db.close()
            assert stored is False
            assert "keeps it locked" in str(troubled)
            assert took < 20 * LATE_S  # the lock is there until this returns
            await until(lambda: store.get("a"))
            await until(lambda: store.put("b", b"2", 60.0))

    run(work())
    assert seen.failed("write") >= 1


def test_the_event_loop_is_not_held_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the disk takes, the event loop goes on, and soon nobody waits for the disk."""
    file = tmp_path / "store.sqlite3"

    async def work() -> None:
        async with opened(file) as store:
            goes_on = threading.Event()
            held = _hold_thread(store, goes_on)
            try:
                assert [await store.get("a") for _ in range(3)] == [None] * 3
                await until(lambda: _costs_nothing(store))
                assert await store.trouble() is not None
                assert not held.done()
            finally:
                goes_on.set()
            await held
            await until(lambda: store.put("a", b"1", 60.0))
            await until(lambda: store.get("a"))
            await until(lambda: _no_trouble(store))

    run(work())


def test_look_ups_alone_find_out_that_the_disk_does_not_answer(tmp_path: Path) -> None:
    """Soon nobody waits for it, though all of them could go along with one that does."""

    async def work() -> None:
        async with opened(tmp_path / "store.sqlite3") as store:
            goes_on = threading.Event()
            held = _hold_thread(store, goes_on)

            async def is_told() -> bool:
                await store.get("a")
                return await store.trouble() is not None

            try:
                await until(is_told)
                assert (await timed(store.get("b")))[1] < LATE_S / 10
            finally:
                goes_on.set()
            await held
            await until(lambda: _no_trouble(store))

    run(work())


def _hold_thread(store: SqliteStore, goes_on: threading.Event) -> asyncio.Future[None]:
    """A disk that does not answer before it goes on, for the one thread that works with it."""

    def stuck(_: object) -> None:
        goes_on.wait(60)

    return store._thread.run(partial(store._file.run, stuck))


async def _costs_nothing(store: SqliteStore) -> bool:
    return (await timed(store.put("b", b"1", 60.0)))[1] < LATE_S / 10


async def _no_trouble(store: SqliteStore) -> bool:
    await store.get("a")
    return await store.trouble() is None
