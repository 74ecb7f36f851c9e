"""Metrics for Prometheus: the only module that imports its client.

One process alone keeps its figures itself (``OwnFigures``). Several worker processes share theirs
(``SharedFigures``): the client keeps them in files of one folder, and whichever worker is asked
tells the sum of all.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from judge_service.adapters.metric_buckets import Buckets
from judge_service.adapters.metric_table import (
    COUNTS,
    LEVELS,
    SPREADS,
    Count,
    Entry,
    Level,
    Spread,
)
from judge_service.adapters.own_figures import Labels, OwnFigures
from judge_service.adapters.worker_processes import worker_pids
from judge_service.errors import ConfigError

PREFIX: Final = "judge_service_"

# Process-wide in the client: without it every counter has a second series with its birthday. Here
# and below, types are not checked where the client declares none.
disable_created_metrics()  # type: ignore[no-untyped-call]

_Series = TypeVar("_Series", Counter, Gauge, Histogram)


def rendered(figures: OwnFigures | SharedFigures, accept: str) -> tuple[bytes, str]:
    """What was counted so far, as text in the form that ``accept`` asks for, and its content type.

    May run in another thread than the counting.
    """
    encode, content_type = choose_encoder(accept)
    if isinstance(figures, SharedFigures):
        return encode(figures.registry()), content_type
    whole = CollectorRegistry()
    whole.register(ToldFigures(figures))
    ProcessCollector(registry=whole)
    return encode(whole), content_type


class ToldFigures(Collector):
    """The figures of one process, told as the client tells its own."""

    def __init__(self, figures: OwnFigures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """One family per metric, told as the client tells its own."""
        # Copies, as the loop's thread goes on counting.
        for count, counted in self._figures.counts.items():
            family = _family(count, "counter")
            for labels, value in _named(count, counted.copy()):
                family.add_sample(f"{family.name}_total", labels, value)
            yield family
        for level, told in self._figures.levels.items():
            family = _family(level, "gauge")
            for labels, value in _named(level, told.copy()):
                family.add_sample(family.name, labels, value)
            yield family
        for spread, seen in self._figures.spreads.items():
            family = _family(spread, "histogram")
            for labels, buckets in _named(spread, seen.copy()):
                _add_histogram(family, spread, labels, buckets)
            yield family


_Value = TypeVar("_Value")


def _family(metric: Entry, kind: str) -> Metric:
    return Metric(PREFIX + metric.name, metric.text, kind)


def _named(
    metric: Entry, series: Mapping[Labels, _Value]
) -> Iterator[tuple[dict[str, str], _Value]]:
    """Each series with its labels by name."""
    for values, found in series.items():
        yield dict(zip(metric.labels, values, strict=True)), found


def _add_histogram(
    family: Metric, spread: Spread, labels: Mapping[str, str], buckets: Buckets
) -> None:
    up_to, total = buckets.read()
    ends = [*map(floatToGoString, spread.bounds), "+Inf"]
    for end, count in zip(ends, up_to, strict=True):
        family.add_sample(f"{family.name}_bucket", {**labels, "le": end}, count)
    family.add_sample(f"{family.name}_count", dict(labels), up_to[-1])
    # A sum that can fall is none to Prometheus.
    if spread.bounds[0] >= 0:
        family.add_sample(f"{family.name}_sum", dict(labels), total)


class SharedFigures:
    """The figures of all worker processes, which the client keeps in files of one folder.

    Raises ConfigError when the folder is missing.
    """

    def __init__(self, folder: str) -> None:
        if not Path(folder).is_dir():
            raise ConfigError(f"PROMETHEUS_MULTIPROC_DIR: {folder}: no such folder")
        self._folder = Path(folder)
        self._counts = {
            metric: Counter(PREFIX + metric.name, metric.text, metric.labels, registry=None)
            for metric in COUNTS
        }
        self._levels = {
            metric: Gauge(
                PREFIX + metric.name, metric.text, metric.labels, registry=None,
                multiprocess_mode=metric.over,
            )
            for metric in LEVELS
        }  # fmt: skip
        self._spreads = {
            metric: Histogram(
                PREFIX + metric.name, metric.text, metric.labels, registry=None,
                buckets=metric.bounds,
            )
            for metric in SPREADS
        }  # fmt: skip
        self._series: dict[tuple[Any, Labels], Any] = {}

    def count(self, metric: Count, *labels: str, by: float = 1) -> None:
        """Add to a counter."""
        if math.isfinite(by) and by >= 0:
            self._one(self._counts[metric], labels).inc(by)

    def set(self, metric: Level, value: float, *labels: str) -> None:
        """Set a gauge."""
        if math.isfinite(value):
            self._one(self._levels[metric], labels).set(value)

    def spread(self, metric: Spread, value: float, *labels: str) -> None:
        """Note a value in a histogram."""
        if math.isfinite(value):
            self._one(self._spreads[metric], labels).observe(value)

    def registry(self) -> CollectorRegistry:
        """What all processes have counted so far."""
        alive, dead = worker_pids(self._folder)
        for pid in dead:
            # Takes away what the process told of its present; what it counted stays.
            with contextlib.suppress(FileNotFoundError):  # another worker was quicker
                mark_process_dead(pid, str(self._folder))  # type: ignore[no-untyped-call]
        whole = CollectorRegistry()
        whole.register(_Files(self._folder))
        whole.register(_Processes(alive))
        return whole

    def _one(self, family: _Series, labels: Labels) -> _Series:
        """The series of these labels: looked up once, as the client takes a lock for it."""
        known: _Series | None = self._series.get((family, labels))
        if known is None:
            known = self._series[family, labels] = family.labels(*labels)
        return known


class _Files(Collector):
    """What all worker processes have written to their folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterable[Metric]:
        """One family per metric, over all files."""
        # The client cannot read the file of a process that is just making it, or died over it.
        files = [str(file) for file in self._folder.glob("*.db") if _size(file)]
        found: Iterable[Metric] = MultiProcessCollector.merge(files)  # type: ignore[no-untyped-call]
        return found


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


class _Processes(Collector):
    """What all worker processes use together; the start is the youngest one's."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._pids = pids

    def collect(self) -> Iterable[Metric]:
        """One family per figure, over all processes."""
        families: dict[str, Metric] = {}
        for pid in self._pids:
            # A zombie has no /proc/<pid>/fd, and a process may end in between: then it is left out.
            one = ProcessCollector(pid=partial(int, pid), registry=None)
            for family in one.collect():
                known = families.setdefault(family.name, family)
                if known is family:
                    continue
                before, now = known.samples[0], family.samples[0]
                combine = max if family.name.endswith("start_time_seconds") else sum
                known.samples = [before._replace(value=combine((before.value, now.value)))]
        return families.values()
