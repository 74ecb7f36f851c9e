"""Asking what is missing: a few items at a time, within a ceiling of cost, told as it goes."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from judge_service.drift.asking import SideAsker
from judge_service.drift.journal import Journal
from judge_service.drift.judgement import Judgement
from judge_service.drift.plan import Place, Plan, SideName
from judge_service.errors import ConfigError, RequestError
from judge_service.gold.item import GoldItem
from judge_service.gold.scale import off_scale, scales_of

MAX_FAULTS = 10
FIRST_LOOK = 8
"""How many judgements an estimate of cost and time needs."""


class UnknownPrice(ConfigError):
    """A ceiling cannot be kept with a judge whose price is not known."""


@dataclass(slots=True, kw_only=True)
class Progress:
    """How a run goes. ``asked`` are judgements of this process, ``known`` those there before, which
    cost ``known_usd``.
    """

    total: int
    known: int
    known_usd: float = 0.0
    asked: int = 0
    failed: int = 0
    requests: int = 0
    cost_usd: float = 0.0
    unknown_cost_calls: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> int:
        """Judgements still to be asked for."""
        return self.total - self.known - self.asked

    def count(self, judgement: Judgement) -> None:
        """One more."""
        self.asked += 1
        self.failed += judgement.status == "failed"
        self.requests += judgement.usage.upstream_requests
        self.cost_usd += judgement.usage.cost_usd or 0.0
        self.unknown_cost_calls += judgement.usage.unknown_cost_calls

    def rate(self) -> float:
        """Judgements per second."""
        return self.asked / max(1e-9, time.monotonic() - self.started)

    def seconds_left(self) -> float | None:
        """About how long the rest takes; None until enough was asked to tell."""
        return self.left / self.rate() if self.asked >= FIRST_LOOK else None

    def cost_expected(self) -> float | None:
        """About what this process will have spent at the end, in USD; None until it can be told."""
        if self.asked < FIRST_LOOK or self.unknown_cost_calls:
            return None
        return self.cost_usd / self.asked * (self.asked + self.left)


Watch = Callable[[Progress], None]


@dataclass(slots=True, kw_only=True)
class Runner:
    """Asks both sides. ``ceiling_usd`` stops before a judgement that might go beyond it, with what
    an interrupted run had spent before.

    ``go`` can be called again, by another process too: it asks only what the journal lacks.
    """

    plan: Plan
    askers: Mapping[SideName, SideAsker]
    journal: Journal
    concurrency: int = 8
    ceiling_usd: float | None = None
    retry_failed: bool = False
    watch: Watch = lambda _: None
    stopped: str | None = None
    _in_flight: int = 0
    _dearest: float = 0.0

    def check(self) -> None:
        """Raise ConfigError for items that can never be asked about, or whose labels are not on the
        scale and could not be compared with a point, before anything is spent.
        """
        rubrics = {asker.side.rubric.id: asker.side.rubric for asker in self.askers.values()}
        faults = [
            f"{fault} of rubric {rubric.id!r}"
            for rubric in rubrics.values()
            for fault in off_scale(self.plan.gold.items, scales_of(rubric))
        ]
        for item in self.plan.gold.items:
            for asker in self.askers.values():
                try:
                    asker.check(item)
                except RequestError as error:
                    faults.append(f"item {item.id!r}: {error}")
                    break
        if faults:
            more = [f"and {len(faults) - MAX_FAULTS} more"] if len(faults) > MAX_FAULTS else []
            raise ConfigError("\n".join(faults[:MAX_FAULTS] + more))

    async def go(self) -> Progress:
        """Ask; ``stopped`` says why not everything was asked, if so."""
        places = self.plan.places()
        wanted = [(place, item) for place, item in places if self._is_wanted(place)]
        costs = [found.usage.cost_usd or 0.0 for found in self.journal.found.values()]
        progress = Progress(
            total=len(places), known=len(places) - len(wanted), known_usd=math.fsum(costs)
        )
        self._dearest = max(costs, default=0.0)
        self.watch(progress)
        waiting = iter(wanted)

        async def work() -> None:
            # All draw from one iterator, so the next free one takes the next item.
            for place, item in self._within(waiting, progress):
                self._in_flight += 1
                try:
                    judgement = await self.askers[place.side].judge(item)
                finally:
                    self._in_flight -= 1
                self.journal.add(place, judgement)
                progress.count(judgement)
                self._dearest = max(self._dearest, judgement.usage.cost_usd or 0.0)
                self._check_price(progress)
                self.watch(progress)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.concurrency, len(wanted))):
                    group.create_task(work())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return progress

    def _is_wanted(self, place: Place) -> bool:
        known = self.journal.found.get(place)
        if known is None:
            return True
        return self.retry_failed and known.status == "failed" and known.retryable

    def _within(
        self, waiting: Iterator[tuple[Place, GoldItem]], progress: Progress
    ) -> Iterator[tuple[Place, GoldItem]]:
        for place, item in waiting:
            if self.ceiling_usd is not None:
                # As dear as the dearest so far: a ceiling that was passed is none.
                spent = progress.known_usd + progress.cost_usd
                if spent + (self._in_flight + 1) * self._dearest > self.ceiling_usd:
                    self.stopped = (
                        f"the ceiling of ${self.ceiling_usd:g} would be passed: "
                        f"${spent:.4f} spent, {progress.left} judgements to go"
                    )
                    return
            yield place, item

    def _check_price(self, progress: Progress) -> None:
        if self.ceiling_usd is not None and progress.unknown_cost_calls:
            raise UnknownPrice(
                "a ceiling of cost cannot be kept: the price of a judge is not known; give it one "
                "with price in judges.toml"
            )
