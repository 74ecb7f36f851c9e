"""Every metric of the service, by name without the prefix: its meaning and its labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, TypeVar

RECENT: Final = 200
"""Outcomes per rubric and process that the recent failed share is made of."""
SECONDS: Final = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0,
    600.0,
)  # fmt: skip
SHARES: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
CORRELATIONS: Final = (-0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
Over: TypeAlias = Literal["livesum", "livemax", "max"]
"""What is made of the worker processes' values: of those that live, or of all."""


# Compared and hashed by identity, which is quick: there is one object per metric.
@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A metric. Its name is the one that it has in its table."""

    name: str = field(init=False)
    text: str
    labels: tuple[str, ...]

    def __set_name__(self, table: type, name: str) -> None:
        object.__setattr__(self, "name", name)


@dataclass(frozen=True, slots=True, eq=False)
class Count(Entry):
    """A counter."""


@dataclass(frozen=True, slots=True, eq=False)
class Level(Entry):
    """A gauge."""

    over: Over = "livesum"


@dataclass(frozen=True, slots=True, eq=False)
class Spread(Entry):
    """A histogram; ``bounds`` are the upper bounds of its buckets."""

    bounds: tuple[float, ...]


_OUTCOME = ("kind", "rubric", "status", "code")
_JUDGE, _CODE, _RUBRIC = ("judge",), ("judge", "code"), ("rubric",)

_SERIES = ("judge", "rubric", "statistic", "kind")
_ALARM, _WATCH = ("judge", "rubric", "statistic", "cause", "kind"), ("watch", "judge")
_SHADOW = ("judge", "shadow", "rubric")


class Counts:
    """The counters."""

    outcomes = Count("Outcomes of judging, by error code.", _OUTCOME)
    audit_outcomes = Count("The same of audits.", _OUTCOME)
    short_circuits = Count("Outcomes a rule made, no judge asked.", ("rubric", "rule"))
    family_unknown = Count("Outcomes for which no judge could be excluded.", _RUBRIC)
    groups = Count("Groups ranked.", _RUBRIC)
    zero_advantage_groups = Count("Groups whose rewards are all equal.", _RUBRIC)
    constant_answers = Count("Answers that many prompts were given before.", _RUBRIC)
    upstream_attempts = Count("Requests sent to judges, by what came of them.", _CODE)
    upstream_retries = Count("Requests sent again after an error.", _CODE)
    upstream_retries_denied = Count("Retries the judge's budget denied.", _CODE)
    upstream_tokens = Count("Tokens; cached ones are part of the prompt's.", ("judge", "type"))
    upstream_cost_usd = Count("Known cost in US dollars.", _JUDGE)
    upstream_unknown_cost_calls = Count("Requests whose cost is not known.", _JUDGE)
    served_unverified = Count("Verdicts of a model whose name tells no family.", _JUDGE)
    fingerprint_changes = Count("New system fingerprints of a judge's provider.", _JUDGE)
    shed = Count("Calls turned away by a full queue.", _JUDGE)
    breaker_changes = Count("Changes of the breaker to a state.", ("judge", "state"))
    pairs = Count("Pairs judged in both orders, by outcome.", ("judge", "outcome"))
    pair_orders_decided = Count("Single orders of pairs with a winner.", _JUDGE)
    pair_orders_first_won = Count("Those that the answer shown first won.", _JUDGE)
    family_exclusions = Count("Times a judge was left out for its family.", _JUDGE)
    cache_lookups = Count("Look-ups of verdicts.", ("result",))
    single_flight_joins = Count("Requests that waited for another one's verdict.", _JUDGE)
    store_failures = Count("Operations the store failed.", ("operation",))
    quota_refusals = Count("Callers turned away for a quota.", ("quota",))
    http_requests = Count("HTTP requests.", ("method", "route", "status"))
    watch_alarms = Count("Alarms raised.", _ALARM)
    watch_requests = Count("Background requests sent to judges.", _WATCH)
    watch_tokens = Count("Tokens of them.", _WATCH)
    watch_cost_usd = Count("Known cost of them in US dollars.", _WATCH)
    watch_unknown_cost_calls = Count("Those whose cost is not known.", _WATCH)
    watch_skipped = Count("Background requests not sent.", (*_WATCH, "reason"))
    sentinels = Count("Sentinel items asked.", ("judge", "rubric", "result"))
    shadow_verdicts = Count("Verdicts beside the shadow's.", (*_SHADOW, "result"))


class Levels:
    """The gauges."""

    recent_outcomes = Level(f"Outcomes among the last {RECENT} per process.", _RUBRIC)
    recent_failed_outcomes = Level("Failed ones among them.", _RUBRIC)
    recent_length_correlation = Level(
        "Correlation of reward and length within the last groups.", _RUBRIC, "livemax"
    )
    queue_waiting = Level("Calls that wait for the judge.", _JUDGE)
    queue_running = Level("Calls that are with the judge.", _JUDGE)
    queue_limit = Level("Calls that may be with it at once.", _JUDGE, "livemax")
    breaker_state = Level("0 closed, 1 half open, 2 open.", _JUDGE, "livemax")
    watch_alarm = Level("1 while the alarm is raised.", _ALARM, "livemax")
    watch_current = Level("What the statistic is lately.", _SERIES, "livemax")
    watch_baseline = Level("What it was in its baseline.", _SERIES, "livemax")
    shadow_agreement = Level("Share of equal verdicts.", _SHADOW, "livemax")
    shadow_kappa = Level("Cohen's kappa, quadratic for points.", _SHADOW, "livemax")
    shadow_mean_shift = Level("Mean of the judge less the shadow's.", _SHADOW, "livemax")
    build_info = Level("The version that runs.", ("version",), "max")


class Spreads:
    """The histograms."""

    outcome_duration_seconds = Spread("Time from request to outcome.", ("kind", "rubric"), SECONDS)
    upstream_duration_seconds = Spread("Time of one request to a judge.", _JUDGE, SECONDS)
    http_request_duration_seconds = Spread("Time of HTTP requests.", ("method", "route"), SECONDS)
    reward = Spread("Rewards given.", _RUBRIC, SHARES)
    group_tie_rate = Spread("Share of a group's pairs with equal rewards.", _RUBRIC, SHARES)
    group_near_duplicate_share = Spread("Share of near duplicates in a group.", _RUBRIC, SHARES)
    group_length_correlation = Spread(
        "Correlation of reward and length in a group.", _RUBRIC, CORRELATIONS
    )


E = TypeVar("E", bound=Entry)


def _entries(table: type, kind: type[E]) -> tuple[E, ...]:
    return tuple(entry for entry in vars(table).values() if isinstance(entry, kind))


COUNTS: Final = _entries(Counts, Count)
LEVELS: Final = _entries(Levels, Level)
SPREADS: Final = _entries(Spreads, Spread)
START_AT_ZERO: Final[dict[Count, tuple[tuple[str, ...], ...]]] = {
    Counts.cache_lookups: (("hit",), ("miss",), ("rejected",)),
    Counts.store_failures: (("read",), ("write",), ("connect",)),
    Counts.quota_refusals: (("rpm",), ("daily_cost_usd",)),
}
"""Series that are there before anything happens, so that a first failure is an increase."""
