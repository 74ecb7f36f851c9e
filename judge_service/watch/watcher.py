"""Watching live traffic: is told of outcomes and events, and keeps the charts.

Nothing here is asked before an outcome is there, and nothing of it goes back into one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from judge_service.candidate.exhibit import prompt_text
from judge_service.candidate.inspection import Inspection
from judge_service.case import Case
from judge_service.events import Attempted, Kind, Observer
from judge_service.outcome import (
    Assessed,
    AssessFailed,
    Compared,
    CompareFailed,
    Outcome,
    Ranked,
    RankFailed,
)
from judge_service.rubric.rubric import Rubric
from judge_service.watch.desk import Desk
from judge_service.watch.observed import Scored, assessed, is_fresh, mean_chars, placed, ranked
from judge_service.watch.place import Place
from judge_service.watch.prompts import prompt_key

if TYPE_CHECKING:
    from judge_service.watch.sentinel import Sentinel
    from judge_service.watch.shadow import Shadow

log = logging.getLogger("judge_service.watch")
AT_ONCE = 64
"""Outcomes that wait to be looked at, at most."""
LATER_S = 0.05
"""How long they wait, at most."""
_Told: TypeAlias = tuple[Kind, Case, tuple[Inspection, ...], Outcome, float]
_Found: TypeAlias = dict[int, tuple[Place, list[Scored]]]
"""What was scored in a lot of outcomes, by place."""
_FAILED = (AssessFailed, CompareFailed, RankFailed)


@dataclass(slots=True)
class Watcher:
    """All that watches one process. ``told`` is an ``engine.Watch`` and never raises: what goes
    wrong in here is logged, and judging goes on.
    """

    desk: Desk
    tell: Observer
    sentinel: Sentinel | None = None
    shadow: Shadow | None = None
    _waiting: list[_Told] = field(default_factory=list)
    _timer: asyncio.TimerHandle | None = None

    def told(
        self, kind: Kind, case: Case, inspections: tuple[Inspection, ...], outcome: Outcome
    ) -> None:
        """A live request has its outcome. It is looked at a little later, with others, so that
        nobody waits for that.
        """
        waiting = self._waiting
        waiting.append((kind, case, inspections, outcome, self.desk.wall()))
        if len(waiting) >= AT_ONCE:
            self.fold()
        elif len(waiting) == 1:
            self._timer = asyncio.get_running_loop().call_later(LATER_S, self.fold)

    def fold(self) -> None:
        """Look at the outcomes that wait for it."""
        waiting, self._waiting = self._waiting, []
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        scored: _Found = {}
        for one in waiting:
            try:
                self._fold(one, scored)
            except Exception:
                log.exception("an outcome could not be watched")
        for place, found in scored.values():
            try:
                place.take_in(found)
            except Exception:
                log.exception("outcomes could not be watched")

    def _fold(self, told: _Told, found: _Found) -> None:
        kind, case, inspections, outcome, at = told
        rubric = case.rubric
        scored: Sequence[Scored] | None
        if isinstance(outcome, Assessed):
            scored = assessed(rubric, inspections[0], outcome, at)
        else:
            scored = self._others(told)
        if scored is None:
            return  # a failure, or a rule or the cache: no judge was asked
        prompt = prompt_key(prompt_text(case.request.prompt))
        score = scored[0].score if scored else None
        chars = len(inspections[0].shown.text) if kind == "assess" else mean_chars(inspections)
        if self.desk.failures(rubric, kind).judged(prompt, chars, score):
            for one in scored:
                place = self.desk.place(one.judge, rubric, kind)
                known = found.get(id(place))
                if known is None:
                    found[id(place)] = (place, [one])
                else:
                    known[1].append(one)
        if self.sentinel is not None:
            for judge in case.answered:
                self.sentinel.live(judge, rubric)
        if self.shadow is not None:
            self.shadow.live(kind, case, inspections, outcome)

    def _others(self, told: _Told) -> Sequence[Scored] | None:
        """Of a pair, a group or a failure: what judges scored, None where nothing was judged."""
        kind, case, inspections, outcome, at = told
        rubric = case.rubric
        failed = isinstance(outcome, _FAILED)
        fresh = is_fresh(outcome)
        if not (failed or fresh):
            return None
        prompt = prompt_key(prompt_text(case.request.prompt))
        if fresh and not isinstance(outcome, (Assessed, AssessFailed)):
            self._position(kind, rubric, outcome, prompt, at)
        if isinstance(outcome, _FAILED):
            chars = mean_chars(inspections)
            self.desk.failures(rubric, kind).failed(outcome.error.code, prompt, chars, at)
            return None
        group = ranked(rubric, inspections, outcome, at) if isinstance(outcome, Ranked) else None
        return () if group is None else (group,)

    def _position(
        self,
        kind: Kind,
        rubric: Rubric,
        outcome: Compared | CompareFailed | Ranked | RankFailed,
        prompt: int,
        at: float,
    ) -> None:
        if self.desk.failures(rubric, kind).pairs_lately.counts(prompt):
            for one in placed(outcome):
                place = self.desk.place(one.judge, rubric, kind)
                place.feed("position_share", [(one.shown_first, at)])

    def attempted(self, event: Attempted) -> None:
        """A judge has replied, or not; what its provider calls its model is watched."""
        if event.model_served:
            self.desk.served.add(
                event.judge, event.model_served, self.desk.wall(), event.system_fingerprint
            )

    def follow(self) -> None:
        """Begin what has a clock of its own."""
        if self.sentinel is not None:
            self.sentinel.follow()

    async def aclose(self) -> None:
        """Break off what is asked in the background."""
        self.fold()
        if self.sentinel is not None:
            await self.sentinel.aclose()
        if self.shadow is not None:
            await self.shadow.background.aclose()

    def alarms_wire(self) -> list[dict[str, Any]]:
        """JSON of the alarms of this process."""
        return [alarm.wire() for alarm in self.desk.alarms()]

    def wire(self) -> dict[str, Any]:
        """JSON of this process: alarms, charts, failures, names, sentinels and shadow, the last
        without its figures.
        """
        return {
            "alarms": self.alarms_wire(),
            "charts": [chart.wire() for chart in self.desk.charts()],
            "failures": [
                {"rubric": one.place.rubric, "kind": one.place.kind, **one.wire()}
                for one in self.desk.all_failures()
            ],
            "served": self.desk.served.wire(),
            "sentinel": None if self.sentinel is None else self.sentinel.wire(),
            "shadow": None if self.shadow is None else self.shadow.wire(),
        }
