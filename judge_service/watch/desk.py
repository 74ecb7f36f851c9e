"""All charts of one process, and who is told when an alarm is raised or over."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from judge_service.events import AlarmChanged, FingerprintChanged, Kind, Observer, WatchValue
from judge_service.judges.judge import Bench, fingerprint
from judge_service.rubric.library import Library
from judge_service.rubric.rubric import Rubric
from judge_service.watch.alarm import Alarm, Series, utc
from judge_service.watch.baseline import Baseline
from judge_service.watch.chart import Chart
from judge_service.watch.failures import Failures
from judge_service.watch.limits import Limits
from judge_service.watch.names import PARTS, is_about, name_of, parts_of
from judge_service.watch.place import KNOWN, Place
from judge_service.watch.served import ServedNames
from judge_service.watch.settings import WatchSettings
from judge_service.watch.statistic import STATISTICS

log = logging.getLogger("judge_service.watch")
MAX_KEPT = 500
"""Charts of rubrics and judges as they were before are kept, should they come back: so many."""
MAX_WINDOWS = 16
"""Rubrics whose latest lengths and scores are kept for the next process."""
_SHARE: Final = "failed_share"
_Where = tuple[str | None, str | None, Kind | None]


@dataclass(slots=True)
class Desk:
    """Finds places and failures by judge, rubric and kind; makes them when they are first asked
    for. ``wall`` gives seconds since the epoch.
    """

    settings: WatchSettings
    bench: Bench
    library: Library
    tell: Observer
    wall: Callable[[], float] = time.time
    served: ServedNames = field(init=False)
    limits: Limits = field(init=False)
    learnt: list[tuple[str, Chart]] = field(default_factory=list)
    """Charts that are still learning, with their names in the store."""
    names_shared: set[str] = field(default_factory=set)
    """Judges whose model's names are in the store."""
    _places: dict[_Where, Place] = field(default_factory=dict)
    _failures: dict[_Where, Failures] = field(default_factory=dict)
    _kept: dict[str, Any] = field(default_factory=dict)
    _windows: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.limits = Limits(run_length=self.settings.run_length, shift=self.settings.shift)
        self.served = ServedNames(self.changed, self._reconfigured, self._served_version)
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
            kept = self._kept.pop(place.key(_SHARE), None)
            if kept is not None:
                _restored(found.restore, kept)
            window = self._windows.pop(place.key(_SHARE), None)
            if window is not None:
                _restored(found.restore_window, window)
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
            moved=self._told_value,
        )

    def _chart_made(self, place: Place, chart: Chart) -> None:
        name = place.key(chart.series.statistic)
        kept = self._kept.pop(name, None)
        if kept is not None:
            _restored(chart.restore, kept)
        if chart.series.statistic in KNOWN:
            return
        if chart.baseline is None:
            self.learnt.append((name, chart))

    def _told_value(self, chart: Chart) -> None:
        current, baseline = chart.current(), chart.baseline
        if current is not None and baseline is not None:
            series = chart.series
            self.tell(
                WatchValue(
                    series.judge or "", series.rubric or "", series.statistic, current,
                    baseline.mean, series.kind,
                )
            )  # fmt: skip

    def changed(self, series: Series, raised: bool) -> None:
        """An alarm was raised, or is over: one line, one event."""
        self._tell_change(series, raised=raised, again=False)
        where = {name: value for name, value in asdict(series).items() if value is not None}
        if not raised:
            log.warning("alarm over: %s", json.dumps(where))
            return
        alarm = next((one for one in self.alarms() if one.series == series), None)
        if alarm is not None:
            told = alarm.wire() | {"since": utc(alarm.since)}
            log.warning("alarm raised: %s", json.dumps(told, default=str))

    def _tell_change(self, series: Series, *, raised: bool, again: bool) -> None:
        self.tell(
            AlarmChanged(
                judge=series.judge or "", rubric=series.rubric or "", kind=series.kind,
                statistic=series.statistic, cause=series.cause or "", raised=raised, again=again,
            )
        )  # fmt: skip

    def _reconfigured(self, judge: str) -> None:
        self.tell(FingerprintChanged(judge))

    def _served_version(self, judge: str) -> str:
        """Names belong to a model at an address."""
        spec = self.bench.get(judge)
        where = "" if spec is None else f"{spec.model} {spec.api_base or ''}"
        return hashlib.sha256(where.encode()).hexdigest()[:16]

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

    def charts(self) -> Iterator[Chart]:
        """All charts of means."""
        for place in self._places.values():
            yield from place.charts.values()

    def named_charts(self) -> Iterator[tuple[str, Chart]]:
        """Those with a baseline that was learnt, by their names in the store."""
        for place in self._places.values():
            for statistic, chart in place.charts.items():
                if statistic not in KNOWN:
                    yield place.key(statistic), chart

    def served_name(self, judge: str) -> str:
        """The name in the store of the names that a judge's model has."""
        return name_of("served_model", None, judge, None, self._served_version(judge))

    def all_failures(self) -> Iterator[Failures]:
        """The failures of every rubric and kind that was asked for."""
        yield from self._failures.values()

    def adopt(self, name: str, baseline: Baseline) -> None:
        """Take the baseline that another process has learnt for a chart that is still learning."""
        for known, chart in self.learnt:
            if known == name and chart.baseline is None:
                chart.take(baseline)

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
            self.names_shared -= {judge} if judge is not None else set(self.bench)
        for kept in (self._kept, self._windows):
            for name in [name for name in kept if is_about(name, judge, rubric)]:
                del kept[name]
        charts = set(map(id, self.charts()))
        self.learnt = [(name, chart) for name, chart in self.learnt if id(chart) in charts]
        left = {alarm.series for alarm in self.alarms()}
        gone = [series for series in raised if series not in left]
        for series in gone:
            self.changed(series, False)
        return len(gone)

    def state(self) -> dict[str, Any]:
        """What ``take_over`` takes, as JSON: charts, alarms and served names."""
        charts = dict(list(self._kept.items())[-MAX_KEPT:])
        for place in self._places.values():
            for statistic, chart in place.charts.items():
                charts[place.key(statistic)] = chart.state()
        for failures in self._failures.values():
            charts[failures.place.key(_SHARE)] = failures.state()
        return {"charts": charts, "served": self.served.state()}

    def windows(self) -> dict[str, Any]:
        """What ``take_windows`` takes, as JSON; it is large."""
        found = list(self._failures.values())[-MAX_WINDOWS:]
        return {one.place.key(_SHARE): one.window() for one in found}

    def take_windows(self, windows: dict[str, Any]) -> None:
        """Go on with another process's latest lengths and scores."""
        for failures in self._failures.values():
            window = windows.pop(failures.place.key(_SHARE), None)
            if window is not None:
                _restored(failures.restore_window, window)
        self._windows = dict(list(windows.items())[:MAX_WINDOWS])

    def take_over(self, state: dict[str, Any]) -> None:
        """Go on where another process has stopped. What was watched here before is kept, but for
        what says less (``Chart.inherit``); alarms are told again, without being counted again. What
        cannot be read is left out.
        """
        before = {alarm.series for alarm in self.alarms()}
        charts = state.get("charts")
        for name, kept in charts.items() if isinstance(charts, dict) else ():
            if not isinstance(kept, dict) or len(parts_of(name)) != PARTS:
                continue
            place = self._place_of(name)
            if place is None:
                self._kept.setdefault(name, kept)
            else:
                self._take(place, parts_of(name)[0], kept)
        _restored(self.served.restore, state.get("served") or {})
        for alarm in self.alarms():
            if alarm.series not in before:
                self._tell_change(alarm.series, raised=True, again=True)

    def _take(self, place: Place, statistic: str, kept: dict[str, Any]) -> None:
        if statistic == _SHARE:
            where: _Where = (None, place.rubric, place.kind)
            known = self._failures.get(where)
            if known is not None and known.place is place:
                _restored(known.inherit, kept)
            elif place.rubric is not None and place.kind is not None:
                self._kept[place.key(_SHARE)] = kept
                self.failures(self.library[place.rubric], place.kind)
            return
        for name in STATISTICS:
            if name == statistic:
                chart = place.charts.get(name)
                if chart is not None:
                    _restored(chart.inherit, kept)
                else:
                    self._kept[place.key(name)] = kept
                    self._told_value(place.chart(name))

    def _place_of(self, name: str) -> Place | None:
        """The place of a chart by its name in the store; None where judge or rubric is another one
        by now, or gone.
        """
        _, kind, judge, rubric, version = parts_of(name)
        if (judge and judge not in self.bench) or (rubric and rubric not in self.library):
            return None
        kinds: dict[str, Kind] = {"assess": "assess", "compare": "compare", "rank": "rank"}
        where = (judge or None, self.library[rubric] if rubric else None, kinds.get(kind))
        place = self._made(*where)
        if place.version != version:
            return None
        return self.place(*where)


def _restored(restore: Callable[[Any], None], state: Any) -> None:
    try:
        restore(state)
    except (ValueError, KeyError, TypeError, AttributeError):
        log.warning("a chart was kept in a form that this version does not read")
