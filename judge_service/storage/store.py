"""The seam to what outlives a request and is shared: verdicts, counters, leases.

Adapters implement ``Store`` over Redis, over an SQLite file, or in this process's memory. A store
may be slow, full or gone at any moment; it never raises and never takes longer than its own limit
(some 50 ms): what cannot be had is ``None``, and the caller goes on without it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from enum import Enum
from typing import Final, Literal, Protocol, TypeAlias

FOREVER_S = 10 * 365 * 86400.0
"""For what must not run out by itself; every key has a time to live all the same."""


class Unknown(Enum):
    """What a store says that cannot say anything."""

    UNKNOWN = "the store cannot say"


UNKNOWN: Final = Unknown.UNKNOWN
"""In place of a value: the store cannot say just now."""
Found: TypeAlias = bytes | Literal[Unknown.UNKNOWN] | None


class Store(Protocol):
    """Bytes by key, counters and leases, each with a time to live in seconds.

    Keys are ASCII without spaces. Values may be anything a hostile writer has put there.
    """

    @property
    def shared(self) -> bool:
        """Whether other processes see the same data."""

    @property
    def alone(self) -> bool:
        """Whether no other process sees the data just now, which may change at any moment. False
        where that is not known.
        """

    @property
    def recovered_at(self) -> float:
        """When the store was last found again after it was lost, by the monotonic clock; what was
        put before may be gone. 0.0 when it never was.
        """

    async def look_up(self, key: str) -> Found:
        """The value, None when there is none, UNKNOWN when the store cannot say. Look-ups of one
        moment travel together, so that those of a group cost one round trip.
        """

    async def get(self, key: str) -> bytes | None:
        """The same; None also when the store cannot say."""

    async def find(self, *keys: str) -> dict[str, bytes] | None:
        """The values of those keys that are there; None when the store cannot say."""

    async def put(self, key: str, value: bytes, ttl_s: float) -> bool:
        """Store or replace; whether it was stored."""

    async def put_soon(self, key: str, value: bytes, ttl_s: float) -> None:
        """Store or replace. Returns as soon as whoever looks finds it, which may be before it is
        stored; what is in the way of that is told to the observer.
        """

    async def put_new(self, key: str, value: bytes, ttl_s: float) -> bool | None:
        """Store unless the key exists. None when the store cannot say."""

    async def delete(self, *keys: str) -> int:
        """Remove keys; how many there were."""

    async def add(self, key: str, amount: int, ttl_s: float) -> int | None:
        """Add to a counter (negative takes away) and return the new count; a new counter begins
        at 0 and lives ``ttl_s``. None when the store cannot be reached.
        """

    async def hold(self, key: str, owner: str, limit: int, ttl_s: float) -> bool | None:
        """Take one of ``limit`` places under ``key`` for ``ttl_s``, or renew the place that
        ``owner`` has. False when all are taken, None when the store cannot say.
        """

    async def holders(self, key: str) -> list[str] | None:
        """The owners that have a place under ``key`` now; None when the store cannot say."""

    async def drop(self, key: str, owner: str) -> None:
        """Give a place back."""

    async def trouble(self) -> str | None:
        """What is wrong with the store just now, one short sentence; None when nothing is."""

    def scan(self, prefix: str) -> AsyncIterator[tuple[str, bytes, float]]:
        """Every key with that prefix, its value and the seconds it has left.

        For operators' tools: unlike the rest it takes its time, and raises StoreError.
        """

    async def aclose(self) -> None:
        """Release connections and files."""


class StoreError(Exception):
    """A store could not do what an operator's tool asked of it; the message is readable."""
