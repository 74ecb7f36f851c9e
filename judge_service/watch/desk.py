"""All charts of one process, and who is told when an alarm is raised or over."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from judge_service.events import AlarmChanged, Kind, Observer
from judge_service.judges.judge import Bench, fingerprint
from judge_service.rubric.rubric import Rubric
from judge_service.watch.alarm import Alarm, Series, utc
from judge_service.watch.baseline import Baseline
from judge_service.watch.chart import Chart
from judge_service.watch.failures import Failures
from judge_service.watch.limits import Limits
from judge_service.watch.place import PARTS, SEPARATOR, Place
from judge_service.watch.served import ServedNames
from judge_service.watch.settings import WatchSettings

log = logging.getLogger("judge_service.watch")
MAX_KEPT = 500
"""Charts of places that were not asked for since the start are kept for later: so many."""
_Where = tuple[str | None, str | None, Kind | None]


@dataclass(slots=True)
class Desk:
    """Finds places and failures by judge, rubric and kind; makes them when they are first asked
    for. ``wall`` gives seconds since the epoch.
    """

    settings: WatchSettings
    bench: Bench
    tell: Observer
    wall: Callable[[], float] = time.time
    served: ServedNames = field(init=False)
    limits: Limits = field(init=False)
    learnt: list[tuple[str, Chart]] = field(default_factory=list)
    """Charts that are still learning, with their names in the store."""
    _places: dict[_Where, Place] = field(default_factory=dict)
    _failures: dict[_Where, Failures] = field(default_factory=dict)
    _kept: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.limits = Limits(run_length=self.settings.run_length, shift=self.settings.shift)
        self.served = ServedNames(self.changed)
        self.limits.of(self.settings.baseline)  # made now, not while somebody waits
        self.limits.of(0)

    def place(self, judge: str | None, rubric: Rubric | None, kind: Kind | None) -> Place:
        """The charts of a judge under a rubric; those of another version of it are forgotten."""
        where: _Where = (judge, None if rubric is None else rubric.id, kind)
        found = self._places.get(where)
        if found is None or found.rubric_hash != (rubric and rubric.rubric_hash):
            found = self._places[where] = self._made(judge, rubric, kind)
        return found

    def failures(self, rubric: Rubric, kind: Kind) -> Failures:
        """The failures under a rubric."""
        where: _Where = (None, rubric.id, kind)
        place = self.place(None, rubric, kind)
        found = self._failures.get(where)
        if found is None or found.place is not place:
            found = self._failures[where] = Failures(place)
            kept = self._kept.pop(place.key("failed_share"), None)
            if kept is not None:
                _restored(found.shares.restore, kept)
        return found

    def _made(self, judge: str | None, rubric: Rubric | None, kind: Kind | None) -> Place:
        rubric_hash = "" if rubric is None else rubric.rubric_hash
        judges = {} if judge is None else {judge: self.bench[judge]}
        return Place(
            judge=judge,
            rubric=None if rubric is None else rubric.id,
            rubric_hash=None if rubric is None else rubric_hash,
            kind=kind,
            version=fingerprint(rubric_hash, judges)[:16],
            settings=self.settings,
            limits=self.limits,
            changed=self.changed,
            made=self._chart_made,
        )

    def _chart_made(self, place: Place, chart: Chart) -> None:
        name = place.key(chart.series.statistic)
        kept = self._kept.pop(name, None)
        if kept is not None:
            _restored(chart.restore, kept)
        if chart.baseline is None:
            self.learnt.append((name, chart))

    def changed(self, series: Series, raised: bool) -> None:
        """An alarm was raised, or is over: one line, one event."""
        self.tell(
            AlarmChanged(
                judge=series.judge or "", rubric=series.rubric or "",
                statistic=series.statistic, cause=series.cause or "", raised=raised,
            )
        )  # fmt: skip
        where = {name: value for name, value in asdict(series).items() if value is not None}
        if not raised:
            log.warning("alarm over: %s", json.dumps(where))
            return
        alarm = next((one for one in self.alarms() if one.series == series), None)
        if alarm is not None:
            told = alarm.wire() | {"since": utc(alarm.since)}
            log.warning("alarm raised: %s", json.dumps(told, default=str))

    def alarms(self) -> list[Alarm]:
        """Those that are raised, oldest first."""
        found = list(self.served.alarms())
        for failures in self._failures.values():
            found += failures.alarms()
        for where, place in self._places.items():
            for chart in place.charts.values():
                alarm = chart.now()
                if alarm is not None:
                    failing = self._failures.get(where)
                    detail = None if failing is None else failing.detail(chart)
                    found.append(replace(alarm, detail=detail))
        return sorted(found, key=lambda alarm: alarm.raised_at)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was observed yet."""
        return not self._places

    def charts(self) -> Iterator[Chart]:
        """All charts of means."""
        for place in self._places.values():
            yield from place.charts.values()

    def all_failures(self) -> Iterator[Failures]:
        """The failures of every rubric and kind that was asked for."""
        yield from self._failures.values()

    def adopt(self, name: str, baseline: Baseline) -> None:
        """Take the baseline that another process has learnt for a chart that is still learning."""
        for known, chart in self.learnt:
            if known == name and chart.baseline is None:
                chart.take(baseline)

    def names(self, *, judge: str | None, rubric: str | None) -> list[str]:
        """The names in the store of the charts of a judge, of a rubric, of both or of all."""
        return [
            place.key(statistic)
            for where, place in self._places.items()
            if judge in (None, where[0]) and rubric in (None, where[1])
            for statistic in place.charts
        ]

    def reset(self, *, judge: str | None, rubric: str | None) -> int:
        """Forget what is known of a judge, of a rubric, of both together or, with neither, of all:
        learning begins anew. How many alarms went with it.
        """
        raised = [alarm.series for alarm in self.alarms()]
        for where in [w for w in self._places if judge in (None, w[0]) and rubric in (None, w[1])]:
            del self._places[where]
            self._failures.pop(where, None)
        if rubric is None:
            self.served.forget(judge)
        for name in list(self._kept):
            _, _, of_judge, of_rubric, _ = name.split(SEPARATOR)
            if judge in (None, of_judge) and rubric in (None, of_rubric):
                del self._kept[name]
        charts = set(map(id, self.charts()))
        self.learnt = [(name, chart) for name, chart in self.learnt if id(chart) in charts]
        left = {alarm.series for alarm in self.alarms()}
        gone = [series for series in raised if series not in left]
        for series in gone:
            self.changed(series, False)
        return len(gone)

    def state(self) -> dict[str, Any]:
        """What ``restore`` takes, as JSON."""
        charts = dict(list(self._kept.items())[-MAX_KEPT:])
        for place in self._places.values():
            for statistic, chart in place.charts.items():
                charts[place.key(statistic)] = chart.state()
        for failures in self._failures.values():
            charts[failures.place.key("failed_share")] = failures.shares.state()
        return {"charts": charts, "served": self.served.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where another process has stopped; what cannot be read is left out."""
        charts = state.get("charts")
        self._kept = charts if isinstance(charts, dict) else {}
        self._kept = {n: c for n, c in self._kept.items() if n.count(SEPARATOR) == PARTS - 1}
        _restored(self.served.restore, state.get("served"))


def _restored(restore: Callable[[Any], None], state: Any) -> None:
    try:
        restore(state)
    except (ValueError, KeyError, TypeError, AttributeError):
        log.warning("a chart was kept in a form that this version does not read")
