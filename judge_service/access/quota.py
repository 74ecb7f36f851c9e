"""How much a caller may ask for: the quotas of a key's name, counted for all replicas together."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from judge_service.access.cost_quota import CostQuota, OverLimit, Part, Reservation
from judge_service.access.key_ring import Caller
from judge_service.access.rate_quota import RateQuota
from judge_service.errors import JudgingError
from judge_service.events import Observer, QuotaRefused, nobody
from judge_service.outcome import Common
from judge_service.storage.store import Store


class QuotaExceeded(Exception):
    """The caller has to wait ``retry_after_s`` seconds; the message says which quota it is."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


@dataclass(slots=True)
class Admission:
    """A request that was let in. ``spent`` collects what its outcomes cost, failed ones too.

    ``waited_s`` of its time, in seconds, it waited to be let in.
    """

    reservation: Reservation | None = None
    quota: CostQuota | None = None
    cost_usd: float = 0.0
    free: bool = False
    waited_s: float = 0.0

    def spent(self, outcome: Common) -> None:
        """Count what an outcome cost. Calls without a known price count as nothing."""
        cost_usd = _cost_of(outcome)
        self.cost_usd += cost_usd
        self.free = self.free or _is_free(outcome, cost_usd)

    @property
    def limited(self) -> bool:
        """Whether the money of its caller is counted."""
        return self.reservation is not None

    async def begin(self, wait_s: float) -> Part | None:
        """Begin one item of several; None when the day's money has no room for it any more.

        Raises TimeoutError when its turn does not come within ``wait_s``.
        """
        if self.reservation is None or self.quota is None:
            return Part()
        return await self.quota.begin(self.reservation, wait_s)

    async def end(self, part: Part, outcome: Common) -> None:
        """Count what an item that was begun cost."""
        self.spent(outcome)
        if self.reservation is not None and self.quota is not None:
            cost_usd = _cost_of(outcome)
            free = _is_free(outcome, cost_usd)
            await self.quota.end(self.reservation, part, cost_usd, free=free)


def _cost_of(outcome: Common) -> float:
    if outcome.usage.cost_usd is not None:
        return outcome.usage.cost_usd
    return sum(v.usage.cost_usd or 0.0 for v in outcome.verdicts)


def _is_free(outcome: Common, cost_usd: float) -> bool:
    """Whether judges were asked, answered, and have no price."""
    error: JudgingError | None = getattr(outcome, "error", None)
    return error is None and outcome.usage.upstream_requests > 0 and cost_usd == 0


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

    async def admit(
        self,
        caller: Caller,
        items: int = 1,
        *,
        wait_s: float | None = None,
        apart: bool = False,
    ) -> Admission:
        """Let a request of ``items`` items in, and count them. Raises QuotaExceeded.

        With ``wait_s``, it may wait that long for another one that shows what requests cost;
        ``apart`` says that each item is begun, and paid for, by itself.
        """
        if caller.rpm is not None:
            retry_s = await self._rate.take(caller.name, caller.rpm, items)
            if retry_s is not None:
                what = f"this key may send {caller.rpm:,} requests a minute"
                if items > caller.rpm:
                    what += f", and {items:,} items count as that many"
                raise self._refused("rpm", what, retry_s)
        if caller.daily_cost_usd is None:
            return Admission()
        started = time.monotonic()
        made = await self._cost.reserve(
            caller.name, caller.daily_cost_usd, items, wait_s=wait_s, apart=apart
        )
        if isinstance(made, OverLimit):
            if caller.rpm is not None:
                await self._rate.give_back(caller.name, items)
            what = f"this key may spend {caller.daily_cost_usd:g} dollars a day (UTC)"
            if made.untried:
                what += ", and a request before this one is still to show what one costs"
            raise self._refused("daily_cost_usd", what, made.retry_after_s)
        return Admission(made, self._cost, waited_s=time.monotonic() - started)

    async def settle(self, admission: Admission, *, complete: bool = True) -> None:
        """Count what an admitted request cost; not ``complete``: it was given up half way."""
        if admission.reservation is not None:
            await self._cost.settle(
                admission.reservation, admission.cost_usd, complete=complete, free=admission.free
            )

    def _refused(
        self, quota: Literal["rpm", "daily_cost_usd"], what: str, wait_s: float
    ) -> QuotaExceeded:
        self._observer(QuotaRefused(quota))
        return QuotaExceeded(what, retry_after_s=wait_s)
