"""Whether one asking sends one more request: its budget, its judge's, and how long it waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from judge_service.deadline import Deadline
from judge_service.errors import (
    InternalError,
    JudgeServiceError,
    JudgingError,
    ParameterRefused,
    TransportError,
    TruncatedReply,
    UnusableReply,
    UpstreamError,
    WrongModel,
)
from judge_service.events import Observer, Retried, RetryDenied
from judge_service.gates.gate import Gate

MAX_REQUESTS = 3
"""Upstream requests per verdict: retries, the re-ask, a dropped parameter, a second family."""
MAX_REASKS = 1
BACKOFF_S = 0.1
BACKOFF_CAP_S = 2.0


@dataclass(slots=True)
class Budget:
    """Upstream requests that are left for one verdict, over all judges asked for it.

    ``kept`` of them are for a second family once this judge's reply holds no verdict; what fails
    otherwise is tried again with them.
    """

    left: int = MAX_REQUESTS
    kept: int = 0

    def spend(self) -> None:
        """Count one request."""
        self.left -= 1


@dataclass(slots=True, kw_only=True)
class Attempts:
    """What one asking of one judge has met so far, and whether it goes on.

    ``keep`` requests of the budget are not for this judge; ``single`` means no second attempt.
    ``larger`` is set when the next reply should have more room, ``adapted`` by whoever found that
    the request can be sent without what the provider refused.
    """

    gate: Gate
    deadline: Deadline
    observer: Observer
    budget: Budget
    jitter: Callable[[], float]
    keep: int = 0
    single: bool = False
    requests: int = 0
    larger: bool = False
    adapted: bool = False
    wait_s: float = 0.0
    _transport_failures: int = 0
    _reasks: int = 0
    _paid: bool = False
    _sent: bool = False

    def sending(self) -> None:
        """One more request is on its way."""
        self.requests += 1
        self.budget.spend()
        self._sent = True

    def not_sent(self) -> None:
        """It did not leave after all."""
        self.requests -= 1
        self.budget.left += 1

    def succeeded(self) -> None:
        """There is a verdict: the judge's retry budget grows."""
        if self._paid:
            self.gate.retries.give_back()
        else:
            self.gate.retries.succeeded()

    def ended(self) -> None:
        """There is none. A retry that was paid for and not sent is paid back."""
        if self._paid and not self._sent:
            self.gate.retries.give_back()

    def again(self, error: BaseException) -> bool:
        """Whether to send one more request after ``error``; ``wait_s`` is how long to wait first.

        A request without a parameter that the provider refused is no retry.
        """
        self.wait_s = 0.0
        kept = self.budget.kept if holds_no_verdict(error) else 0
        if self.budget.left <= max(self.keep, kept):
            return False
        if isinstance(error, ParameterRefused):
            return self.adapted
        if self._paid and not self._sent:
            return False
        self._paid = False
        return isinstance(error, JudgingError) and self._worth_it(error) and self._pay(error)

    def _worth_it(self, error: JudgingError) -> bool:
        if self.single:
            return False
        if isinstance(error, UnusableReply):
            self._reasks += 1
            self.larger |= isinstance(error, TruncatedReply)
            return self._reasks <= MAX_REASKS
        if not isinstance(error, TransportError) or error.permanent:
            return False
        self._transport_failures += 1
        backoff = min(BACKOFF_CAP_S, BACKOFF_S * 2.0**self._transport_failures)
        wait, left = error.retry_after_s or 0.0, self.deadline.left()
        # Calls that are told the same time to wait do not all come back at the same moment.
        self.wait_s = wait + min(self.jitter() * backoff, max(0.0, left - wait) / 2)
        return wait < left

    def _pay(self, error: JudgingError) -> bool:
        judge = self.gate.judge.id
        self._paid = self.gate.retries.take()
        self._sent = False
        self.observer((Retried if self._paid else RetryDenied)(judge, error.code))
        return self._paid


def holds_no_verdict(error: BaseException) -> bool:
    """Whether a judge answered, but not with a verdict (a wrong model is another matter)."""
    return isinstance(error, UnusableReply) and not isinstance(error, WrongModel)


def as_judging_error(error: JudgeServiceError) -> JudgingError:
    """The outcome's error for what ended an asking. A parameter refused without an alternative is
    the provider's error.
    """
    if isinstance(error, JudgingError):
        return error
    if isinstance(error, ParameterRefused):
        return UpstreamError(f"the provider refuses the request: {str(error)[:300]}")
    return InternalError(str(error))
