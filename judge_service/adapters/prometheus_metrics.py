"""Metrics for Prometheus: the only module that imports its client.

Every app has a registry of its own. With several worker processes the client keeps the values in
files of one folder, and whichever worker is asked tells the sum of all.
"""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
from judge_service.adapters.metric_spreads import Spreads
from judge_service.adapters.metric_table import (
    COUNTS,
    LEVELS,
    RECENT,
    SPREADS,
    START_AT_ZERO,
    Spread,
)
from judge_service.adapters.worker_processes import worker_pids
from judge_service.errors import ConfigError

PREFIX: Final = "judge_service_"
NONE: Final = "none"
"""The label of what has no error code."""
OTHER: Final = "other"
"""The label of ids beyond ``MAX_IDS``."""
MAX_IDS = 512
"""So many rubrics, judges and rules get labels of their own, however many come and go."""
BREAKER_VALUES: Final[dict[ev.BreakerState, int]] = {"closed": 0, "half_open": 1, "open": 2}

# Process-wide in the client: without it every counter has a second series with its birthday.
disable_created_metrics()  # type: ignore[no-untyped-call]


@dataclass(slots=True)
class _Recent:
    """Whether the latest outcomes of a rubric failed, and how many did."""

    outcomes: deque[bool] = field(default_factory=lambda: deque(maxlen=RECENT))
    failed: int = 0

    def add(self, failed: bool) -> None:
        if len(self.outcomes) == RECENT:
            self.failed -= self.outcomes[0]
        self.outcomes.append(failed)
        self.failed += failed


