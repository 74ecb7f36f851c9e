"""Metrics for Prometheus: the only module that imports its client.

Every app has a registry of its own. With several worker processes the client keeps the values in
files of one folder, and whichever worker is asked tells the sum of all.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

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

from judge_service import events as ev
from judge_service.adapters.metric_events import NONE, EventCounts
from judge_service.adapters.metric_spreads import Spreads
from judge_service.adapters.metric_table import (
    COUNTS,
    LEVELS,
    SPREADS,
    START_AT_ZERO,
    Spread,
)
from judge_service.adapters.worker_processes import worker_pids
from judge_service.errors import ConfigError

PREFIX: Final = "judge_service_"

# Process-wide in the client: without it every counter has a second series with its birthday.
disable_created_metrics()  # type: ignore[no-untyped-call]


class PrometheusMetrics(EventCounts):
    """Counts events (``observe``) and HTTP requests (``answered``), and renders them.

    ``shared_dir`` is the folder of all worker processes, where there are several. Raises
    ConfigError when it is missing.
    """

    def __init__(self, version: str, shared_dir: str | None = None) -> None:
        if shared_dir is not None and not Path(shared_dir).is_dir():
            raise ConfigError(f"PROMETHEUS_MULTIPROC_DIR: {shared_dir}: no such folder")
        super().__init__()
        self._shared_dir = shared_dir
        self._children: dict[tuple[str, tuple[str, ...]], Any] = {}
        self._counted: dict[tuple[str, tuple[str, ...]], float] = {}
        self._told: dict[tuple[str, tuple[str, ...]], float] = {}
        self._registry = registry = CollectorRegistry()
        self._counts = {
            name: Counter(PREFIX + name, count.text, count.labels, registry=registry)
            for name, count in COUNTS.items()
        }
        self._levels = {
            name: Gauge(
                PREFIX + name, level.text, level.labels, registry=registry,
                multiprocess_mode=level.over,
            )
            for name, level in LEVELS.items()
        }  # fmt: skip
        self._spreads: dict[str, Histogram] = {}
        self._own_spreads: Spreads | None = None
        if shared_dir is None:
            self._own_spreads = Spreads(SPREADS)
            registry.register(Histograms(self._own_spreads, SPREADS))
        else:
            self._spreads = {
                name: Histogram(
                    PREFIX + name, spread.text, spread.labels, registry=registry,
                    buckets=spread.bounds,
                )
                for name, spread in SPREADS.items()
            }  # fmt: skip
        for name, series in START_AT_ZERO.items():
            for labels in series:
                self._count(name, *labels, by=0)
        self._set("build_info", 1, version)
        if shared_dir is None:
            ProcessCollector(registry=registry)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one HTTP request. ``method`` and ``route`` must be from closed sets."""
        self._count("http_requests", method, route, str(status))
        self._spread("http_request_duration_seconds", seconds, method, route)

    def know(self, judges: Iterable[str], rubrics: Iterable[tuple[str, ev.Kind]]) -> None:
        """Begin the series of what is configured at 0, so that a first failure is an increase."""
        for judge in map(self._id, judges):
            self._count("upstream_attempts", judge, NONE, by=0)
            for name in ("breaker_state", "queue_waiting", "queue_running"):
                self._set(name, 0, judge)
        for rubric, kind in rubrics:
            self._count("outcomes", kind, self._id(rubric), "success", NONE, by=0)

    def flush(self) -> None:
        """Hand over to the client what was counted since. To be called by who observes, before
        ``render``, which may run in another thread.
        """
        counted, self._counted = self._counted, {}
        for (name, labels), by in counted.items():
            self._child(self._counts, name, labels).inc(by)
        told, self._told = self._told, {}
        for (name, labels), value in told.items():
            self._child(self._levels, name, labels).set(value)

    def render(self, accept: str = "") -> tuple[bytes, str]:
        """Everything that was handed over, as text in the form that ``accept`` asks for, and its
        content type.
        """
        encode, content_type = choose_encoder(accept)
        if self._shared_dir is None:
            return encode(self._registry), content_type
        alive, dead = worker_pids(Path(self._shared_dir))
        for pid in dead:
            # Takes away what the process told of its present; what it counted stays.
            with contextlib.suppress(FileNotFoundError):  # another worker was quicker
                mark_process_dead(pid, self._shared_dir)  # type: ignore[no-untyped-call]
        whole = CollectorRegistry()
        whole.register(_Shared(Path(self._shared_dir)))
        whole.register(_Processes(alive))
        return encode(whole), content_type

    # The only ways into a metric: nothing that is not finite passes. The client takes a lock for
    # every step, so one process alone hands over what it counted when somebody looks.

    def _count(self, name: str, *labels: str, by: float = 1) -> None:
        if not (math.isfinite(by) and by >= 0):
            return
        if self._shared_dir is None:
            key = name, labels
            self._counted[key] = self._counted.get(key, 0) + by
        else:
            self._child(self._counts, name, labels).inc(by)

    def _set(self, name: str, value: float, *labels: str) -> None:
        if not math.isfinite(value):
            return
        if self._shared_dir is None:
            self._told[name, labels] = value
        else:
            self._child(self._levels, name, labels).set(value)

    def _spread(self, name: str, value: float, *labels: str) -> None:
        if not math.isfinite(value):
            return
        if self._own_spreads is not None:
            self._own_spreads.observe(name, value, labels)
        else:
            self._child(self._spreads, name, labels).observe(value)

    def _child(self, family: Mapping[str, Any], name: str, labels: tuple[str, ...]) -> Any:
        """The series of these labels: looked up once, as the client takes a lock for it."""
        known = self._children.get((name, labels))
        if known is None:
            known = self._children[name, labels] = family[name].labels(*labels)
        return known


class Histograms(Collector):
    """What one process has counted by itself, told as the client tells its own histograms."""

    def __init__(self, counted: Spreads, spreads: Mapping[str, Spread]) -> None:
        self._counted = counted
        self._spreads = spreads

    def collect(self) -> Iterable[Metric]:
        """One family per name."""
        for name, spread in self._spreads.items():
            whole = PREFIX + name
            family = Metric(whole, spread.text, "histogram")
            ends = [*map(floatToGoString, spread.bounds), "+Inf"]
            for labels, up_to, total in self._counted.series(name):
                for end, count in zip(ends, up_to, strict=True):
                    family.add_sample(f"{whole}_bucket", {**labels, "le": end}, count)
                family.add_sample(f"{whole}_count", dict(labels), up_to[-1])
                # A sum that can fall is none to Prometheus.
                if spread.bounds[0] >= 0:
                    family.add_sample(f"{whole}_sum", dict(labels), total)
            yield family


class _Shared(Collector):
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
            one = ProcessCollector(pid=lambda pid=pid: pid, registry=None)  # type: ignore[misc]
            for family in one.collect():
                known = families.setdefault(family.name, family)
                if known is family:
                    continue
                before, now = known.samples[0], family.samples[0]
                combine = max if family.name.endswith("start_time_seconds") else sum
                known.samples = [before._replace(value=combine((before.value, now.value)))]
        return families.values()
