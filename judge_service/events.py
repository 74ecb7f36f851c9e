"""What a running service tells about itself: one small class per event.

Whoever wants to know (metrics, traces) is an ``Observer``: called on the event loop, quick, and
never raising. Everything an event names is from a closed set: ids of configured judges and loaded
rubrics, error codes, words of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from judge_service.usage import Usage

LookUp = Literal["hit", "miss", "rejected"]
BreakerState = Literal["closed", "open", "half_open"]
Kind = Literal["assess", "compare", "rank"]


@dataclass(frozen=True, slots=True)
class Attempted:
    """One upstream request is over; ``code`` is None for a reply with a verdict.

    ``model_served`` is what the provider calls its model, ``system_fingerprint`` the configuration
    it says it answered with: for traces and to be watched, never labels.
    """

    judge: str
    code: str | None
    seconds: float
    usage: Usage
    model_served: str | None = None
    system_fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Retried:
    """One more request is about to be sent, after an error with this code."""

    judge: str
    code: str


@dataclass(frozen=True, slots=True)
class RetryDenied:
    """The judge's retry budget is spent, so the error with this code stands."""

    judge: str
    code: str


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A verdict was looked for in the cache; ``rejected`` is an entry that is not ours."""

    result: LookUp


@dataclass(frozen=True, slots=True)
class Joined:
    """A request waits for a verdict that another one is already asking for."""

    judge: str


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """How many calls wait for a judge, how many are with it, and how many may be."""

    judge: str
    waiting: int
    running: int
    limit: int


@dataclass(frozen=True, slots=True)
class Shed:
    """A call was turned away because the queue of its judge is full."""

    judge: str


@dataclass(frozen=True, slots=True)
class BreakerChanged:
    """A judge's circuit breaker has a new state."""

    judge: str
    state: BreakerState


@dataclass(frozen=True, slots=True)
class Judged:
    """A request has its outcome. ``code`` is None for a success; ``reward`` None where there is
    none; ``rule`` names the hard rule that ended it; ``seconds`` is the whole time. An ``audit`` is
    counted apart.
    """

    kind: Kind
    rubric: str
    code: str | None
    reward: float | None
    rule: str | None
    seconds: float
    family_unknown: bool = False
    audit: bool = False


@dataclass(frozen=True, slots=True)
class PairJudged:
    """One judge gave a verdict in both orders. Of ``decided`` orders with a winner, the answer
    shown first won ``shown_first``.
    """

    judge: str
    outcome: str
    shown_first: int
    decided: int
    rubric: str = ""


@dataclass(frozen=True, slots=True)
class FamilyExcluded:
    """A judge was left out because a candidate is of its family."""

    judge: str


@dataclass(frozen=True, slots=True)
class ServedUnverified:
    """A reply names a model that tells no family."""

    judge: str


@dataclass(frozen=True, slots=True)
class GroupRanked:
    """A group has its rewards. Shares are in [0, 1]; ``length_correlation`` is Pearson's r of
    reward and length, None where that says nothing; ``recent_length_correlation`` is the same over
    the rubric's last groups.
    """

    rubric: str
    rewards: tuple[float, ...]
    zero_advantage: bool
    near_duplicate_share: float = 0.0
    length_correlation: float | None = None
    tie_rate: float = 0.0
    recent_length_correlation: float | None = None


@dataclass(frozen=True, slots=True)
class ConstantAnswer:
    """An answer came that was given to many different prompts before."""

    rubric: str


@dataclass(frozen=True, slots=True)
class StoreFailed:
    """The store could not be read from, written to or connected to."""

    what: Literal["read", "write", "connect"]


@dataclass(frozen=True, slots=True)
class QuotaRefused:
    """A caller was turned away for its quota."""

    quota: Literal["rpm", "daily_cost_usd"]


@dataclass(frozen=True, slots=True)
class AlarmChanged:
    """An alarm was raised or is over. ``judge`` and ``rubric`` are empty where it is not about one;
    ``cause`` is an error code or empty. ``again``: it was raised in a process before this one.
    """

    judge: str
    rubric: str
    statistic: str
    cause: str
    raised: bool
    kind: Kind | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class FingerprintChanged:
    """A judge's provider says that it answered with a configuration that was not seen before."""

    judge: str


@dataclass(frozen=True, slots=True)
class WatchValue:
    """What a statistic under watch is lately, and what it was in its baseline, in its unit."""

    judge: str
    rubric: str
    statistic: str
    current: float
    baseline: float
    kind: Kind | None = None


@dataclass(frozen=True, slots=True)
class WatchSpent:
    """A background request of ``sentinel`` or ``shadow`` is over; it is in ``Attempted``, too."""

    watch: Literal["sentinel", "shadow"]
    judge: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class WatchSkipped:
    """A background request was not sent, for want of room."""

    watch: Literal["sentinel", "shadow"]
    judge: str
    reason: Literal["busy", "breaker", "ceiling", "full"]


@dataclass(frozen=True, slots=True)
class SentinelJudged:
    """What came of a sentinel item: whether people agree; ``no_judge`` where a rule ended it."""

    judge: str
    rubric: str
    result: Literal["agrees", "differs", "failed", "no_judge"]


@dataclass(frozen=True, slots=True)
class ShadowJudged:
    """What came of asking the shadow. The figures are over the latest pairs of labels of ``judge``
    and ``shadow``, None where they have no meaning.
    """

    judge: str
    shadow: str
    rubric: str
    result: Literal["agrees", "differs", "failed"]
    agreement: float | None = None
    kappa: float | None = None
    mean_shift: float | None = None


Event: TypeAlias = (
    Attempted | Retried | RetryDenied | LookedUp | Joined | QueueChanged | Shed | BreakerChanged
    | Judged | PairJudged | FamilyExcluded | ServedUnverified | GroupRanked | StoreFailed
    | QuotaRefused | ConstantAnswer | AlarmChanged | WatchValue | WatchSpent | WatchSkipped
    | SentinelJudged | ShadowJudged | FingerprintChanged
)  # fmt: skip
Observer: TypeAlias = Callable[[Event], None]
Handlers: TypeAlias = Mapping[type, Callable[[Any], None]]
"""The kinds of events that somebody wants to hear of, and what to call with one."""


def nobody(event: Event) -> None:
    """The observer that takes note of nothing."""


def by_kind(*some: Handlers) -> Mapping[type, Sequence[Observer]]:
    """What is called with an event of each kind, in order."""
    told: dict[type, list[Observer]] = {}
    for handlers in some:
        for kind, tell in handlers.items():
            told.setdefault(kind, []).append(tell)
    return told