class PrometheusMetrics:
    """Counts events (``observe``) and HTTP requests (``answered``), and renders them.

    ``shared_dir`` is the folder of all worker processes, where there are several. Raises
    ConfigError when it is missing.
    """

    def __init__(self, version: str, shared_dir: str | None = None) -> None:
        if shared_dir is not None and not Path(shared_dir).is_dir():
            raise ConfigError(f"PROMETHEUS_MULTIPROC_DIR: {shared_dir}: no such folder")
        self._shared_dir = shared_dir
        self._ids: set[str] = set()
        self._children: dict[tuple[str, tuple[str, ...]], Any] = {}
        self._recent: dict[str, _Recent] = {}
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
        self._handlers = self._handlers_by_event()

    def observe(self, event: ev.Event) -> None:
        """Take note of one event; an ``Observer``."""
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(event)

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

    def _id(self, name: str) -> str:
        if name in self._ids:
            return name
        if len(self._ids) >= MAX_IDS:
            return OTHER
        self._ids.add(name)
        return name

    # How events are counted.

    def _handlers_by_event(self) -> dict[type, Callable[[Any], None]]:
        def of_judge(name: str) -> Callable[[Any], None]:
            return lambda event: self._count(name, self._id(event.judge))

        def of_error(name: str) -> Callable[[Any], None]:
            return lambda event: self._count(name, self._id(event.judge), event.code)

        return {
            ev.Attempted: self._attempted,
            ev.Retried: of_error("upstream_retries"),
            ev.RetryDenied: of_error("upstream_retries_denied"),
            ev.LookedUp: lambda event: self._count("cache_lookups", event.result),
            ev.Joined: of_judge("single_flight_joins"),
            ev.QueueChanged: self._queue_changed,
            ev.Shed: of_judge("shed"),
            ev.BreakerChanged: self._breaker_changed,
            ev.Judged: self._judged,
            ev.PairJudged: self._pair_judged,
            ev.FamilyExcluded: of_judge("family_exclusions"),
            ev.ServedUnverified: of_judge("served_unverified"),
            ev.GroupRanked: self._group_ranked,
            ev.ConstantAnswer: lambda event: self._count(
                "constant_answers", self._id(event.rubric)
            ),
            ev.StoreFailed: lambda event: self._count("store_failures", event.what),
            ev.QuotaRefused: lambda event: self._count("quota_refusals", event.quota),
            ev.AlarmChanged: self._alarm_changed,
            ev.WatchValue: self._watch_value,
            ev.WatchSpent: self._watch_spent,
            ev.WatchSkipped: lambda event: self._count(
                "watch_skipped", event.watch, self._id(event.judge), event.reason
            ),
            ev.SentinelJudged: lambda event: self._count(
                "sentinels", self._id(event.judge), self._id(event.rubric), event.result
            ),
            ev.ShadowJudged: self._shadow_judged,
            ev.FingerprintChanged: of_judge("fingerprint_changes"),
        }

    def _alarm_changed(self, event: ev.AlarmChanged) -> None:
        labels = (
            self._own_id(event.judge), self._own_id(event.rubric), event.statistic,
            event.cause or NONE, event.kind or NONE,
        )  # fmt: skip
        self._set("watch_alarm", float(event.raised), *labels)
        self._count("watch_alarms", *labels, by=event.raised and not event.again)

    def _watch_value(self, event: ev.WatchValue) -> None:
        labels = (
            self._own_id(event.judge), self._own_id(event.rubric), event.statistic,
            event.kind or NONE,
        )  # fmt: skip
        self._set("watch_current", event.current, *labels)
        self._set("watch_baseline", event.baseline, *labels)

    def _watch_spent(self, event: ev.WatchSpent) -> None:
        judge, usage = self._id(event.judge), event.usage
        self._count("watch_requests", event.watch, judge, by=usage.upstream_requests)
        tokens = usage.prompt_tokens + usage.completion_tokens
        self._count("watch_tokens", event.watch, judge, by=tokens)
        self._count("watch_cost_usd", event.watch, judge, by=usage.cost_usd or 0.0)
        unknown = usage.unknown_cost_calls
        self._count("watch_unknown_cost_calls", event.watch, judge, by=unknown)

    def _shadow_judged(self, event: ev.ShadowJudged) -> None:
        labels = tuple(map(self._id, (event.judge, event.shadow, event.rubric)))
        self._count("shadow_verdicts", *labels, event.result)
        for name, value in (
            ("shadow_agreement", event.agreement),
            ("shadow_kappa", event.kappa),
            ("shadow_mean_shift", event.mean_shift),
        ):
            if value is not None:
                self._set(name, value, *labels)

    def _own_id(self, name: str) -> str:
        """An id, or what stands for none: an alarm need not be about one judge or rubric."""
        return self._id(name) if name else NONE

    def _judged(self, event: ev.Judged) -> None:
        rubric, failed = self._id(event.rubric), event.code is not None
        labels = (event.kind, rubric, "failed" if failed else "success", event.code or NONE)
        if event.audit:
            self._count("audit_outcomes", *labels)
            return
        self._count("outcomes", *labels)
        self._spread("outcome_duration_seconds", event.seconds, event.kind, rubric)
        recent = self._recent.get(rubric)
        if recent is None:
            recent = self._recent[rubric] = _Recent()
        recent.add(failed)
        self._set("recent_outcomes", len(recent.outcomes), rubric)
        self._set("recent_failed_outcomes", recent.failed, rubric)
        if event.reward is not None:
            self._spread("reward", event.reward, rubric)
        if event.rule is not None:
            self._count("short_circuits", rubric, self._id(event.rule))
        if event.family_unknown:
            self._count("family_unknown", rubric)

    def _attempted(self, event: ev.Attempted) -> None:
        judge, usage = self._id(event.judge), event.usage
        self._count("upstream_attempts", judge, event.code or NONE)
        self._spread("upstream_duration_seconds", event.seconds, judge)
        self._count("upstream_tokens", judge, "prompt", by=usage.prompt_tokens)
        self._count("upstream_tokens", judge, "completion", by=usage.completion_tokens)
        self._count("upstream_tokens", judge, "cached", by=usage.cached_tokens)
        self._count("upstream_cost_usd", judge, by=usage.cost_usd or 0.0)
        self._count("upstream_unknown_cost_calls", judge, by=usage.unknown_cost_calls)

    def _queue_changed(self, event: ev.QueueChanged) -> None:
        judge = self._id(event.judge)
        self._set("queue_waiting", event.waiting, judge)
        self._set("queue_running", event.running, judge)
        self._set("queue_limit", event.limit, judge)

    def _breaker_changed(self, event: ev.BreakerChanged) -> None:
        judge = self._id(event.judge)
        self._set("breaker_state", BREAKER_VALUES[event.state], judge)
        self._count("breaker_changes", judge, event.state)

    def _pair_judged(self, event: ev.PairJudged) -> None:
        judge = self._id(event.judge)
        self._count("pairs", judge, event.outcome)
        self._count("pair_orders_decided", judge, by=event.decided)
        self._count("pair_orders_first_won", judge, by=event.shown_first)

    def _group_ranked(self, event: ev.GroupRanked) -> None:
        rubric = self._id(event.rubric)
        self._count("groups", rubric)
        self._count("zero_advantage_groups", rubric, by=event.zero_advantage)
        for reward in event.rewards:
            self._spread("reward", reward, rubric)
        self._spread("group_tie_rate", event.tie_rate, rubric)
        self._spread("group_near_duplicate_share", event.near_duplicate_share, rubric)
        if event.length_correlation is not None:
            self._spread("group_length_correlation", event.length_correlation, rubric)
        if event.recent_length_correlation is not None:
            self._set("recent_length_correlation", event.recent_length_correlation, rubric)


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
