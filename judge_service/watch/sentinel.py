"""Sentinels: items of gold sets, asked in the background while live traffic is judged.

The items stay the same, so what moves on them is the judge. They are asked past the cache, of the
same judge under the same rubric, on a bill of their own; nothing of them is part of any reward,
usage or quota.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from judge_service.drift.asking import SideAsker
from judge_service.engine import Engine
from judge_service.errors import RequestError
from judge_service.events import Observer, SentinelJudged
from judge_service.gold.item import GoldItem
from judge_service.judges.judge import JudgeSpec, fingerprint
from judge_service.rubric.rubric import Rubric
from judge_service.storage.signed import Signer
from judge_service.storage.store import Store
from judge_service.watch.background import Background, requests_of
from judge_service.watch.bill import Reserved
from judge_service.watch.desk import Desk
from judge_service.watch.sentinel_figures import SentinelFigures
from judge_service.watch.sentinel_item import agreement_of, value_of
from judge_service.watch.sentinel_plan import Sentinels
from judge_service.watch.settings import SentinelSettings

log = logging.getLogger("judge_service.watch")
PREFIX = "jw:2:sentinel:"
KEPT_S = 180 * 86_400.0
TIMEOUT_S = 120.0
Sleep = Callable[[float], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class Sentinel:
    """Mixes them in. ``plan`` is by rubric; ``signer`` signs what is kept in the store."""

    settings: SentinelSettings
    plan: Mapping[str, Sentinels]
    engine: Engine
    background: Background
    desk: Desk
    store: Store
    signer: Signer
    tell: Observer
    sleep: Sleep = asyncio.sleep
    figures: SentinelFigures = field(init=False)
    _credit: dict[tuple[str, str], float] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    _turn: int = 0
    _task: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self.figures = SentinelFigures(self._version)

    def _version(self, judge: str, rubric: str) -> str | None:
        spec, found = self.engine.bench.get(judge), self.engine.library.get(rubric)
        return None if spec is None or found is None else _version_of(spec, found)

    def follow(self) -> None:
        """Begin to ask by the hour, where that is the rate."""
        if self.settings.per_hour is not None:
            self._task = asyncio.create_task(self._hourly(3600.0 / self.settings.per_hour))

    def live(self, judge: str, rubric: Rubric) -> None:
        """A live verdict was given by a judge under a rubric."""
        if rubric.id not in self.plan:
            return
        where = (judge, rubric.id)
        due = self._credit.get(where, 0.0) + (self.settings.share or 0.0)
        if self.settings.share is not None and due >= 1.0 - 1e-9:
            due = max(0.0, due - 1.0)
            self._begin(judge, rubric)
        self._credit[where] = due

    def _begin(self, judge_id: str, rubric: Rubric) -> None:
        judge = self.engine.bench[judge_id]
        kind = self.plan[rubric.id].side(judge, rubric).kind
        requests = requests_of(rubric, kind)
        self.background.begin(judge, requests, lambda reserved: self._ask(judge, rubric, reserved))

    async def _hourly(self, every_s: float) -> None:
        """One sentinel in ``every_s`` by all processes together, for places with live traffic."""
        key = f"{PREFIX}turn"
        while True:
            await self.sleep(every_s)
            places = list(self._credit)
            # A store that cannot say leaves each process to its own clock.
            if not places or await self.store.put_new(key, b"1", every_s * 0.9) is False:
                continue
            judge, rubric_id = places[self._turn % len(places)]
            self._turn += 1
            rubric = self.engine.library.get(rubric_id)
            if rubric is not None:
                self._begin(judge, rubric)

    async def _ask(self, judge: JudgeSpec, rubric: Rubric, reserved: Reserved) -> None:
        sentinels = self.plan[rubric.id]
        asker = SideAsker(self.engine, sentinels.side(judge, rubric), TIMEOUT_S)
        version = _version_of(judge, rubric)
        items = sentinels.gold.items
        item = items[await self._next(f"{judge.id}:{rubric.id}:{version}") % len(items)]
        try:
            judgement, _ = await asker.once(item)
        except RequestError as error:
            log.warning("sentinel %r cannot be asked under %r: %s", item.id, rubric.id, error)
            return
        await self.background.bill.spent(judge.id, judgement.usage, reserved)
        figures = self.figures.of(judge.id, rubric.id, sentinels.gold.name, version)
        figures.asked += 1
        value, agreement = value_of(judgement, rubric), agreement_of(judgement, item)
        if value is None:
            failed = judgement.status == "failed"
            figures.failed += failed
            self.tell(SentinelJudged(judge.id, rubric.id, "failed" if failed else "no_judge"))
            return
        place = self.desk.place(judge.id, rubric, item.kind)
        at = self.desk.wall()
        if agreement is not None:
            figures.agreed += agreement
            figures.compared += 1
            place.feed("sentinel_agreement", [(agreement, at)])
        self.tell(SentinelJudged(judge.id, rubric.id, "agrees" if agreement == 1.0 else "differs"))
        first = await self._first(version, item, value)
        if first is not None:
            place.feed("sentinel_shift", [(value - first, at)])

    async def _next(self, name: str) -> int:
        """The number of the item whose turn it is, over all processes."""
        self._numbers[name] = self._numbers.get(name, -1) + 1
        shared = await self.store.add(f"{PREFIX}next:{name}", 1, KEPT_S)
        return self._numbers[name] if shared is None else shared - 1

    async def _first(self, version: str, item: GoldItem, value: float) -> float | None:
        """The judge's first value on the item, kept in the store; None when this is the first one
        or the store cannot say.
        """
        key = f"{PREFIX}first:{version}:{item.digest}"
        told = json.dumps([value]).encode()
        if await self.store.put_new(key, self.signer.sign(key, told), KEPT_S) is not False:
            return None
        kept = await self.store.get(key)
        body = None if kept is None else self.signer.check(key, kept)
        if body is None:
            if kept is not None:
                await self.store.delete(key)  # not ours
            return None
        return float(json.loads(body)[0])

    async def aclose(self) -> None:
        """Ask no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self.background.aclose()

    def wire(self) -> dict[str, Any]:
        """JSON."""
        return {
            "share": self.settings.share,
            "per_hour": self.settings.per_hour,
            "gold": [
                {"gold": one.gold.name, "rubric": one.rubric, "items": len(one.gold.items)}
                for one in self.plan.values()
            ],
            **self.background.bill.wire(),
            "skipped": dict(self.background.skipped),
            "figures": self.figures.wire(),
        }


def _version_of(judge: JudgeSpec, rubric: Rubric) -> str:
    return fingerprint(rubric.rubric_hash, {judge.id: judge})[:32]
