"""How much a caller may ask for: the quotas of a key's name, counted for all replicas together."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from judge_service.access.cost_quota import CostQuota, OverLimit, Reservation
from judge_service.access.key_ring import Caller
from judge_service.access.rate_quota import RateQuota
from judge_service.events import Observer, QuotaRefused, nobody
from judge_service.outcome import Common
from judge_service.storage.store import Store
from judge_service.usage import Usage


class QuotaExceeded(Exception):
    """The caller has to wait ``retry_after_s`` seconds; the message says which quota it is."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


@dataclass(slots=True)
class Admission:
    """A request that was let in. ``spent`` collects what its outcomes cost, failed ones too."""

    reservation: Reservation | None = None
    cost_usd: float = 0.0

    def spent(self, outcome: Common) -> None:
        """Count what an outcome cost. Calls without a known price count as nothing."""
        self.used(outcome.usage)
        if outcome.usage.cost_usd is None:
            self.cost_usd += sum(v.usage.cost_usd or 0.0 for v in outcome.verdicts)

    def used(self, usage: Usage) -> None:
        """Count what was spent. A sum with an unknown part counts as nothing."""
        self.cost_usd += usage.cost_usd or 0.0


class Quotas:
    """The quotas of all callers. ``clock`` gives seconds since 1970."""

    def __init__(
        self,
        store: Store,
        observer: Observer = nobody,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._rate = RateQuota(store, clock=clock)
        self._cost = CostQuota(store, clock=clock)
        self._observer = observer

    async def admit(self, caller: Caller, items: int = 1) -> Admission:
        """Let a request of ``items`` items in, and count them. Raises QuotaExceeded."""
        if caller.rpm is not None:
            wait_s = await self._rate.take(caller.name, caller.rpm, items)
            if wait_s is not None:
                what = f"this key may send {caller.rpm:,} requests a minute"
                if items > caller.rpm:
                    what += f", and {items:,} items count as that many"
                raise self._refused("rpm", what, wait_s)
        if caller.daily_cost_usd is None:
            return Admission()
        made = await self._cost.reserve(caller.name, caller.daily_cost_usd, items)
        if isinstance(made, OverLimit):
            if caller.rpm is not None:
                await self._rate.give_back(caller.name, items)
            what = f"this key may spend {caller.daily_cost_usd:g} dollars a day (UTC)"
            raise self._refused("daily_cost_usd", what, made.retry_after_s)
        return Admission(made)

    async def settle(self, admission: Admission, *, complete: bool = True) -> None:
        """Count what an admitted request cost; not ``complete``: it was given up half way."""
        if admission.reservation is not None:
            await self._cost.settle(admission.reservation, admission.cost_usd, complete=complete)

    def _refused(
        self, quota: Literal["rpm", "daily_cost_usd"], what: str, wait_s: float
    ) -> QuotaExceeded:
        self._observer(QuotaRefused(quota))
        return QuotaExceeded(what, retry_after_s=wait_s)
