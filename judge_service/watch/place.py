"""The charts of one place: a judge, a rubric and a kind of request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Final

from judge_service.events import Kind
from judge_service.watch.alarm import Series
from judge_service.watch.baseline import Baseline
from judge_service.watch.chart import Chart, Observed
from judge_service.watch.limits import Limits
from judge_service.watch.names import name_of
from judge_service.watch.observed import Scored
from judge_service.watch.product import Products
from judge_service.watch.ranks import EVEN
from judge_service.watch.settings import WatchSettings
from judge_service.watch.statistic import Name

KNOWN: Final[dict[Name, Baseline]] = {"failed_length": EVEN, "failed_difficulty": EVEN}
"""Baselines that need no learning."""
TELL_EVERY = 20
"""A chart's value becomes a metric after so many observations."""


@dataclass(slots=True, kw_only=True)
class Place:
    """Makes a chart when it is first fed. ``version`` is that of judge and rubric: another one has
    another baseline. ``changed`` hears of alarms raised and over, ``made`` of new charts, ``moved``
    of every 20th observation of one.
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
    moved: Callable[[Chart], None]
    charts: dict[Name, Chart] = field(default_factory=dict)
    with_length: Products = field(default_factory=Products)
    with_rules: Products = field(default_factory=Products)

    def series(self, statistic: Name) -> Series:
        """What a chart of this place is about."""
        return Series(statistic=statistic, judge=self.judge, rubric=self.rubric, kind=self.kind)

    def feed(self, statistic: Name, observed: Sequence[Observed]) -> None:
        """Observations in the order they were made. Raises ValueError for what is no number: a sum
        that takes one in never leaves it again.
        """
        if not all(isfinite(value) for value, _ in observed):
            raise ValueError(f"{statistic}: no number was observed")
        chart = self.charts.get(statistic)
        if chart is None:
            chart = self.chart(statistic)
        before = chart.observations
        for raised in chart.add_all(observed):
            self.changed(chart.series, raised)
        # As before the last of them, there is one more in ``TELL_EVERY`` that tells.
        if (chart.observations - 1) // TELL_EVERY > (before - 1) // TELL_EVERY:
            self.moved(chart)

    def take_in(self, scored: Sequence[Scored]) -> None:
        """What the judge of this place gave, in the order it did."""
        scores, times = [one.score for one in scored], [one.at for one in scored]
        self.feed("score_mean", list(zip(scores, times, strict=True)))
        if self.kind == "rank":
            products = [one.correlation for one in scored]
        else:
            products = self.with_length.of(scores, [one.chars for one in scored])
        self._feed_some("length_correlation", products, times)
        ruled = [one for one in scored if one.rules is not None]
        if ruled:
            rules = [one.rules for one in ruled if one.rules is not None]
            scores, times = [one.score for one in ruled], [one.at for one in ruled]
            gaps = [one - rule for one, rule in zip(scores, rules, strict=True)]
            self.feed("rule_gap", list(zip(gaps, times, strict=True)))
            self._feed_some("rule_correlation", self.with_rules.of(scores, rules), times)

    def _feed_some(
        self, statistic: Name, found: Sequence[float | None], times: Sequence[float]
    ) -> None:
        """Those that there are."""
        pairs = zip(found, times, strict=True)
        there = [(value, at) for value, at in pairs if value is not None]
        if there:
            self.feed(statistic, there)

    def chart(self, statistic: Name) -> Chart:
        """The chart of a statistic; a new one goes on with what is kept of it, if anything is."""
        found = self.charts.get(statistic)
        if found is None:
            found = Chart(self.series(statistic), self.limits, self._learn(statistic))
            if statistic in KNOWN:
                found.take(KNOWN[statistic])
            self.charts[statistic] = found
            self.made(self, found)
        return found

    def _learn(self, statistic: Name) -> int:
        sentinel, shadow = self.settings.sentinel, self.settings.shadow
        if sentinel is not None and statistic in ("sentinel_shift", "sentinel_agreement"):
            return sentinel.baseline
        if shadow is not None and statistic in ("shadow_shift", "shadow_agreement"):
            return shadow.baseline
        return self.settings.baseline

    def key(self, statistic: str) -> str:
        """The name of a chart's state in the store."""
        return name_of(statistic, self.kind, self.judge, self.rubric, self.version)
