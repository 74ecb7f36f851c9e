"""From LiteLLM's exceptions, and the HTTP exchange behind them, to the errors of the core.

Where the provider's HTTP status is known it decides: LiteLLM guesses many classes from words in the
message. The class decides where there was no exchange (no connection, a provider with its own SDK).
"""

from __future__ import annotations

import re

from judge_service.adapters.exchange import Exchange
from judge_service.adapters.provider_errors import Complaint, complaint_of, error_of
from judge_service.errors import (
    ContentFiltered,
    ContextTooLong,
    JudgeServiceError,
    JudgeTimeout,
    JudgingError,
    ParameterRefused,
    QuotaExhausted,
    RateLimited,
    TransportError,
    UpstreamAuthError,
    UpstreamError,
    UpstreamProtocolError,
)
from judge_service.judges.capability import refused_parameters

BY_CLASS: dict[str, tuple[type[JudgingError], bool]] = {
    "AuthenticationError": (UpstreamAuthError, True),
    "CallerCredentialAuthenticationError": (UpstreamAuthError, True),
    "PermissionDeniedError": (UpstreamAuthError, True),
    "NotFoundError": (UpstreamError, True),
    "BadRequestError": (UpstreamError, True),
    "ImageFetchError": (UpstreamError, True),
    "VectorStoreSearchError": (UpstreamError, True),
    "MalformedRequestFieldError": (UpstreamError, True),
    "UnsupportedEndpointError": (UpstreamError, True),
    "EndpointNotSupportedByModelError": (UpstreamError, True),
    "UnprocessableEntityError": (UpstreamError, True),
    "UnsupportedParamsError": (UpstreamError, True),
    "InvalidRequestError": (UpstreamError, True),
    "LiteLLMUnknownProvider": (UpstreamError, True),
    "ModelNotMappedError": (UpstreamError, True),
    "ContextWindowExceededError": (ContextTooLong, True),
    "ContentPolicyViolationError": (ContentFiltered, True),
    "RejectedRequestError": (ContentFiltered, True),
    "GuardrailRaisedException": (ContentFiltered, True),
    "BlockedPiiEntityError": (ContentFiltered, True),
    "ModifyResponseException": (ContentFiltered, True),
    "SensitiveDataRouteException": (ContentFiltered, True),
    "PaymentRequiredError": (QuotaExhausted, True),
    "BudgetExceededError": (QuotaExhausted, True),
    "RateLimitError": (RateLimited, False),
    "CallerCredentialRateLimitError": (RateLimited, False),
    "Timeout": (JudgeTimeout, False),
    "ServiceUnavailableError": (UpstreamError, False),
    "BadGatewayError": (UpstreamError, False),
    "InternalServerError": (UpstreamError, False),
    "MidStreamFallbackError": (UpstreamError, False),
    "APIError": (UpstreamError, False),
    "APIConnectionError": (UpstreamError, False),
    "OpenAIError": (UpstreamError, False),
    "MockException": (UpstreamError, False),
    "APIResponseValidationError": (UpstreamProtocolError, False),
    "JSONSchemaValidationError": (UpstreamProtocolError, False),
}
"""LiteLLM's exception classes by name: the error each becomes, and whether it is permanent."""

_NO_KEY = re.compile(r"missing (?:\w+ )?(?:credentials|api key)|_API_KEY is not set", re.IGNORECASE)
_NO_CONNECTION = re.compile(r"\bconnection (?:error|refused)|cannot connect to", re.IGNORECASE)


def translate(
    error: Exception,
    exchange: Exchange,
    *,
    judge: str,
    sent: frozenset[str],
    secret: str | None = None,
    text_sent: str = "",
) -> JudgeServiceError:
    """The core's error for what LiteLLM raised.

    ``sent`` are the parameters that the request carried; ``secret`` (the judge's key) never gets
    into a message, and what is quoted of ``text_sent`` does not count.
    """
    status = exchange.status
    if status is None and _NO_CONNECTION.search(str(error)):
        return UpstreamError(f"judge {judge!r} cannot be reached: no connection to its address")
    if status is None and _NO_KEY.search(str(error)):
        return UpstreamAuthError(f"judge {judge!r} has no key: api_key_env is to name its variable")
    if status is None:
        complaint = complaint_of(exchange, str(error), secret, text_sent)
        return _by_class(error, complaint, judge, sent)
    return error_of(
        exchange, status, judge=judge, sent=sent, secret=secret, otherwise=str(error),
        text_sent=text_sent,
    )  # fmt: skip


def _by_name(error: Exception) -> str | None:
    """The name of the nearest class that is listed."""
    return next((c.__name__ for c in type(error).__mro__ if c.__name__ in BY_CLASS), None)


def _by_class(
    error: Exception, complaint: Complaint, judge: str, sent: frozenset[str]
) -> JudgeServiceError:
    name = _by_name(error)
    told = f"judge {judge!r}: {complaint.shown}".rstrip(": ")
    if name is None:
        return UpstreamError(told)
    if name == "UnsupportedParamsError":
        refused = refused_parameters(complaint.message, sent)
        if refused:
            return ParameterRefused(complaint.message, parameters=refused, sent=False)
    kind, permanent = BY_CLASS[name]
    if kind is UpstreamAuthError:
        told = f"judge {judge!r}: the provider does not accept its key"
    if issubclass(kind, TransportError):
        return kind(told, permanent=permanent)
    return kind(told)
