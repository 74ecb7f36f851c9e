"""Which store the settings open, and what happens when it cannot be."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from judge_service.adapters.opening import open_store
from judge_service.adapters.redis_store import RedisStore
from judge_service.adapters.sqlite_store import SqliteStore
from judge_service.errors import ConfigError
from judge_service.events import nobody
from judge_service.settings import Settings
from judge_service.storage.memory_store import MemoryStore
from judge_service.storage.store import Store


def kind_of(settings: Settings) -> type[Store]:
    """The kind of store that is opened, after closing it."""

    async def work() -> type[Store]:
        store = open_store(settings, nobody)
        await store.aclose()
        return type(store)

    return asyncio.run(work())


def test_redis_before_file_before_memory(tmp_path: Path) -> None:
    """A Redis URL wins over a file, a named file over the default one, memory is the last."""
    named, default = tmp_path / "named" / "a.db", tmp_path / "default" / "b.db"
    redis = "redis://127.0.0.1:1"

    assert kind_of(Settings(redis_url=redis, secret="s" * 32, store=named)) is RedisStore
    assert kind_of(Settings(store=named, default_store=default)) is SqliteStore
    assert named.exists()
    assert not default.exists()
    assert kind_of(Settings(default_store=default)) is SqliteStore
    assert default.exists()
    assert kind_of(Settings()) is MemoryStore


def test_a_bad_url_is_a_start_error() -> None:
    """A URL that cannot be right stops the start; one whose Redis is down does not."""
    with pytest.raises(ConfigError, match="JUDGE_SERVICE_REDIS_URL"):
        open_store(Settings(redis_url="redis://:hunter2/@h", secret="s" * 32), nobody)


def test_options_that_are_not_used_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """Timeouts in the URL do not change the service's own, which is said."""
    kind_of(Settings(redis_url="redis://:hunter2@h?socket_timeout=9", secret="s" * 32))

    assert "socket_timeout" in caplog.text
    assert "hunter2" not in caplog.text


def test_a_named_file_that_cannot_be_is_a_start_error(tmp_path: Path) -> None:
    """A file that was asked for and cannot be made, or is a folder, stops the start."""
    (tmp_path / "file").write_text("", encoding="ascii")
    for path in (tmp_path / "file" / "under" / "s.db", tmp_path):
        with pytest.raises(ConfigError, match="JUDGE_SERVICE_STORE"):
            open_store(Settings(store=path), nobody)


def test_a_default_file_that_cannot_be_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where nobody asked for a file, memory does, and says so."""
    (tmp_path / "file").write_text("", encoding="ascii")

    assert kind_of(Settings(default_store=tmp_path / "file" / "s.db")) is MemoryStore
    assert [r.levelname for r in caplog.records] == ["WARNING"]
