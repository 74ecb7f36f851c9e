"""Opens the store that the settings name."""

from __future__ import annotations

import logging

from judge_service.adapters.redis_url import parse_redis_url
from judge_service.adapters.sqlite_store import SqliteStore
from judge_service.errors import ConfigError
from judge_service.events import Observer
from judge_service.settings import PREFIX, Settings
from judge_service.storage.memory_store import MemoryStore
from judge_service.storage.store import Store, StoreError

log = logging.getLogger("judge_service.store")


def open_store(settings: Settings, observer: Observer) -> Store:
    """Redis when there is a URL, else the embedded store's file, else this process's memory.

    A Redis that is down is no error, for it may come up. Raises ConfigError for a URL that cannot
    be right and for a file that was named and cannot be used.
    """
    if settings.redis_url is not None:
        target = parse_redis_url(settings.redis_url)
        if target.not_used:
            log.warning(
                "%sREDIS_URL: not used, for every operation has its own limits: %s",
                PREFIX,
                ", ".join(target.not_used),
            )
        from judge_service.adapters.redis_store import RedisStore  # its client is slow to load

        return RedisStore(target, observer)
    file = settings.store or settings.default_store
    if file is None:
        return MemoryStore()
    try:
        return SqliteStore(file, observer=observer)
    except StoreError as error:
        if settings.store is not None:
            raise ConfigError(f"{PREFIX}STORE: {error}") from None
        log.warning("%s; verdicts are kept in memory only", error)
        return MemoryStore()
