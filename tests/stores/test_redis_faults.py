"""Redis may do what it likes: operations end in time, and Redis is used again when it is back."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from pathlib import Path

import pytest

from judge_service.adapters.redis_store import RedisStore
from tests.redis_server import RedisServer
from tests.stores.support import (
    LATE_S,
    Seen,
    costs,
    found,
    gives_up,
    hold,
    is_well,
    put,
    redis_store,
    run,
    sure,
    timed,
)
from tests.stores.support import until as eventually

BUSY_S = 0.12
"""Longer than an operation may take."""
ATTEMPTS = 3
"""How often a measurement is repeated that another process on this machine disturbed."""
HUGE = 50_000_000


def test_down_at_start(own_redis: RedisServer) -> None:
    """The store opens without Redis, says so, costs nothing, and uses Redis soon after it is up."""
    own_redis.kill()
    seen = Seen()

    async def work() -> None:
        async with redis_store(own_redis.url, seen) as store:
            trouble = await store.trouble()
            assert trouble is not None
            assert f"127.0.0.1:{own_redis.port} cannot be reached" in trouble
            assert await store.put("a", b"1", 60.0) is False
            assert await store.get("a") is None
            assert await store.add("n", 1, 60.0) is None
            assert await store.hold("h", "me", 1, 60.0) is None
            assert await store.put_new("a", b"1", 60.0) is None
            await eventually(lambda: gives_up(store))
            own_redis.start()
            await eventually(lambda: is_well(store))
            await put(store, "a", b"1")
            assert await found(store, "a") == b"1"

    run(work())
    assert seen.failed("connect") >= 1


def test_killed_and_restarted(own_redis: RedisServer) -> None:
    """Killed again and again, Redis costs little while it is gone and is used when it is back."""

    async def work() -> None:
        async with redis_store(own_redis.url) as store:
            await eventually(lambda: is_well(store))
            took = []
            for _ in range(ATTEMPTS):
                own_redis.kill()
                took.append(await costs(store))
                await eventually(lambda: gives_up(store))
                own_redis.start()
                await eventually(lambda: is_well(store))
            assert min(took) < LATE_S

    run(work())


def test_restarted_between_two_requests(own_redis: RedisServer) -> None:
    """A restart that nobody waited for costs no operation: the old connections are replaced."""

    async def work() -> None:
        async with redis_store(own_redis.url) as store:
            await eventually(lambda: is_well(store))
            own_redis.kill()
            own_redis.start()
            await put(store, "a", b"1")
            assert await found(store, "a") == b"1"

    run(work())


def test_frozen(own_redis: RedisServer) -> None:
    """A Redis that accepts and does not answer costs its limit at most, then nothing."""
    seen = Seen()

    async def work() -> None:
        async with redis_store(own_redis.url, seen) as store:
            for attempt in range(ATTEMPTS):
                await eventually(lambda: is_well(store))
                own_redis.freeze()
                try:
                    took = [(await timed(store.get("a")))[1] for _ in range(2)]
                    took.append((await timed(store.put("a", b"1", 60.0)))[1])
                    await eventually(lambda: gives_up(store))
                finally:
                    own_redis.thaw()
                if max(took) < LATE_S:
                    break
                assert attempt < ATTEMPTS - 1, took
            await eventually(lambda: is_well(store))

    run(work())
    assert seen.failed("read") >= 1


async def burst(store: RedisStore) -> float:
    """The seconds that the slowest of 80 callers at once waits."""
    gets = [timed(store.get(f"k{n}")) for n in range(40)]
    puts = [timed(store.put(f"k{n}", b"1", 60.0)) for n in range(40)]
    return max(took for _, took in await asyncio.gather(*gets, *puts))


def test_one_operation_waits_for_a_frozen_redis(own_redis: RedisServer) -> None:
    """A request has several operations; after one that waited in vain the others do not wait."""
    seen = Seen()

    async def work() -> None:
        async with redis_store(own_redis.url, seen) as store:
            await put(store, "a", b"1")
            own_redis.freeze()
            assert await store.get("a") is None
            assert await store.put_new("b", b"1", 60.0) is None
            assert await store.add("n", 1, 60.0) is None
            assert await store.hold("h", "me", 1, 60.0) is None
            assert seen.failed("write") == 0, "Redis was asked again"
            own_redis.thaw()
            await put(store, "a", b"2")
            assert await found(store, "a") == b"2"

    try:
        run(work())
    finally:
        own_redis.thaw()


def test_frozen_under_load(own_redis: RedisServer) -> None:
    """Many callers at once wait no longer for a frozen Redis than one does."""

    async def work() -> None:
        async with redis_store(own_redis.url) as store:
            for attempt in range(ATTEMPTS):
                await eventually(lambda: is_well(store))
                usual = await burst(store)
                own_redis.freeze()
                try:
                    took = await burst(store)
                finally:
                    own_redis.thaw()
                if took < usual + 2 * LATE_S:
                    return
                assert attempt < ATTEMPTS - 1, (took, usual)

    run(work())


def test_full(own_redis: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
    """A full Redis is still read from; writes are refused and say so once."""

    async def work() -> None:
        async with redis_store(own_redis.url) as store:
            await put(store, "a", b"1")
            own_redis.configure("maxmemory", "1")
            for _ in range(5):
                assert await store.put("b", b"x" * 1000, 60.0) is False
                assert await found(store, "a") == b"1"
            assert await store.add("n", 1, 60.0) is None
            assert await store.hold("h", "me", 1, 60.0) is None
            assert "out of memory" in str(await store.trouble())
            assert await found(store, "a") == b"1"
            own_redis.configure("maxmemory", "0")
            await put(store, "b", b"x" * 1000)
            assert await sure(lambda: store.add("n", 1, 60.0)) == 1
            assert await hold(store, "h", "me") is True
            assert await store.trouble() is None

    with caplog.at_level(logging.INFO, "judge_service.store"):
        run(work())
    assert [r.levelname for r in caplog.records] == ["WARNING", "INFO"]


def test_read_only(own_redis: RedisServer, tmp_path: Path) -> None:
    """A master that became a replica is read from; writes work again when it is master again."""

    async def work() -> None:
        async with redis_store(own_redis.url) as store:
            own_redis.command("CONFIG", "SET", "repl-diskless-sync-delay", 0)
            await put(store, "a", b"1")
            own_redis.command("REPLICAOF", "127.0.0.1", 1)
            assert await store.put("a", b"2", 60.0) is False
            assert await found(store, "a") == b"1"
            assert "read-only replica" in str(await store.trouble())
            own_redis.command("REPLICAOF", "NO", "ONE")
            await eventually(lambda: store.put("a", b"3", 60.0))
            assert await found(store, "a") == b"3"
            await eventually(lambda: is_well(store))

    run(work())


@pytest.mark.parametrize("kind", ["list", "hash", "set", "garbage"])
def test_something_else_at_our_key(redis: RedisServer, kind: str) -> None:
    """What is no value of ours is a miss, hurts no neighbour, and is replaced by the next write."""
    theirs = {
        "list": ("LPUSH", "k", "x"),
        "hash": ("HSET", "k", "f", "x"),
        "set": ("SADD", "k", "x"),
        "garbage": ("SET", "k", "\xff not a number"),
    }[kind]

    async def work() -> None:
        async with redis_store(redis.url) as store:
            await put(store, "near", b"1")
            redis.command(*theirs)
            values = await asyncio.gather(store.get("k"), store.get("near"))
            assert values[1] in (b"1", None)
            assert await found(store, "near") == b"1"
            assert values[0] in (None, "\xff not a number".encode())
            assert await sure(lambda: store.add("k", 3, 60.0)) == 3
            redis.command("DEL", "k")
            redis.command(*theirs)
            assert await hold(store, "k", "me") is True
            assert await hold(store, "k", "you") is False
            redis.command("DEL", "k")
            redis.command(*theirs)
            await store.drop("k", "me")
            await put(store, "k", b"2")
            assert await found(store, "k") == b"2"
            assert await store.trouble() is None

    run(work())


def test_a_huge_value(own_redis: RedisServer) -> None:
    """A value of 50 MB at our key is a miss within the limit; Redis is used on, and the next write
    takes its place.
    """

    async def work() -> None:
        async with redis_store(own_redis.url) as store:
            await eventually(lambda: is_well(store))
            own_redis.command("SETRANGE", "k", HUGE, "x")
            looks = [await timed(store.get("k")) for _ in range(5)]
            assert [found for found, _ in looks] == [None] * 5
            assert sorted(took for _, took in looks)[2] < LATE_S
            await eventually(lambda: is_well(store))
            await eventually(lambda: store.put("k", b"2", 60.0))
            await eventually(lambda: _is(store, "k", b"2"))

    run(work())


async def _is(store: RedisStore, key: str, value: bytes) -> bool:
    return await store.get(key) == value


def test_flushed(own_redis: RedisServer) -> None:
    """Everything that is gone is a miss, a lock that is gone is free, and nothing is in trouble."""

    async def work() -> None:
        async with redis_store(own_redis.url) as store:
            await put(store, "a", b"1")
            assert await hold(store, "h", "me")
            own_redis.command("FLUSHALL")
            assert await store.get("a") is None
            assert await hold(store, "h", "you") is True
            assert await store.trouble() is None

    run(work())


def test_more_callers_than_connections(redis: RedisServer) -> None:
    """200 callers on two connections: waiting for a connection is not taken for Redis's fault."""
    url = f"{redis.url}?max_connections=2"

    async def work() -> None:
        async with redis_store(url) as store:
            await eventually(lambda: is_well(store))
            puts = [timed(store.put(f"k{n}", str(n).encode(), 60.0)) for n in range(200)]
            stored = await asyncio.gather(*puts)
            assert any(ok for ok, _ in stored)
            assert await store.trouble() is None
            assert await found(store, "k0") == b"0"

    run(work())
    assert int(redis.command("INFO", "clients").split("connected_clients:")[1].split()[0]) <= 4


