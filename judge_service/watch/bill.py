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
PREFIX = "jw:1:spent:"
DAY_S = 86_400
MICRO = 1_000_000


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

    async def has_room(self) -> bool:
        """Whether one more request may be sent today."""
        micros, requests = await self._count(0, 0)
        return micros < self.daily_cost_usd * MICRO and requests < self.daily_requests

    async def spent(self, judge: str, usage: Usage) -> None:
        """Count what was spent."""
        self.by_judge[judge] = self.by_judge.get(judge, Usage()) + usage
        self.tell(WatchSpent(self.watch, judge, usage))
        await self._count(round((usage.cost_usd or 0.0) * MICRO), usage.upstream_requests)

    async def _count(self, micros: int, requests: int) -> tuple[int, int]:
        day = int(self.wall() // DAY_S)
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
