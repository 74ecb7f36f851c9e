"""Metrics for Prometheus: the only module that imports its client.

Every app has a registry of its own. With several worker processes the client keeps the values in
files of one folder, and whichever worker is asked tells the sum of all.
"""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
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

from judge_service import events as ev
from judge_service.adapters.worker_processes import worker_pids
from judge_service.errors import ConfigError

PREFIX: Final = "judge_service_"
NONE: Final = "none"
"""The label of what has no error code."""
OTHER: Final = "other"
"""The label of ids beyond ``MAX_IDS``."""
MAX_IDS = 512
"""So many rubrics, judges and rules get labels of their own, however many come and go."""
RECENT = 200
"""Outcomes per rubric and process that the recent failed share is made of."""
BREAKER_VALUES: Final[dict[ev.BreakerState, int]] = {"closed": 0, "half_open": 1, "open": 2}
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600)
REWARDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
CORRELATIONS = (-0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

# Process-wide in the client: without it every counter has a second series with its birthday.
disable_created_metrics()  # type: ignore[no-untyped-call]


class PrometheusMetrics:
    """Counts events (``observe``) and HTTP requests (``answered``), and renders them.

    ``shared_dir`` is the folder of all worker processes, where there are several. Raises
    ConfigError when it is missing.
    """

    def __init__(self, version: str, shared_dir: str | None = None) -> None:
        if shared_dir is not None and not Path(shared_dir).is_dir():
            raise ConfigError(f"PROMETHEUS_MULTIPROC_DIR: {shared_dir}: no such folder")
        self._shared_dir = shared_dir
        self._registry = CollectorRegistry()
        self._ids: set[str] = set()
        self._recent: dict[str, deque[bool]] = {}
        self._declare_outcomes()
        self._declare_upstream()
        self._declare_pairs()
        self._declare_service(version)
        if shared_dir is None:
            ProcessCollector(registry=self._registry)
        self._handlers: dict[type, Callable[[Any], None]] = {
            ev.Attempted: self._attempted,
            ev.Retried: lambda e: self._retries.labels(self._id(e.judge), e.code).inc(),
            ev.RetryDenied: lambda e: self._denied.labels(self._id(e.judge), e.code).inc(),
            ev.LookedUp: lambda e: self._lookups.labels(e.result).inc(),
            ev.Joined: lambda e: self._joins.labels(self._id(e.judge)).inc(),
            ev.QueueChanged: self._queue_changed,
            ev.Shed: lambda e: self._shed.labels(self._id(e.judge)).inc(),
            ev.BreakerChanged: self._breaker_changed,
            ev.Judged: self._judged,
            ev.PairJudged: self._pair_judged,
            ev.FamilyExcluded: lambda e: self._excluded.labels(self._id(e.judge)).inc(),
            ev.ServedUnverified: lambda e: self._unverified.labels(self._id(e.judge)).inc(),
            ev.GroupRanked: self._group_ranked,
            ev.StoreFailed: lambda e: self._store_failures.labels(e.what).inc(),
            ev.QuotaRefused: lambda e: self._quota_refusals.labels(e.quota).inc(),
        }

    def observe(self, event: ev.Event) -> None:
        """Take note of one event; an ``Observer``."""
        self._handlers[type(event)](event)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one HTTP request. ``method`` and ``route`` must be from closed sets."""
        self._requests.labels(method, route, str(status)).inc()
        _observe(self._request_seconds.labels(method, route), seconds)

    def know(self, judges: Iterable[str], rubrics: Iterable[tuple[str, ev.Kind]]) -> None:
        """Begin the series of what is configured at 0, so that a first failure is an increase."""
        for judge in map(self._id, judges):
            self._attempts.labels(judge, NONE)
            self._breaker.labels(judge).set(BREAKER_VALUES["closed"])
            for gauge in (self._waiting, self._running):
                gauge.labels(judge).set(0)
        for rubric, kind in rubrics:
            self._outcomes.labels(kind, self._id(rubric), "success", NONE)

    def render(self, accept: str = "") -> tuple[bytes, str]:
        """Everything as text, in the form that ``accept`` asks for, and its content type."""
        encode, content_type = choose_encoder(accept)
        if self._shared_dir is None:
            return encode(self._registry), content_type
        alive, dead = worker_pids(Path(self._shared_dir))
        for pid in dead:
            # Takes away what the process told of its present; what it counted stays.
            with contextlib.suppress(FileNotFoundError):  # another worker was quicker
                mark_process_dead(pid, self._shared_dir)  # type: ignore[no-untyped-call]
        whole = CollectorRegistry()
        MultiProcessCollector(whole, self._shared_dir)  # type: ignore[no-untyped-call]
        whole.register(_Processes(alive))
        return encode(whole), content_type

    # What is counted.

    def _declare_outcomes(self) -> None:
        labels = ("kind", "rubric", "status", "code")
        self._outcomes = self._counter("outcomes", "Outcomes of judging, by error code.", *labels)
        self._audits = self._counter("audit_outcomes", "The same of audits.", *labels)
        self._seconds = self._histogram(
            "outcome_duration_seconds", "Time from request to outcome.", SECONDS, "kind", "rubric"
        )
        self._recent_all = self._gauge(
            "recent_outcomes", f"Outcomes among the last {RECENT} per process.", "rubric"
        )
        self._recent_failed = self._gauge(
            "recent_failed_outcomes", "Failed ones among them.", "rubric"
        )
        self._rewards = self._histogram("reward", "Rewards given.", REWARDS, "rubric")
        self._short = self._counter(
            "short_circuits", "Outcomes that a rule made, no judge asked.", "rubric", "rule"
        )
        self._unknown = self._counter(
            "family_unknown", "Outcomes for which no judge could be excluded.", "rubric"
        )
        self._groups = self._counter("groups", "Groups ranked.", "rubric")
        self._zero_advantage = self._counter(
            "zero_advantage_groups", "Groups whose rewards are all equal.", "rubric"
        )
        self._ties = self._histogram(
            "group_tie_rate", "Share of a group's pairs with equal rewards.", REWARDS, "rubric"
        )
        self._duplicates = self._histogram(
            "group_near_duplicate_share", "Share of near duplicates in a group.", REWARDS, "rubric"
        )
        self._length_r = self._histogram(
            "group_length_correlation", "Correlation of reward and length in a group.",
            CORRELATIONS, "rubric",
        )  # fmt: skip

    def _declare_upstream(self) -> None:
        self._attempts = self._counter(
            "upstream_attempts", "Requests sent to judges, by what came of them.", "judge", "code"
        )
        self._latency = self._histogram(
            "upstream_duration_seconds", "Time of one request to a judge.", SECONDS, "judge"
        )
        self._retries = self._counter(
            "upstream_retries", "Requests sent again after an error.", "judge", "code"
        )
        self._denied = self._counter(
            "upstream_retries_denied", "Retries the judge's budget denied.", "judge", "code"
        )
        self._tokens = self._counter(
            "upstream_tokens", "Tokens; cached ones are part of the prompt's.", "judge", "type"
        )
        self._cost = self._counter("upstream_cost_usd", "Known cost in US dollars.", "judge")
        self._unpriced = self._counter(
            "upstream_unknown_cost_calls", "Requests whose cost is not known.", "judge"
        )
        self._unverified = self._counter(
            "served_unverified", "Verdicts of a model whose name tells no family.", "judge"
        )
        self._waiting = self._gauge("queue_waiting", "Calls that wait for the judge.", "judge")
        self._running = self._gauge("queue_running", "Calls that are with the judge.", "judge")
        self._limit = self._gauge(
            "queue_limit", "Calls that may be with it at once.", "judge", mode="livemax"
        )
        self._shed = self._counter("shed", "Calls turned away by a full queue.", "judge")
        self._breaker = self._gauge(
            "breaker_state", "0 closed, 1 half open, 2 open.", "judge", mode="livemax"
        )
        self._breaker_changes = self._counter(
            "breaker_changes", "Changes of the breaker to a state.", "judge", "state"
        )

    def _declare_pairs(self) -> None:
        self._pairs = self._counter(
            "pairs", "Pairs judged in both orders, by outcome.", "judge", "outcome"
        )
        self._decided = self._counter(
            "pair_orders_decided", "Single orders of pairs with a winner.", "judge"
        )
        self._shown_first = self._counter(
            "pair_orders_first_won", "Those that the answer shown first won.", "judge"
        )
        self._excluded = self._counter(
            "family_exclusions", "Times a judge was left out for its family.", "judge"
        )

    def _declare_service(self, version: str) -> None:
        self._lookups = self._counter("cache_lookups", "Look-ups of verdicts.", "result")
        for result in ("hit", "miss", "rejected"):
            self._lookups.labels(result)
        self._joins = self._counter(
            "single_flight_joins", "Requests that waited for another one's verdict.", "judge"
        )
        self._store_failures = self._counter(
            "store_failures", "Operations the store failed.", "operation"
        )
        for what in ("read", "write", "connect"):
            self._store_failures.labels(what)
        self._quota_refusals = self._counter(
            "quota_refusals", "Callers turned away for a quota.", "quota"
        )
        self._requests = self._counter(
            "http_requests", "HTTP requests.", "method", "route", "status"
        )
        self._request_seconds = self._histogram(
            "http_request_duration_seconds", "Their time.", SECONDS, "method", "route"
        )
        build = self._gauge("build_info", "The version that runs.", "version", mode="max")
        build.labels(version).set(1)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(PREFIX + name, text, labels, registry=self._registry)

    def _gauge(self, name: str, text: str, *labels: str, mode: Any = "livesum") -> Gauge:
        return Gauge(PREFIX + name, text, labels, registry=self._registry, multiprocess_mode=mode)

    def _histogram(
        self, name: str, text: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        return Histogram(PREFIX + name, text, labels, registry=self._registry, buckets=buckets)

    # How events are counted.

    def _id(self, name: str) -> str:
        if name in self._ids:
            return name
        if len(self._ids) >= MAX_IDS:
            return OTHER
        self._ids.add(name)
        return name

    def _judged(self, event: ev.Judged) -> None:
        rubric = self._id(event.rubric)
        failed = event.code is not None
        labels = (event.kind, rubric, "failed" if failed else "success", event.code or NONE)
        if event.audit:
            self._audits.labels(*labels).inc()
            return
        self._outcomes.labels(*labels).inc()
        _observe(self._seconds.labels(event.kind, rubric), event.seconds)
        recent = self._recent.setdefault(rubric, deque(maxlen=RECENT))
        recent.append(failed)
        self._recent_all.labels(rubric).set(len(recent))
        self._recent_failed.labels(rubric).set(sum(recent))
        if event.reward is not None:
            _observe(self._rewards.labels(rubric), event.reward)
        if event.rule is not None:
            self._short.labels(rubric, self._id(event.rule)).inc()
        if event.family_unknown:
            self._unknown.labels(rubric).inc()

    def _attempted(self, event: ev.Attempted) -> None:
        judge, usage = self._id(event.judge), event.usage
        self._attempts.labels(judge, event.code or NONE).inc()
        _observe(self._latency.labels(judge), event.seconds)
        _add(self._tokens.labels(judge, "prompt"), usage.prompt_tokens)
        _add(self._tokens.labels(judge, "completion"), usage.completion_tokens)
        _add(self._tokens.labels(judge, "cached"), usage.cached_tokens)
        _add(self._cost.labels(judge), usage.cost_usd or 0.0)
        _add(self._unpriced.labels(judge), usage.unknown_cost_calls)

    def _queue_changed(self, event: ev.QueueChanged) -> None:
        judge = self._id(event.judge)
        self._waiting.labels(judge).set(event.waiting)
        self._running.labels(judge).set(event.running)
        self._limit.labels(judge).set(event.limit)

    def _breaker_changed(self, event: ev.BreakerChanged) -> None:
        judge = self._id(event.judge)
        self._breaker.labels(judge).set(BREAKER_VALUES[event.state])
        self._breaker_changes.labels(judge, event.state).inc()

    def _pair_judged(self, event: ev.PairJudged) -> None:
        judge = self._id(event.judge)
        self._pairs.labels(judge, event.outcome).inc()
        self._decided.labels(judge).inc(event.decided)
        self._shown_first.labels(judge).inc(event.shown_first)

    def _group_ranked(self, event: ev.GroupRanked) -> None:
        rubric = self._id(event.rubric)
        self._groups.labels(rubric).inc()
        self._zero_advantage.labels(rubric).inc(event.zero_advantage)
        for reward in event.rewards:
            _observe(self._rewards.labels(rubric), reward)
        _observe(self._ties.labels(rubric), event.tie_rate)
        _observe(self._duplicates.labels(rubric), event.near_duplicate_share)
        if event.length_correlation is not None:
            _observe(self._length_r.labels(rubric), event.length_correlation)


def _observe(histogram: Histogram, value: float) -> None:
    if math.isfinite(value):
        histogram.observe(value)


def _add(counter: Counter, amount: float) -> None:
    if math.isfinite(amount) and amount >= 0:
        counter.inc(amount)


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
