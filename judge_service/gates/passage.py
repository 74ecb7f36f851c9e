"""A call on its way through a judge's gate, how it can end, and why it can be turned away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from judge_service.deadline import Deadline
from judge_service.errors import (
    BreakerOpen,
    DeadlineExceeded,
    JudgingError,
    Overloaded,
    RateLimited,
)
from judge_service.gates.breaker import Permit
from judge_service.gates.claim import Claim
from judge_service.usage import NOTHING, Usage

SHORTEST_RETRY_AFTER_S = 0.1


class Fate(Enum):
    """How an upstream request ended, as far as its judge's health goes.

    ``answered`` is a reply of any kind, a refusal of the key or of the request included: it takes a
    living server to say no. ``limited`` is a 429, ``failed`` trouble on the way or a broken server,
    ``unknown`` a request that nobody waited for, ``unsent`` one that never left.
    """

    ANSWERED = "answered"
    LIMITED = "limited"
    FAILED = "failed"
    UNKNOWN = "unknown"
    UNSENT = "unsent"

    @property
    def alive(self) -> bool | None:
        """Whether the judge's server works; None when nothing was learnt."""
        if self in (Fate.UNKNOWN, Fate.UNSENT):
            return None
        return self is not Fate.FAILED


@dataclass(slots=True, eq=False)
class Arrival:
    """A call that wants to go. ``turn`` ends with a permit, or with the error that ends the wait.

    With a ``spare`` judge it does not wait for the breaker; an ``admitted`` one does not mind a
    full queue.
    """

    number: int
    tokens: int
    deadline: Deadline
    spare: bool
    admitted: bool
    turn: asyncio.Future[Permit | JudgingError] | None = None
    waited: bool = False

    def go(self, given: Permit | JudgingError) -> None:
        """End the wait."""
        if self.turn is not None:
            self.turn.set_result(given)


@dataclass(slots=True)
class Passage:
    """A call that may be sent now. It must ``leave``; only the first time counts."""

    permit: Permit
    claim: Claim
    left: Callable[[Passage, Fate, Usage, float], None]
    over: bool = field(default=False, init=False)

    def leave(self, fate: Fate, usage: Usage | None = None, seconds: float = 0.0) -> None:
        """The call is over: what it used, as far as that is known, and how long it took."""
        if not self.over:
            self.over = True
            self.left(self, fate, usage or NOTHING, seconds)


def breaker_open(judge: str, wait_s: float) -> BreakerOpen:
    """For a call that the breaker does not let through in time."""
    return BreakerOpen(
        f"judge {judge!r} has failed too often just now and is left alone for a while",
        retry_after_s=max(SHORTEST_RETRY_AFTER_S, wait_s),
    )


def rate_used_up(judge: str, wait_s: float) -> RateLimited:
    """For a call whose turn by the configured rate comes too late.

    Permanent, as there is nothing that could be sent again.
    """
    return RateLimited(
        f"the configured rate of judge {judge!r} is used up",
        retry_after_s=max(SHORTEST_RETRY_AFTER_S, wait_s),
        permanent=True,
    )


def queue_full(judge: str, waiting: int, wait_s: float) -> Overloaded:
    """For a call that finds too many before it."""
    return Overloaded(
        f"{waiting} calls are waiting for judge {judge!r} already", retry_after_s=wait_s
    )


def waited_in_vain(judge: str) -> DeadlineExceeded:
    """For a call whose request had no time left before its turn came."""
    return DeadlineExceeded(
        f"the request's time was up while it waited for a place at judge {judge!r}"
    )
