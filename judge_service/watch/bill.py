"""What background requests cost: apart from callers' usage, and up to a day's ceiling."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from judge_service.events import Observer, WatchSpent
from judge_service.storage.store import Store
from judge_service.usage import Usage

Watch = Literal["sentinel", "shadow"]
PREFIX = "jw:2:spent:"
DAY_S = 86_400
MICRO = 1_000_000


@dataclass(slots=True)
class Reserved:
    """What is expected of work that begins, counted already; ``open`` until it is settled."""

    day: int
    micros: int
    requests: int
    open: bool = True


@dataclass(slots=True, kw_only=True)
class Bill:
    """Counts by judge, and by UTC day together with the other processes that share the store.

    A store that cannot say leaves a process with its own count. Requests whose cost is not known
    count as requests only, so ``daily_requests`` bounds them.
    """

    watch: Watch
    daily_cost_usd: float
    daily_requests: int
    store: Store
    tell: Observer
    wall: Callable[[], float] = time.time
    by_judge: dict[str, Usage] = field(default_factory=dict)
    _day: int = -1
    _micros: int = 0
    _requests: int = 0

    async def reserve(self, requests: int) -> Reserved | None:
        """Count so many requests, and what they have cost on average; None where that would be
        beyond the ceiling. Who works at the same time counts first, so that all together stay below
        it; only retries come on top.
        """
        expected = Reserved(self._today(), round(self._mean() * requests), requests)
        micros, count = await self._count(expected.micros, requests)
        ceiling = self.daily_cost_usd * MICRO
        if (
            micros <= ceiling
            and micros - expected.micros < ceiling
            and count <= self.daily_requests
        ):
            return expected
        await self.release(expected)
        return None

    async def release(self, reserved: Reserved) -> None:
        """Nothing was sent."""
        await self._settle(reserved, 0, 0)

    async def spent(self, judge: str, usage: Usage, reserved: Reserved) -> None:
        """Count what was spent instead of what was expected."""
        self.by_judge[judge] = self.by_judge.get(judge, Usage()) + usage
        self.tell(WatchSpent(self.watch, judge, usage))
        micros = round((usage.cost_usd or 0.0) * MICRO)
        await self._settle(reserved, micros, usage.upstream_requests)

    async def _settle(self, reserved: Reserved, micros: int, requests: int) -> None:
        if not reserved.open:
            return
        reserved.open = False
        if reserved.day == self._today():
            micros, requests = micros - reserved.micros, requests - reserved.requests
        await self._count(micros, requests)

    def _mean(self) -> float:
        """Of a request, in millionths of a dollar; 0.0 before anything is known."""
        usages = self.by_judge.values()
        requests = sum(usage.upstream_requests for usage in usages)
        cost = sum(usage.cost_usd or 0.0 for usage in usages)
        return cost * MICRO / requests if requests else 0.0

    def _today(self) -> int:
        return int(self.wall() // DAY_S)

    async def _count(self, micros: int, requests: int) -> tuple[int, int]:
        day = self._today()
        if day != self._day:
            self._day, self._micros, self._requests = day, 0, 0
        self._micros += micros
        self._requests += requests
        key = f"{PREFIX}{self.watch}:{day}"
        shared_micros = await self.store.add(f"{key}:usd", micros, 2 * DAY_S)
        shared_requests = await self.store.add(f"{key}:requests", requests, 2 * DAY_S)
        return (
            max(self._micros, shared_micros or 0),
            max(self._requests, shared_requests or 0),
        )

    def wire(self) -> dict[str, Any]:
        """JSON: what this process has spent since its start, by judge, and the ceilings."""
        return {
            "daily_cost_usd": self.daily_cost_usd,
            "daily_requests": self.daily_requests,
            "usage": [
                {
                    "judge": judge,
                    "upstream_requests": usage.upstream_requests,
                    "prompt_tokens": usage.prompt_tokens,
                    "completion_tokens": usage.completion_tokens,
                    "cost_usd": usage.cost_usd,
                }
                for judge, usage in self.by_judge.items()
            ],
        }
