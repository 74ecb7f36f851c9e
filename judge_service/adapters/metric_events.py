"""How events and requests are counted: in which metrics, under which labels."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from judge_service import events as ev
from judge_service.adapters.metric_table import (
    RECENT,
    START_AT_ZERO,
    Count,
    Counts,
    Level,
    Levels,
    Spread,
    Spreads,
)

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


class Figures(Protocol):
    """The only ways into a metric: what is not finite, or would make a counter fall, is left out.

    ``labels`` are the values of the metric's labels, in the table's order.
    """

    def count(self, metric: Count, *labels: str, by: float = 1) -> None:
        """Add to a counter."""

    def set(self, metric: Level, value: float, *labels: str) -> None:
        """Set a gauge."""

    def spread(self, metric: Spread, value: float, *labels: str) -> None:
        """Note a value in a histogram."""


class EventCounts:
    """Counts events (``handlers``) and HTTP requests (``answered``) in ``figures``.

    With ``queues_late`` the gauges of queues are set by ``set_queues`` only: every upstream call
    changes a queue twice, and nobody sees but the last change before a scrape.
    """

    def __init__(self, figures: Figures, *, queues_late: bool = False) -> None:
        self._figures = figures
        self._ids: set[str] = set()
        self._recent: dict[str, _Recent] = {}
        self._queues: dict[str, ev.QueueChanged] = {}
        self.handlers: Final[ev.Handlers] = self._handlers_by_event(
            self._keep_queue if queues_late else self._set_queue
        )
        for metric, series in START_AT_ZERO.items():
            for labels in series:
                figures.count(metric, *labels, by=0)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one HTTP request. ``method`` and ``route`` must be from closed sets."""
        self._figures.count(Counts.http_requests, method, route, str(status))
        self._figures.spread(Spreads.http_request_duration_seconds, seconds, method, route)

    def know(self, judges: Iterable[str], rubrics: Iterable[tuple[str, ev.Kind]]) -> None:
        """Begin the series of what is configured at 0, so that a first failure is an increase."""
        for judge in map(self._id, judges):
            self._figures.count(Counts.upstream_attempts, judge, NONE, by=0)
            for level in (Levels.breaker_state, Levels.queue_waiting, Levels.queue_running):
                self._figures.set(level, 0, judge)
        for rubric, kind in rubrics:
            labels = (kind, self._id(rubric), "success", NONE)
            self._figures.count(Counts.outcomes, *labels, by=0)

    def set_queues(self) -> None:
        """Set the gauges of the queues that were not set with each change. May run in another
        thread than the rest.
        """
        for event in self._queues.copy().values():
            self._set_queue(event)

    def _id(self, name: str) -> str:
        if name in self._ids:
            return name
        if len(self._ids) >= MAX_IDS:
            return OTHER
        self._ids.add(name)
        return name

    # How events are counted.

    def _handlers_by_event(self, queue_changed: Callable[[ev.QueueChanged], None]) -> ev.Handlers:
        def of_judge(metric: Count) -> Callable[[Any], None]:
            return lambda event: self._figures.count(metric, self._id(event.judge))

        def of_error(metric: Count) -> Callable[[Any], None]:
            return lambda event: self._figures.count(metric, self._id(event.judge), event.code)

        return {
            ev.Attempted: self._attempted,
            ev.Retried: of_error(Counts.upstream_retries),
            ev.RetryDenied: of_error(Counts.upstream_retries_denied),
            ev.LookedUp: lambda event: self._figures.count(Counts.cache_lookups, event.result),
            ev.Joined: of_judge(Counts.single_flight_joins),
            ev.QueueChanged: queue_changed,
            ev.Shed: of_judge(Counts.shed),
            ev.BreakerChanged: self._breaker_changed,
            ev.Judged: self._judged,
            ev.PairJudged: self._pair_judged,
            ev.FamilyExcluded: of_judge(Counts.family_exclusions),
            ev.ServedUnverified: of_judge(Counts.served_unverified),
            ev.GroupRanked: self._group_ranked,
            ev.ConstantAnswer: lambda event: self._figures.count(
                Counts.constant_answers, self._id(event.rubric)
            ),
            ev.StoreFailed: lambda event: self._figures.count(Counts.store_failures, event.what),
            ev.QuotaRefused: lambda event: self._figures.count(Counts.quota_refusals, event.quota),
            ev.AlarmChanged: self._alarm_changed,
            ev.WatchValue: self._watch_value,
            ev.WatchSpent: self._watch_spent,
            ev.WatchSkipped: lambda event: self._figures.count(
                Counts.watch_skipped, event.watch, self._id(event.judge), event.reason
            ),
            ev.SentinelJudged: lambda event: self._figures.count(
                Counts.sentinels, self._id(event.judge), self._id(event.rubric), event.result
            ),
            ev.ShadowJudged: self._shadow_judged,
            ev.FingerprintChanged: of_judge(Counts.fingerprint_changes),
        }

    def _alarm_changed(self, event: ev.AlarmChanged) -> None:
        labels = (
            self._own_id(event.judge), self._own_id(event.rubric), event.statistic,
            event.cause or NONE, event.kind or NONE,
        )  # fmt: skip
        self._figures.set(Levels.watch_alarm, float(event.raised), *labels)
        self._figures.count(Counts.watch_alarms, *labels, by=event.raised and not event.again)

    def _watch_value(self, event: ev.WatchValue) -> None:
        labels = (
            self._own_id(event.judge), self._own_id(event.rubric), event.statistic,
            event.kind or NONE,
        )  # fmt: skip
        self._figures.set(Levels.watch_current, event.current, *labels)
        self._figures.set(Levels.watch_baseline, event.baseline, *labels)

    def _watch_spent(self, event: ev.WatchSpent) -> None:
        judge, usage = self._id(event.judge), event.usage
        self._figures.count(Counts.watch_requests, event.watch, judge, by=usage.upstream_requests)
        tokens = usage.prompt_tokens + usage.completion_tokens
        self._figures.count(Counts.watch_tokens, event.watch, judge, by=tokens)
        self._figures.count(Counts.watch_cost_usd, event.watch, judge, by=usage.cost_usd or 0.0)
        unknown = usage.unknown_cost_calls
        self._figures.count(Counts.watch_unknown_cost_calls, event.watch, judge, by=unknown)

    def _shadow_judged(self, event: ev.ShadowJudged) -> None:
        labels = tuple(map(self._id, (event.judge, event.shadow, event.rubric)))
        self._figures.count(Counts.shadow_verdicts, *labels, event.result)
        for level, value in (
            (Levels.shadow_agreement, event.agreement),
            (Levels.shadow_kappa, event.kappa),
            (Levels.shadow_mean_shift, event.mean_shift),
        ):
            if value is not None:
                self._figures.set(level, value, *labels)

    def _own_id(self, name: str) -> str:
        """An id, or what stands for none: an alarm need not be about one judge or rubric."""
        return self._id(name) if name else NONE

    def _judged(self, event: ev.Judged) -> None:
        rubric, failed = self._id(event.rubric), event.code is not None
        labels = (event.kind, rubric, "failed" if failed else "success", event.code or NONE)
        if event.audit:
            self._figures.count(Counts.audit_outcomes, *labels)
            return
        self._figures.count(Counts.outcomes, *labels)
        self._figures.spread(Spreads.outcome_duration_seconds, event.seconds, event.kind, rubric)
        recent = self._recent.get(rubric)
        if recent is None:
            recent = self._recent[rubric] = _Recent()
        recent.add(failed)
        self._figures.set(Levels.recent_outcomes, len(recent.outcomes), rubric)
        self._figures.set(Levels.recent_failed_outcomes, recent.failed, rubric)
        if event.reward is not None:
            self._figures.spread(Spreads.reward, event.reward, rubric)
        if event.rule is not None:
            self._figures.count(Counts.short_circuits, rubric, self._id(event.rule))
        if event.family_unknown:
            self._figures.count(Counts.family_unknown, rubric)

    def _attempted(self, event: ev.Attempted) -> None:
        judge, usage = self._id(event.judge), event.usage
        self._figures.count(Counts.upstream_attempts, judge, event.code or NONE)
        self._figures.spread(Spreads.upstream_duration_seconds, event.seconds, judge)
        self._figures.count(Counts.upstream_tokens, judge, "prompt", by=usage.prompt_tokens)
        self._figures.count(Counts.upstream_tokens, judge, "completion", by=usage.completion_tokens)
        self._figures.count(Counts.upstream_tokens, judge, "cached", by=usage.cached_tokens)
        self._figures.count(Counts.upstream_cost_usd, judge, by=usage.cost_usd or 0.0)
        self._figures.count(Counts.upstream_unknown_cost_calls, judge, by=usage.unknown_cost_calls)

    def _keep_queue(self, event: ev.QueueChanged) -> None:
        self._queues[event.judge] = event

    def _set_queue(self, event: ev.QueueChanged) -> None:
        judge = self._id(event.judge)
        self._figures.set(Levels.queue_waiting, event.waiting, judge)
        self._figures.set(Levels.queue_running, event.running, judge)
        self._figures.set(Levels.queue_limit, event.limit, judge)

    def _breaker_changed(self, event: ev.BreakerChanged) -> None:
        judge = self._id(event.judge)
        self._figures.set(Levels.breaker_state, BREAKER_VALUES[event.state], judge)
        self._figures.count(Counts.breaker_changes, judge, event.state)

    def _pair_judged(self, event: ev.PairJudged) -> None:
        judge = self._id(event.judge)
        self._figures.count(Counts.pairs, judge, event.outcome)
        self._figures.count(Counts.pair_orders_decided, judge, by=event.decided)
        self._figures.count(Counts.pair_orders_first_won, judge, by=event.shown_first)

    def _group_ranked(self, event: ev.GroupRanked) -> None:
        rubric = self._id(event.rubric)
        self._figures.count(Counts.groups, rubric)
        self._figures.count(Counts.zero_advantage_groups, rubric, by=event.zero_advantage)
        for reward in event.rewards:
            self._figures.spread(Spreads.reward, reward, rubric)
        self._figures.spread(Spreads.group_tie_rate, event.tie_rate, rubric)
        self._figures.spread(Spreads.group_near_duplicate_share, event.near_duplicate_share, rubric)
        if event.length_correlation is not None:
            self._figures.spread(Spreads.group_length_correlation, event.length_correlation, rubric)
        if event.recent_length_correlation is not None:
            self._figures.set(
                Levels.recent_length_correlation, event.recent_length_correlation, rubric
            )
