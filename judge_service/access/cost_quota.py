"""Dollars a day by name, counted in the store in millionths, so that all replicas share them.

What a request will cost is not known before it is over. While it runs, what requests of this name
usually cost is set aside, so that many at once do not run far over the limit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from judge_service.access.rate_quota import name_key
from judge_service.access.shared_count import SharedCount
from judge_service.storage.store import Store

DAY_S = 86_400
TTL_S = 2.0 * DAY_S
MICRO = 1_000_000
SMOOTHING = 0.1
"""How much one request changes what is thought usual, as a share."""


@dataclass(slots=True)
class _Account:
    """What this process knows of one name: dollars in millionths."""

    day: int = 0
    spent: int = 0
    aside: int = 0
    usual: float = 0.0
    rest: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What was set aside for a request of ``items`` items; ``stored`` of it in the store."""

    name: str
    day: int
    items: int
    aside: int
    stored: int


@dataclass(frozen=True, slots=True)
class OverLimit:
    """The day's money is spent; how many seconds until asking again may help."""

    retry_after_s: float


class CostQuota:
    """Counts dollars in ``store``. ``clock`` gives seconds since 1970; a day is one of UTC."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._count = SharedCount(store, TTL_S) if store.shared else None
        self._clock = clock
        self._accounts: dict[str, _Account] = {}

    async def reserve(self, name: str, limit_usd: float, items: int = 1) -> Reservation | OverLimit:
        """Set money aside for a request of ``items`` items, unless the day's is spent.

        Several items together have to fit; a single one is let through while anything is left.
        """
        now = self._clock()
        account = self._account(name)
        day = int(now // DAY_S)
        if account.day != day:
            account.day, account.spent, account.aside = day, 0, 0
        limit = limit_usd * MICRO
        aside = round(account.usual * items)
        before = account.spent + account.aside
        account.aside += aside
        shared = await self._add(name, day, aside)
        # A counter that lost its past (a store that was emptied) holds less than is known here.
        total = before + aside if shared is None else max(shared, before + aside)
        stored = 0 if shared is None else aside
        made = Reservation(name=name, day=day, items=items, aside=aside, stored=stored)
        if total - aside < limit and (items == 1 or total <= limit):
            return made
        await self._release(made, 0)
        # Money that is only set aside may be free again in a moment.
        spent = total - aside - account.aside
        return OverLimit(1.0 if spent < limit and account.aside else DAY_S - now % DAY_S)

    async def settle(self, made: Reservation, cost_usd: float, *, complete: bool = True) -> None:
        """Count what a request cost. Where that is not all of it (its caller hung up), at least
        what was set aside counts.
        """
        account = self._account(made.name)
        exact = max(0.0, cost_usd) * MICRO + account.rest
        whole = math.floor(exact)
        account.rest = exact - whole
        if not complete:
            await self._release(made, max(whole, made.aside))
            return
        await self._release(made, whole)
        each = max(0.0, cost_usd) * MICRO / made.items
        if each > 0:
            account.usual += (SMOOTHING if account.usual else 1.0) * (each - account.usual)

    async def _release(self, made: Reservation, spent: int) -> None:
        account = self._account(made.name)
        if account.day == made.day:
            account.aside -= made.aside
            account.spent += spent
        if spent != made.stored:
            await self._add(made.name, made.day, spent - made.stored)

    async def _add(self, name: str, day: int, amount: int) -> int | None:
        if self._count is None:
            return None
        return await self._count.add(f"jq:usd:{name_key(name)}:{day}", amount)

    def _account(self, name: str) -> _Account:
        return self._accounts.setdefault(name, _Account())
