"""What every store does alike: in memory, in a file, in Redis, in a Redis cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from judge_service.adapters.sqlite_store import SqliteStore
from judge_service.storage.memory_store import MemoryStore
from judge_service.storage.store import Store
from tests.redis_server import RedisServer
from tests.stores.support import found, hold, put, redis_store, run, sure, until

Opens = Callable[[], AbstractAsyncContextManager[Store]]
SHORT_S = 0.2


@pytest.fixture(params=["memory", "sqlite", "redis", "cluster"])
def opens(request: pytest.FixtureRequest, tmp_path: Path) -> Opens:
    """Opens an empty store of each kind."""

    @asynccontextmanager
    async def open_store() -> AsyncIterator[Store]:
        if request.param in ("redis", "cluster"):
            server: RedisServer = request.getfixturevalue(f"shared_{request.param}")
            server.command("FLUSHALL")
            scheme = "redis" if request.param == "redis" else "redis+cluster"
            async with redis_store(f"{scheme}://127.0.0.1:{server.port}") as store:
                assert await store.trouble() is None
                yield store
            return
        local = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "s.db")
        yield local
        await local.aclose()

    return open_store


def test_keeps_what_is_put(opens: Opens) -> None:
    """Values come back byte for byte, large ones too; a second put replaces the first."""
    values = {"none": b"\x00", "all": bytes(range(256)), "large": b"ab\r\n$" * 40_000}

    async def work() -> None:
        async with opens() as store:
            assert await store.get("none") is None
            for key, value in values.items():
                await put(store, key, b"before")
                await put(store, key, value)
            assert {key: await found(store, key) for key in values} == values
            assert await store.trouble() is None

    run(work())


def test_what_is_put_soon_is_found_at_once(opens: Opens) -> None:
    """By whoever looks, as if it were stored; the next change of it counts as after a put."""

    async def work() -> None:
        async with opens() as store:
            await put(store, "a", b"before")
            await until(lambda: _is(store, "a", b"before"))
            for key in ("a", "b", "c"):
                await store.put_soon(key, b"soon", 60.0)
            assert [await store.look_up(key) for key in ("a", "b", "c")] == [b"soon"] * 3
            assert await sure(lambda: store.find("a", "b")) == {"a": b"soon", "b": b"soon"}
            assert await sure(lambda: store.put_new("b", b"new", 60.0)) is False
            assert await sure(lambda: store.delete("c")) == 1
            assert await store.look_up("c") is None
            await store.put_soon("a", b"1", 60.0)
            await put(store, "a", b"2")
            assert await found(store, "a") == b"2"

    run(work())


def test_forgets_in_time(opens: Opens) -> None:
    """A value is gone when its time to live is over, and can then be put as new."""

    async def work() -> None:
        async with opens() as store:
            await put(store, "short", b"1", SHORT_S)
            await put(store, "long", b"2")
            await until(lambda: _is(store, "short", None))
            assert await sure(lambda: store.put_new("short", b"3", 60.0)) is True
            assert await found(store, "long") == b"2"

    run(work())


async def _is(store: Store, key: str, value: bytes | None) -> bool:
    return await store.get(key) == value


def test_puts_as_new_only_once(opens: Opens) -> None:
    """Of many that put one new key at once, one succeeds, and its value stays."""

    async def work() -> None:
        async with opens() as store:
            values = [str(n).encode() for n in range(10)]
            stored = await asyncio.gather(*[store.put_new("one", v, 60.0) for v in values])
            assert stored.count(True) == 1 or None in stored
            there = await found(store, "one")
            assert stored[values.index(there)] is not False
            assert await sure(lambda: store.put_new("one", b"late", 60.0)) is False
            assert await found(store, "one") == there

    run(work())


def test_counts_what_it_deletes(opens: Opens) -> None:
    """Deleting tells how many of the keys there were."""

    async def work() -> None:
        async with opens() as store:
            for n in range(300):
                await store.put(f"k{n}", b"1", 60.0)
            for key in ("k0", "k1"):
                assert await found(store, key) == b"1"
            assert await store.delete() == 0
            removed = await store.delete("k0", "k1", "nothing")
            assert removed + await store.delete(*[f"k{n}" for n in range(300)]) == 300
            assert await store.get("k5") is None

    run(work())


def test_counts(opens: Opens) -> None:
    """Counters begin at 0, go both ways, lose nothing when many count, and end in time."""

    async def work() -> None:
        async with opens() as store:
            # A count that got no answer may have been counted: then all begins anew.
            attempt = iter(range(100))
            await until(lambda: _counts_right(store, f"n{next(attempt)}"))
            counts = await asyncio.gather(*[store.add("many", 1, 60.0) for _ in range(20)])
            known = sorted(count for count in counts if count is not None)
            assert len(set(known)) == len(known)
            assert set(known) <= set(range(1, 21))
            assert len(known) == 20 or store.shared
            assert await sure(lambda: store.add("short", 7, SHORT_S)) >= 7
            await until(lambda: _restarts(store))

    run(work())


async def _counts_right(store: Store, key: str) -> bool:
    counts = [await store.add(key, amount, 60.0) for amount in (2, -5, 0, 10**9)]
    assert None in counts or counts == [2, -3, -3, 10**9 - 3]
    return None not in counts


async def _restarts(store: Store) -> bool:
    return await store.add("short", 1, SHORT_S) == 1


def test_a_lock_has_one_owner(opens: Opens) -> None:
    """A place for one is held by one owner, who may renew it, until it is given back."""

    async def work() -> None:
        async with opens() as store:
            assert await hold(store, "lock", "a") is True
            assert await hold(store, "lock", "b") is False
            assert await hold(store, "lock", "a") is True
            await store.drop("lock", "b")
            assert await hold(store, "lock", "b") is False
            await until(lambda: _handed_over(store))
            await store.drop("never", "a")

    run(work())


async def _handed_over(store: Store) -> bool:
    await store.drop("lock", "a")
    return await store.hold("lock", "b", 1, 60.0) is True


def test_a_lock_ends_in_time_unless_renewed(opens: Opens) -> None:
    """A place is free when its time is over; a renewed one is kept longer."""

    async def work() -> None:
        async with opens() as store:
            assert await hold(store, "lock", "a", 1, SHORT_S)
            assert await hold(store, "other", "a", 1, SHORT_S)
            assert await hold(store, "other", "a")
            await until(lambda: store.hold("lock", "b", 1, 60.0))
            assert await hold(store, "other", "b") is False

    run(work())


def test_a_lease_has_as_many_owners_as_allowed(opens: Opens) -> None:
    """Of many that want one of three places at once, no more than three have one."""

    async def work() -> None:
        async with opens() as store:
            names = [f"o{n}" for n in range(12)]
            got = await asyncio.gather(*[store.hold("lease", name, 3, 60.0) for name in names])
            assert got.count(True) == 3 or None in got
            for name in names:
                # Those who were told nothing ask again.
                if got[names.index(name)] is None:
                    got[names.index(name)] = await hold(store, "lease", name, 3)
            assert got.count(True) == 3
            inside = names[got.index(True)]
            assert await hold(store, "lease", inside) is True
            assert await hold(store, "lease", "new", 3) is False
            await until(lambda: _given_back(store, inside))
            assert await hold(store, "lease", inside, 3) is False

    run(work())


def test_places_under_changing_limits(opens: Opens) -> None:
    """Whatever limits are asked for, a place is had where fewer than that are taken or where it was
    had before; being turned away takes nobody's place.
    """
    dice = Random(7)  # noqa: S311

    async def work() -> None:
        async with opens() as store:
            inside: set[str] = set()
            for _ in range(200):
                owner, limit = f"o{dice.randrange(7)}", dice.randint(1, 5)
                if dice.random() < 0.3:
                    # Held for no time is given back, and known to be.
                    await hold(store, "lease", owner, limit, 0.0)
                    inside.discard(owner)
                    continue
                expected = owner in inside or len(inside) < limit
                assert await hold(store, "lease", owner, limit) is expected
                inside |= {owner} if expected else set()
                assert set(await sure(lambda: store.holders("lease"))) == inside

    run(work())


async def _given_back(store: Store, owner: str) -> bool:
    await store.drop("lease", owner)
    return await store.hold("lease", "new", 3, 60.0) is True


def test_scan_shows_what_is_under_a_prefix(opens: Opens) -> None:
    """A scan gives each key of the prefix once, with its value and the time it has left."""

    async def work() -> None:
        async with opens() as store:
            wanted = {f"a*[x]:{n}": str(n).encode() for n in range(120)}
            for key, value in {**wanted, "a*": b"no", "ab[x]:1": b"no", "b": b"no"}.items():
                await put(store, key, value)
            entries = [entry async for entry in store.scan("a*[x]:")]
            assert {key: value for key, value, _ in entries} == wanted
            assert len(entries) == len(wanted)
            assert all(30.0 < left <= 60.0 for _, _, left in entries)

    run(work())


def test_each_get_has_its_own_answer(opens: Opens) -> None:
    """However many ask at once, each gets the value of its key."""

    async def work() -> None:
        async with opens() as store:
            for n in range(0, 200, 2):
                await put(store, f"k{n}", str(n).encode())
            keys = [f"k{n}" for n in range(200)] * 2
            values = await asyncio.gather(*map(store.get, keys))
            wrong = [
                (key, value)
                for key, value in zip(keys, values, strict=True)
                if value not in (None, key[1:].encode())
            ]
            assert not wrong
            assert sum(value is not None for value in values) > 50

    run(work())


def test_a_cancelled_write_is_written(opens: Opens) -> None:
    """A caller that is cancelled in the middle of a put does not take the value with it."""

    async def work() -> None:
        async with opens() as store:
            await store.get("warm")
            task = asyncio.ensure_future(store.put("left", b"1", 60.0))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})
            await until(lambda: _is(store, "left", b"1"))

    run(work())


def test_works_no_more_when_closed(opens: Opens) -> None:
    """After closing, nothing is found, nothing is stored and nothing raises."""

    async def work() -> None:
        async with opens() as store:
            if isinstance(store, MemoryStore):
                return
            await put(store, "a", b"1")
            await store.aclose()
            assert await store.get("a") is None
            assert await store.put("b", b"1", 60.0) is False
            await store.aclose()

    run(work())
