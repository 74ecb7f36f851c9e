"""Watching live traffic: is told of outcomes and events, and keeps the charts.

Nothing here is asked before an outcome is there, and nothing of it goes back into one.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from judge_service.candidate.exhibit import prompt_text
from judge_service.candidate.inspection import Inspection
from judge_service.errors import JudgeServiceError
from judge_service.events import Attempted, Event, Kind, Observer, PairJudged, WatchValue
from judge_service.judging.case import Case
from judge_service.outcome import (
    Assessed,
    AssessFailed,
    Compared,
    CompareFailed,
    Outcome,
    Ranked,
    RankFailed,
)
from judge_service.rubric.library import Library
from judge_service.watch.chart import Chart
from judge_service.watch.desk import Desk
from judge_service.watch.observed import Scored, assessed, is_fresh, mean_chars, ranked
from judge_service.watch.place import Place
from judge_service.watch.prompts import prompt_key
from judge_service.watch.sentinel import Sentinel
from judge_service.watch.shadow import Shadow

log = logging.getLogger("judge_service.watch")
TELL_EVERY = 20
"""A chart's value becomes a metric after so many observations."""
_FAILED = (AssessFailed, CompareFailed, RankFailed)


@dataclass(slots=True)
class Watcher:
    """All that watches one process. ``told`` is an ``engine.Watch``, ``observe`` an ``Observer``;
    neither raises: what goes wrong in here is logged, and judging goes on.
    """

    desk: Desk
    library: Library
    tell: Observer
    sentinel: Sentinel | None = None
    shadow: Shadow | None = None

    def told(
        self, kind: Kind, case: Case, inspections: tuple[Inspection, ...], outcome: Outcome
    ) -> None:
        """A live request has its outcome."""
        try:
            self._told(kind, case, inspections, outcome)
        except Exception:
            log.exception("an outcome could not be watched")

    def _told(
        self, kind: Kind, case: Case, inspections: tuple[Inspection, ...], outcome: Outcome
    ) -> None:
        failed = isinstance(outcome, _FAILED)
        if not failed and not is_fresh(outcome):
            return  # a rule or the cache: no judge was asked
        at = self.desk.wall()
        prompt = prompt_key(prompt_text(case.request.prompt))
        failures = self.desk.failures(case.rubric, kind)
        if isinstance(outcome, _FAILED):
            failures.failed(outcome.error.code, prompt, mean_chars(inspections), at)
            return
        scored = self._scored(case, inspections, outcome)
        score = scored[0].score if scored else None
        failures.judged(prompt, mean_chars(inspections), score, at)
        for one in scored:
            rubric = case.rubric
            place = self.desk.place(one.judge, rubric, kind)
            if place.prompts.counts(prompt):
                self._feed(place, one, at)
        if self.sentinel is not None:
            for judge in case.answered:
                self.sentinel.live(judge, case.rubric)
        if self.shadow is not None:
            self.shadow.live(kind, case, inspections, outcome)

    @staticmethod
    def _scored(
        case: Case, inspections: tuple[Inspection, ...], outcome: Assessed | Compared | Ranked
    ) -> list[Scored]:
        if isinstance(outcome, Assessed):
            return assessed(case.rubric, inspections[0], outcome)
        if isinstance(outcome, Ranked):
            found = ranked(case.rubric, inspections, outcome)
            return [] if found is None else [found]
        return []

    def _feed(self, place: Place, one: Scored, at: float) -> None:
        place.feed("score_mean", one.score, at)
        if place.kind == "rank":
            if one.correlation is not None:
                place.feed("length_correlation", one.correlation, at)
        elif (product := place.with_length.add(one.score, one.chars)) is not None:
            place.feed("length_correlation", product, at)
        if one.rules is not None:
            place.feed("rule_gap", one.score - one.rules, at)
            if (product := place.with_rules.add(one.score, one.rules)) is not None:
                place.feed("rule_correlation", product, at)
        chart = place.charts["score_mean"]
        if chart.observations % TELL_EVERY == 1:
            for chart in place.charts.values():
                self._tell_value(chart)

    def _tell_value(self, chart: Chart) -> None:
        current, baseline = chart.current(), chart.baseline
        if current is not None and baseline is not None:
            series = chart.series
            self.tell(
                WatchValue(
                    series.judge or "", series.rubric or "", series.statistic, current,
                    baseline.mean,
                )
            )  # fmt: skip

    def observe(self, event: Event) -> None:
        """Take note of pairs and of served names; an ``Observer``."""
        if isinstance(event, PairJudged):
            self._pair(event)
        elif isinstance(event, Attempted) and event.model_served:
            self.desk.served.add(event.judge, event.model_served, self.desk.wall())

    def _pair(self, event: PairJudged) -> None:
        if not event.decided or event.rubric not in self.library:
            return
        try:
            place = self.desk.place(event.judge, self.library[event.rubric], "compare")
            place.feed("position_share", event.shown_first / event.decided, self.desk.wall())
        except (KeyError, JudgeServiceError):
            log.exception("a pair could not be watched")

    def follow(self) -> None:
        """Begin what has a clock of its own."""
        if self.sentinel is not None:
            self.sentinel.follow()

    async def aclose(self) -> None:
        """Break off what is asked in the background."""
        if self.sentinel is not None:
            await self.sentinel.aclose()
        if self.shadow is not None:
            await self.shadow.background.aclose()

    def alarms_wire(self) -> list[dict[str, Any]]:
        """JSON of the alarms of this process."""
        return [alarm.wire() for alarm in self.desk.alarms()]

    def wire(self) -> dict[str, Any]:
        """JSON of this process: alarms, charts, failures, sentinels and shadow."""
        return {
            "alarms": self.alarms_wire(),
            "charts": [chart.wire() for chart in self.desk.charts()],
            "failures": [
                {"rubric": one.place.rubric, "kind": one.place.kind, **one.wire()}
                for one in self.desk.all_failures()
            ],
            "sentinel": None if self.sentinel is None else self.sentinel.wire(),
            "shadow": None if self.shadow is None else self.shadow.wire(),
        }
