"""How events are counted: in which metrics, under which labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from judge_service import events as ev
from judge_service.adapters.metric_table import RECENT

NONE: Final = "none"
"""The label of what has no error code."""
OTHER: Final = "other"
"""The label of ids beyond ``MAX_IDS``."""
MAX_IDS = 512
"""So many rubrics, judges and rules get labels of their own, however many come and go."""
BREAKER_VALUES: Final[dict[ev.BreakerState, int]] = {"closed": 0, "half_open": 1, "open": 2}


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


class EventCounts(ABC):
    """Counts events (``observe``) in the metrics of ``metric_table``, wherever those are kept."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._recent: dict[str, _Recent] = {}
        self._handlers = self._handlers_by_event()

    @abstractmethod
    def _count(self, name: str, *labels: str, by: float = 1) -> None:
        """Add to a counter."""

    @abstractmethod
    def _set(self, name: str, value: float, *labels: str) -> None:
        """Set a gauge."""

    @abstractmethod
    def _spread(self, name: str, value: float, *labels: str) -> None:
        """Note a value in a histogram."""

    def observe(self, event: ev.Event) -> None:
        """Take note of one event; an ``Observer``."""
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(event)

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
