"""Signs of life: which processes still have the callers that they wait for.

A held member counts only while its caller is there, and only the process that holds the connection
knows that. One sign per process says that it lives, however many members it has.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager

from judge_service.cohort.insist import insist
from judge_service.storage.signed import Signer
from judge_service.storage.store import Store

ALIVE_S = 4.0
"""A process that gave no sign for so long is dead, in seconds."""
BEAT_S = 0.25


class Presence:
    """The signs of this process, ``host``, and those of others in the same store."""

    def __init__(self, store: Store, signer: Signer) -> None:
        self._store = store
        self._signer = signer
        self.host = secrets.token_hex(8)
        self._members = 0
        self._beats = 0
        self._first: asyncio.Task[None] | None = None
        self._beating: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[str]:
        """Give signs as long as the block lasts, the first one before it begins."""
        self._members += 1
        try:
            if self._beating is None:
                self._first = asyncio.create_task(self._beat())
                self._beating = asyncio.create_task(self._go_on(self._first))
            if self._first is not None:
                await asyncio.shield(self._first)
            yield self.host
        finally:
            self._members -= 1
            if self._members == 0 and self._beating is not None:
                self._beating.cancel()
                self._first = self._beating = None

    async def signs(self, hosts: Iterable[str]) -> Mapping[str, bytes]:
        """The last sign of those hosts that live, this one aside. Raises StoreLost."""
        keys = {_key(host): host for host in hosts if host != self.host}
        found = await insist(lambda: self._store.find(*keys)) if keys else {}
        signs = {host: self._signer.check(key, found[key]) for key, host in keys.items()
                 if key in found}  # fmt: skip
        return {host: sign for host, sign in signs.items() if sign is not None}

    async def _go_on(self, first: asyncio.Task[None]) -> None:
        await asyncio.wait({first})
        while True:
            await asyncio.sleep(BEAT_S)
            await self._beat()

    async def _beat(self) -> None:
        self._beats += 1
        key = _key(self.host)
        await self._store.put(key, self._signer.sign(key, b"%d" % self._beats), ALIVE_S)


def _key(host: str) -> str:
    return f"jh:1:{host}"
