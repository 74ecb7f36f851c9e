"""Stores for tests: one that several replicas share, and one that cannot be reached."""

from __future__ import annotations

from judge_service.storage.memory_store import MemoryStore


class SharedStore(MemoryStore):
    """A store that says it is shared. While it is ``gone`` it cannot say anything."""

    gone = False

    @property
    def shared(self) -> bool:
        """Others may see the same data."""
        return True

    async def get(self, key: str) -> bytes | None:
        """The value."""
        return None if self.gone else await super().get(key)

    async def put_new(self, key: str, value: bytes, ttl_s: float) -> bool | None:
        """Store unless the key exists."""
        return None if self.gone else await super().put_new(key, value, ttl_s)

    async def add(self, key: str, amount: int, ttl_s: float) -> int | None:
        """Count."""
        return None if self.gone else await super().add(key, amount, ttl_s)


class Clock:
    """A clock that goes when it is told to; it begins within a day, a slot and a second."""

    def __init__(self, now: float = 1_800_000_000.5) -> None:
        self.now = now

    def __call__(self) -> float:
        """The seconds since 1970."""
        return self.now
