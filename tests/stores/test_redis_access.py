"""Who may come in to Redis: passwords that are wrong or missing, and users who may do little."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judge_service.storage.store import Store
from tests.redis_server import RedisServer
from tests.stores.support import found, gives_up, hold, is_well, put, redis_store, run, sure
from tests.stores.support import until as eventually


def test_wrong_password(own_redis: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
    """A wrong password is said to be one, is in no log, and the right one later is enough."""
    own_redis.configure("requirepass", "right-one")
    url = f"redis://:wrong-one@127.0.0.1:{own_redis.port}/0"

    async def work() -> None:
        async with redis_store(url) as store:
            trouble = str(await store.trouble())
            assert "authentication" in trouble
            assert await store.put("a", b"1", 60.0) is False
            await eventually(lambda: gives_up(store))
            own_redis.configure("requirepass", "wrong-one")
            await eventually(lambda: is_well(store))

    run(work())
    assert caplog.records
    assert "wrong-one" not in caplog.text


def test_no_password_given(own_redis: RedisServer) -> None:
    """A Redis that wants a password where none is given is in trouble over authentication."""
    own_redis.configure("requirepass", "right-one")

    async def work() -> None:
        async with redis_store(own_redis.url) as store:
            assert "authentication" in str(await store.trouble())

    run(work())


def test_narrow_user(own_redis: RedisServer) -> None:
    """A user who may do no more than the simple commands on some keys can be the service's."""
    own_redis.command(
        "ACL", "SETUSER", "judge", "on", ">secret", "~jv:*", "+get", "+set", "+del", "+expire",
        "+ping",
    )  # fmt: skip

    async def work() -> None:
        async with redis_store(f"redis://judge:secret@127.0.0.1:{own_redis.port}") as store:
            assert await store.trouble() is None
            await put(store, "jv:a", b"1")
            assert await found(store, "jv:a") == b"1"
            assert await store.put("other", b"1", 60.0) is False
            assert await store.add("jv:n", 1, 60.0) is None
            assert await store.hold("jv:h", "me", 1, 60.0) is None
            assert await found(store, "jv:a") == b"1"

    run(work())


def test_the_documented_user(own_redis: RedisServer) -> None:
    """A user with the commands that docs/operations.md names can do all that a store does."""
    text = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
    named = re.search(r"An access list that allows `([A-Z\s]+)`\s+on `j\*`", text)
    assert named is not None
    allowed = [f"+{command.lower()}" for command in named[1].split()]
    own_redis.command("ACL", "SETUSER", "judge", "on", ">secret", "~j*", *allowed)

    async def work() -> None:
        async with redis_store(f"redis://judge:secret@127.0.0.1:{own_redis.port}") as store:
            await put(store, "jv:a", b"1")
            assert await found(store, "jv:a") == b"1"
            assert await sure(lambda: store.put_new("jv:a", b"2", 60.0)) is False
            assert await sure(lambda: store.add("jv:n", 2, 60.0)) == 2
            assert await hold(store, "jv:h", "me") is True
            assert await hold(store, "jv:h", "you") is False
            assert await sure(lambda: store.holders("jv:h")) == ["me"]
            await eventually(lambda: _is_free(store))
            assert [key async for key, _, _ in store.scan("jv:a")] == ["jv:a"]
            assert await sure(lambda: store.delete("jv:a")) == 1
            assert await store.trouble() is None

    run(work())


async def _is_free(store: Store) -> bool:
    await store.drop("jv:h", "me")
    return await store.hold("jv:h", "you", 1, 60.0) is True
