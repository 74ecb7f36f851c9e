"""What requests of one name usually cost, kept in the store for other workers and for a restart."""

from __future__ import annotations

import math
import re

from judge_service.access.rate_quota import name_key
from judge_service.storage.store import Store

SMOOTHING = 0.1
"""How much one request changes what is thought usual, as a share."""
TELL_SHARE = 0.1
"""How far, as a share, it moves before others are told."""
TTL_S = 7.0 * 86_400
MAX_MICRO = 10**12
_STORED = re.compile(rb"[1-9][0-9]{0,12}")


class UsualCost:
    """``micro`` is in millionths of a dollar, 0.0 while it is not known or nothing."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._key = f"jq:usual:{name_key(name)}"
        self._known = False
        self._told = 0.0
        self._told_day = 0
        self.micro = 0.0

    async def look_up(self, limit: float) -> bool:
        """Whether it is known, here or in the store.

        A store is not trusted: what is no whole number of millionths, or above ``limit``, counts
        as not known.
        """
        if not self._known and self._store.shared:
            self._take(await self._store.get(self._key), limit)
        return self._known

    def _take(self, data: bytes | None, limit: float) -> None:
        """Believe what others told, unless it was found out here in the meantime."""
        if self._known or data is None or not _STORED.fullmatch(data):
            return
        micro = float(int(data))
        if micro <= min(limit, MAX_MICRO):
            self._known, self.micro, self._told = True, micro, micro

    async def learn(self, micro: float, day: int, *, free: bool) -> None:
        """Take note of what a request cost. Nothing says nothing (a cache, a failure), unless it
        was ``free``: judges were asked, and they have no price.
        """
        self._known = self._known or free
        if not 0 < micro <= MAX_MICRO:
            return
        self._known = True
        self.micro += (SMOOTHING if self.micro else 1.0) * (micro - self.micro)
        moved = abs(self.micro - self._told) > TELL_SHARE * self._told
        if self._store.shared and (moved or day != self._told_day):
            self._told, self._told_day = self.micro, day
            await self._store.put(self._key, b"%d" % math.ceil(self.micro), TTL_S)