def test_few_log_lines_however_often(
    own_redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    """A Redis killed and started five times gets one warning and one line that it is over."""

    async def work() -> None:
        async with redis_store(own_redis.url) as store:
            await eventually(lambda: is_well(store))
            for _ in range(5):
                own_redis.kill()
                await eventually(lambda: gives_up(store))
                own_redis.start()
                await eventually(lambda: is_well(store))

    with caplog.at_level(logging.INFO, "judge_service.store"):
        run(work())
    assert [r.levelname for r in caplog.records] == ["WARNING", "INFO"]


def test_closes_soon_whatever_redis_does(own_redis: RedisServer) -> None:
    """A store over a frozen Redis is closed, though Redis never answers."""

    async def work() -> float:
        async with redis_store(own_redis.url) as store:
            await eventually(lambda: is_well(store))
            own_redis.freeze()
            waiting = asyncio.ensure_future(store.get("a"))
            await asyncio.sleep(0)
            started = time.monotonic()
            await store.aclose()
            await waiting
            return time.monotonic() - started

    try:
        assert run(work()) < 15.0
    finally:
        own_redis.thaw()


def test_a_busy_service_reads_what_has_arrived(redis: RedisServer) -> None:
    """When the service itself had no time for longer than the limit, an answer that is there
    counts: no verdict is asked for twice because of it.
    """

    async def work() -> None:
        async with redis_store(redis.url) as store:
            await eventually(lambda: is_well(store))
            await eventually(lambda: store.put("a", b"1", 60.0))
            for rounds in range(1, 12):
                waiting = asyncio.ensure_future(store.get("a"))
                for _ in range(rounds):
                    await asyncio.sleep(0)
                await _busy()
                assert await waiting == b"1"
            assert await store.trouble() is None

    run(work())


async def _busy() -> None:
    ended = time.monotonic() + BUSY_S
    while time.monotonic() < ended:
        pass


def test_a_name_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host name that is looked up for ever takes one thread, not all that the service has."""
    asked: list[str] = []
    answer = threading.Event()

    def look_up(host: str, *more: object, **most: object) -> list[object]:
        asked.append(host)
        answer.wait(20.0)
        raise OSError("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    async def work() -> None:
        async with redis_store("redis://redis.example:6379") as store:
            assert "in time" in str(await store.trouble())
            for _ in range(20):
                assert await store.put("a", b"1", 60.0) is False
            assert await store.trouble() is not None
            assert asked == ["redis.example"]
            answer.set()

    run(work())
