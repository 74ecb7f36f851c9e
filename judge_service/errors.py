"""Every error the core raises.

    JudgeServiceError
    ├── ConfigError                 a rubric, anchor, judge or setting that cannot be right
    ├── RequestError                the caller's mistake: an HTTP 4xx, never an outcome
    │   ├── UnknownRubric
    │   ├── UnknownJudge
    │   └── InvalidRequest
    └── JudgingError                no verdict: the outcome is ``failed`` with this ``code``
        ├── TransportError          the judge could not be reached or did not speak the protocol
        │   ├── JudgeTimeout, RateLimited, UpstreamError, UpstreamProtocolError
        ├── UnusableReply           the judge answered, but not with a verdict
        │   ├── EmptyReply, Refused, ContentFiltered, TruncatedReply, Unparsable, OffScale,
        │   │   WrongModel
        ├── UpstreamAuthError, QuotaExhausted, ContextTooLong, NoEligibleJudge, Inconclusive
        └── DeadlineExceeded, BreakerOpen, QuorumNotMet, CohortIncomplete, Overloaded, InternalError

``code`` and ``retryable`` are class attributes: the closed sets that callers rely on.
"""

from __future__ import annotations

from typing import ClassVar

from judge_service.usage import Usage


class JudgeServiceError(Exception):
    """Base class of everything raised on purpose."""


class ConfigError(JudgeServiceError):
    """Something an operator wrote cannot be right; the message names the file and the field."""


class RequestError(JudgeServiceError):
    """The caller's mistake. ``code`` is the machine-readable word, ``field`` where it is."""

    code: ClassVar[str] = "invalid_request"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class UnknownRubric(RequestError):
    """No rubric has this id."""

    code = "unknown_rubric"


class UnknownJudge(RequestError):
    """A judge named in the request is not configured."""

    code = "unknown_judge"


class InvalidRequest(RequestError):
    """The request does not fit the rubric or the schema."""


class JudgingError(JudgeServiceError):
    """There is no verdict. ``retry_after_s`` is set when the judge named a time, in seconds,
    ``spent`` where the upstream request that failed may have cost something all the same.
    """

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = True
    spent: Usage | None = None

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class TransportError(JudgingError):
    """The judge was not reached or did not speak the protocol.

    ``permanent`` marks what the same request would only meet again (400, 404): not retried here.
    """

    def __init__(
        self, message: str, *, retry_after_s: float | None = None, permanent: bool = False
    ) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.permanent = permanent


class JudgeTimeout(TransportError):
    """The judge did not answer within its attempt time."""

    code = "timeout"


class RateLimited(TransportError):
    """The provider asked for fewer requests (429)."""

    code = "rate_limited"


class UpstreamError(TransportError):
    """Connection trouble or an error status of the provider."""

    code = "upstream_error"


class UpstreamProtocolError(TransportError):
    """A body that is not the protocol: HTML, no choices, too large, a redirect."""

    code = "upstream_protocol"


class UnusableReply(JudgingError):
    """The judge answered, but not with a verdict; it is asked once more."""


class EmptyReply(UnusableReply):
    """No text in the reply."""

    code = "empty_reply"


class Refused(UnusableReply):
    """The judge declined to judge."""

    code = "refused"
    retryable = False


class ContentFiltered(UnusableReply):
    """The provider's content filter stopped the request or the reply."""

    code = "content_filtered"
    retryable = False


class TruncatedReply(UnusableReply):
    """The reply was cut off at the token limit; nothing in it is read."""

    code = "truncated_reply"


class Unparsable(UnusableReply):
    """No single verdict is bound by the reply's tokens."""

    code = "unparsable"


class OffScale(UnusableReply):
    """The value given is not one of those offered."""

    code = "off_scale"


class WrongModel(UnusableReply):
    """The model that answered is not of the family that was asked."""

    code = "wrong_model"


class UpstreamAuthError(JudgingError):
    """The provider did not accept the judge's key (401, 403)."""

    code = "upstream_auth"
    retryable = False


class QuotaExhausted(JudgingError):
    """The judge's account has no credit left."""

    code = "quota_exhausted"
    retryable = False


class ContextTooLong(JudgingError):
    """The request does not fit the judge's context window."""

    code = "context_too_long"
    retryable = False


class NoEligibleJudge(JudgingError):
    """No configured judge is of another family than the candidates."""

    code = "no_eligible_judge"
    retryable = False


class Inconclusive(JudgingError):
    """A group whose pairs decide too little."""

    code = "inconclusive"
    retryable = False


class DeadlineExceeded(JudgingError):
    """The request's own time was up."""

    code = "deadline_exceeded"


class BreakerOpen(JudgingError):
    """The judge's circuit breaker stayed open until the deadline."""

    code = "breaker_open"


class QuorumNotMet(JudgingError):
    """Fewer judges of a panel gave a verdict than the rubric asks for."""

    code = "quorum_not_met"


class CohortIncomplete(JudgingError):
    """A group's members did not all arrive in time."""

    code = "cohort_incomplete"


class Overloaded(JudgingError):
    """The service itself has too much to do."""

    code = "overloaded"


class InternalError(JudgingError):
    """A fault of the service; always a bug."""

    code = "internal"


class ParameterRefused(JudgeServiceError):
    """The provider refuses request parameters; the request may be sent again without them.

    Never an outcome: whoever asks the judge drops ``parameters`` and remembers it.
    ``sent`` is False when the refusal came before any request left (LiteLLM's own check).
    """

    def __init__(self, message: str, *, parameters: frozenset[str], sent: bool = True) -> None:
        super().__init__(message)
        self.parameters = parameters
        self.sent = sent
