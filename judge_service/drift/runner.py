"""Asking what is missing: a few items at a time, within a ceiling of cost, told as it goes."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from judge_service.drift.asking import SideAsker
from judge_service.drift.ceiling import Ceiling, UnknownPrice
from judge_service.drift.first_look import FIRST_LOOK, FirstLook, is_unanswered
from judge_service.drift.journal import Journal
from judge_service.drift.judgement import Judgement
from judge_service.drift.plan import Place, Plan, SideName
from judge_service.errors import ConfigError, RequestError
from judge_service.gold.item import GoldItem
from judge_service.gold.scale import off_scale, scales_of

__all__ = ["Progress", "Runner", "UnknownPrice"]

MAX_FAULTS = 10


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
    an interrupted run had spent before; a first look stops where nobody of a side ever answered.

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
    at_ceiling: bool = False
    _ceiling: Ceiling | None = None
    _look: FirstLook = field(default_factory=FirstLook)

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
        self._look.remember((p.side, judgement) for p, judgement in self.journal.found.items())
        wanted = [(place, item) for place, item in places if self._is_wanted(place)]
        costs = [found.usage.cost_usd or 0.0 for found in self.journal.found.values()]
        progress = Progress(
            total=len(places), known=len(places) - len(wanted), known_usd=math.fsum(costs)
        )
        self._ceiling = self._made_ceiling()
        self.watch(progress)
        waiting = iter(wanted)
        while self._is_learning(wanted) and (next_one := self._next(waiting, progress)) is not None:
            await self._ask(*next_one, progress)

        async def work() -> None:
            # All draw from one iterator, so the next free one takes the next item.
            while (next_one := self._next(waiting, progress)) is not None:
                await self._ask(*next_one, progress)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.concurrency, len(wanted))):
                    group.create_task(work())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return progress

    def _made_ceiling(self) -> Ceiling | None:
        if self.ceiling_usd is None:
            return None
        sides = {name: asker.side for name, asker in self.askers.items()}
        ceiling = Ceiling(usd=self.ceiling_usd, sides=sides)
        for place, item in self.plan.places():
            if (found := self.journal.found.get(place)) is not None:
                ceiling.count(place.side, item, found)
        return ceiling

    def _is_learning(self, wanted: Sequence[tuple[Place, GoldItem]]) -> bool:
        """Whether judgements are asked for one by one, for nobody knows yet what they cost."""
        ceiling = self._ceiling
        return ceiling is not None and not all(ceiling.is_known(p.side) for p, _ in wanted)

    def _next(
        self, waiting: Iterator[tuple[Place, GoldItem]], progress: Progress
    ) -> tuple[Place, GoldItem] | None:
        """What to ask for next, None where there is no more or the ceiling is reached."""
        found = next(waiting, None) if self.stopped is None else None
        if found is None or self._ceiling is None:
            return found
        place, item = found
        why_not = self._ceiling.why_not(place.side, item)
        if why_not is None:
            return found
        self.at_ceiling = True
        self._stop(why_not, progress)
        return None

    def _stop(self, why: str, progress: Progress) -> None:
        if self.stopped is None:
            self.stopped = f"{why}, {progress.left} judgements to go"

    async def _ask(self, place: Place, item: GoldItem, progress: Progress) -> None:
        ceiling = self._ceiling
        if ceiling is not None:
            ceiling.begin(place.side)
        try:
            # One that never answered is not waited for: a first look is soon over.
            patient = self._look.has_answered(place.side)
            judgement = await self.askers[place.side].judge(item, patient=patient)
        finally:
            if ceiling is not None:
                ceiling.end(place.side)
        self.journal.add(place, judgement)
        progress.count(judgement)
        if ceiling is not None:
            ceiling.count(place.side, item, judgement)
        self._look.count(place.side, judgement)
        if (why_not := self._look.why_not(place.side)) is not None:
            self._stop(why_not, progress)
        self.watch(progress)

    def _is_wanted(self, place: Place) -> bool:
        known = self.journal.found.get(place)
        if known is None:
            return True
        if is_unanswered(known) and not self._look.has_answered(place.side):
            # Of a first look in vain; a run that had its report stays as it is.
            return not self.journal.done or self.retry_failed
        return self.retry_failed and known.status == "failed" and known.retryable
