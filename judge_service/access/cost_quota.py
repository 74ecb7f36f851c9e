"""Dollars a day by name, counted in the store in millionths, so that all replicas share them.

What a request will cost is not known before it is over. While it runs, what requests of this name
usually cost is set aside, so that many at once do not run far over the limit. Where that is not
known yet, one at a time finds out.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from judge_service.access.rate_quota import name_key
from judge_service.access.shared_count import SharedCount
from judge_service.access.usual_cost import UsualCost
from judge_service.storage.store import Store

DAY_S = 86_400
TTL_S = 2.0 * DAY_S
MICRO = 1_000_000


@dataclass(slots=True)
class _Account:
    """What this process knows of one name: dollars in millionths."""

    usual: UsualCost
    day: int = 0
    spent: int = 0
    aside: int = 0
    rest: float = 0.0
    trial: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(slots=True, kw_only=True)
class Reservation:
    """What is set aside for a request of ``items`` items; ``stored`` of it in the store.

    Where items are begun one by one (``apart``), ``used`` is what those that are over cost and what
    those that run usually do. ``trial`` says that this one finds out what requests cost,
    ``settled`` that it is over; an item of it may go on for others who wait for it.
    """

    name: str
    day: int
    items: int
    limit: float
    aside: int = 0
    stored: int = 0
    used: int = 0
    apart: bool = False
    trial: bool = False
    settled: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """An item that was begun: what is set aside for it, and whether it finds out the price."""

    aside: int = 0
    trial: bool = False


@dataclass(frozen=True, slots=True)
class OverLimit:
    """The day's money is spent; how many seconds until asking again may help. ``untried``: it is
    not, but the time ran out while another request was to show what one costs.
    """

    retry_after_s: float
    untried: bool = False


class CostQuota:
    """Counts dollars in ``store``. ``clock`` gives seconds since 1970; a day is one of UTC."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._count = SharedCount(store, TTL_S) if store.shared else None
        self._clock = clock
        self._accounts: dict[str, _Account] = {}

    async def reserve(
        self,
        name: str,
        limit_usd: float,
        items: int = 1,
        *,
        wait_s: float | None = None,
        apart: bool = False,
    ) -> Reservation | OverLimit:
        """Set money aside for a request of ``items`` items, unless the day's is spent.

        Several items together have to fit; a single one is let through while anything is left.
        With ``wait_s``, requests whose price nobody knows yet wait that long for each other. Where
        items cost nothing before they are begun one by one (``apart``), nothing is set aside yet.
        """
        limit = limit_usd * MICRO
        account = self._account(name)
        known = await account.usual.look_up(limit)
        trial = False
        if not known and wait_s is not None:
            try:
                trial = await self._turn(account, limit, wait_s)
            except TimeoutError:
                return OverLimit(1.0, untried=True)
        made = Reservation(
            name=name, day=self._today(account), items=items, limit=limit, apart=apart, trial=trial
        )
        try:
            return await self._fitted(made, account)
        except BaseException:
            self._pass_on(made)
            raise

    async def _fitted(self, made: Reservation, account: _Account) -> Reservation | OverLimit:
        aside = 0 if made.apart else round(account.usual.micro * made.items)
        total = await self._grow(made, aside)
        if total - aside < made.limit and (made.items == 1 or total <= made.limit):
            return made
        await self._release(made, 0)
        self._pass_on(made)
        # Money that is only set aside may be free again in a moment.
        spent = total - aside - account.aside
        soon = spent < made.limit and account.aside
        return OverLimit(1.0 if soon else DAY_S - self._clock() % DAY_S)

    async def begin(self, made: Reservation, wait_s: float) -> Part | None:
        """Begin one item of a request; None when what it usually costs does not fit any more.

        While nobody knows what that is, items go one after the other. Raises TimeoutError when
        the turn of this one does not come within ``wait_s``.
        """
        made.apart = True
        account = self._account(made.name)
        if not await account.usual.look_up(made.limit):
            made.trial = await self._turn(account, made.limit, wait_s)
        part = Part(round(account.usual.micro), made.trial)
        made.used += part.aside
        short = max(0, made.used - made.aside)
        if short == 0 and part.aside > 0:
            return part
        total = await self._grow(made, short)
        if total < made.limit or (part.aside > 0 and total <= made.limit):
            return part
        made.used -= part.aside
        if part.trial:
            self._pass_on(made)
        await self._grow(made, -short)
        return None

    async def end(self, made: Reservation, part: Part, cost_usd: float, *, free: bool) -> None:
        """Count what an item that was begun cost. ``free``: a judge was asked and has no price."""
        account = self._account(made.name)
        more = self._whole(account, cost_usd) - part.aside
        made.used += more
        if made.settled:
            await self._correct(made, more)
        elif made.used > made.aside:
            await self._grow(made, made.used - made.aside)
        await account.usual.learn(max(0.0, cost_usd) * MICRO, made.day, free=free)
        if part.trial:
            self._pass_on(made)

    async def settle(
        self, made: Reservation, cost_usd: float, *, complete: bool = True, free: bool = False
    ) -> None:
        """Count what a request cost. Where that is not all of it (its caller hung up), at least
        what was set aside counts; of items begun one by one, only those that were begun.
        """
        account = self._account(made.name)
        made.settled = True
        try:
            if made.apart:
                await self._release(made, made.used)
                return
            whole = self._whole(account, cost_usd)
            if not complete:
                await self._release(made, max(whole, made.aside))
                return
            await self._release(made, whole)
            each = max(0.0, cost_usd) * MICRO / made.items
            await account.usual.learn(each, made.day, free=free)
        finally:
            self._pass_on(made)

    async def _turn(self, account: _Account, limit: float, wait_s: float) -> bool:
        """Wait until nobody else is finding out the price; whether the caller is to do that."""
        async with asyncio.timeout(wait_s):
            await account.trial.acquire()
        known = True
        try:
            known = await account.usual.look_up(limit)
        finally:
            if known:
                account.trial.release()
        return not known

    def _pass_on(self, made: Reservation) -> None:
        if made.trial:
            made.trial = False
            self._account(made.name).trial.release()

    async def _grow(self, made: Reservation, amount: int) -> int:
        """Set more aside; what is spent and set aside in all then."""
        account = self._account(made.name)
        known = 0
        made.aside += amount
        if account.day == made.day:
            account.aside += amount
            known = account.spent + account.aside
        # It goes there even if nobody waits for the answer any more.
        made.stored += amount
        shared = await self._add(made.name, made.day, amount)
        if shared is None:
            made.stored -= amount
            return known
        # A counter that lost its past (a store that was emptied) holds less than is known here.
        return max(shared, known)

    async def _release(self, made: Reservation, spent: int) -> None:
        account = self._account(made.name)
        if account.day == made.day:
            account.aside -= made.aside
            account.spent += spent
        owed = spent - made.stored
        made.aside = made.stored = 0
        if owed:
            await self._add(made.name, made.day, owed)

    async def _correct(self, made: Reservation, more: int) -> None:
        """What was taken for spent by an item that went on was so much more, or less."""
        account = self._account(made.name)
        if account.day == made.day:
            account.spent += more
        if more:
            await self._add(made.name, made.day, more)

    async def _add(self, name: str, day: int, amount: int) -> int | None:
        if self._count is None:
            return None
        return await self._count.add(f"jq:usd:{name_key(name)}:{day}", amount)

    def _account(self, name: str) -> _Account:
        account = self._accounts.get(name)
        if account is None:
            account = _Account(UsualCost(self._store, name))
            self._accounts[name] = account
        return account

    def _today(self, account: _Account) -> int:
        day = int(self._clock() // DAY_S)
        if account.day != day:
            account.day, account.spent, account.aside = day, 0, 0
        return day

    @staticmethod
    def _whole(account: _Account, cost_usd: float) -> int:
        """Whole millionths; what is left over counts with the next."""
        exact = max(0.0, cost_usd) * MICRO + account.rest
        whole = math.floor(exact)
        account.rest = exact - whole
        return whole
