"""Numbers for members that nothing but their text tells apart.

Two connections that bring the same text at one time are two members, and so they have different
numbers. One that comes back after its connection was lost gets the number it had: it is free again.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

from judge_service.cohort.insist import StoreLost, insist
from judge_service.storage.memory_store import MemoryStore
from judge_service.storage.store import Store

LEASE_S = 5.0
"""How long the number of a process that died is taken, in seconds."""
RENEW_S = 1.5
MOST = 4_096


class Seats:
    """The numbers of one service's members, shared by all replicas of a shared store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._here = MemoryStore()

    @asynccontextmanager
    async def seat(self, *scope: str) -> AsyncIterator[int]:
        """The smallest number, from 0, that nobody else holds in ``scope`` while the block lasts.

        While the store cannot say, only members of this process are told apart.
        """
        digest = hashlib.sha256("\x00".join(scope).encode("utf-8", "surrogatepass")).hexdigest()
        owner = secrets.token_hex(8)
        store, number = await self._take(f"jm:1:{digest}", owner)
        key = f"jm:1:{digest}:{number}"
        renewing = asyncio.create_task(self._renew(store, key, owner))
        try:
            yield number
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            await store.drop(key, owner)

    async def _take(self, name: str, owner: str) -> tuple[Store, int]:
        for store in (self._store, self._here):
            with suppress(StoreLost):
                for number in range(MOST):
                    if await insist(partial(store.hold, f"{name}:{number}", owner, 1, LEASE_S)):
                        return store, number
        # More than any group can have: they are all the same member from here on.
        return self._here, MOST

    async def _renew(self, store: Store, key: str, owner: str) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            await store.hold(key, owner, 1, LEASE_S)
