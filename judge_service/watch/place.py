"""The charts of one place: a judge, a rubric and a kind of request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from judge_service.events import Kind
from judge_service.watch.alarm import Series
from judge_service.watch.baseline import Baseline
from judge_service.watch.chart import Chart
from judge_service.watch.limits import Limits
from judge_service.watch.product import Products
from judge_service.watch.prompts import RecentPrompts
from judge_service.watch.settings import WatchSettings
from judge_service.watch.statistic import Name

SEPARATOR, PARTS = "|", 5
"""Of a chart's name in the store; no id has the separator in it."""


@dataclass(slots=True, kw_only=True)
class Place:
    """Makes a chart when it is first fed. ``version`` is that of judge and rubric: another one has
    another baseline. ``changed`` hears of alarms raised and over, ``made`` of new charts.
    """

    judge: str | None
    rubric: str | None
    rubric_hash: str | None
    kind: Kind | None
    version: str
    settings: WatchSettings
    limits: Limits
    changed: Callable[[Series, bool], None]
    made: Callable[[Place, Chart], None]
    charts: dict[Name, Chart] = field(default_factory=dict)
    prompts: RecentPrompts = field(default_factory=RecentPrompts)
    with_length: Products = field(default_factory=Products)
    with_rules: Products = field(default_factory=Products)

    def series(self, statistic: Name) -> Series:
        """What a chart of this place is about."""
        return Series(statistic=statistic, judge=self.judge, rubric=self.rubric, kind=self.kind)

    def feed(
        self,
        statistic: Name,
        value: float,
        at: float,
        *,
        learn: int | None = None,
        known: Baseline | None = None,
    ) -> None:
        """One observation, made at a time. ``learn`` and ``known`` are as of ``Chart``."""
        chart = self.charts.get(statistic)
        if chart is None:
            learn = self.settings.baseline if learn is None else learn
            chart = self.charts[statistic] = Chart(
                self.series(statistic), self.limits, learn, known
            )
            self.made(self, chart)
        if chart.add(value, at):
            self.changed(chart.series, chart.alarm is not None)

    def key(self, statistic: str) -> str:
        """The name of a chart's state in the store."""
        parts = (statistic, self.kind or "", self.judge or "", self.rubric or "", self.version)
        return SEPARATOR.join(parts)
