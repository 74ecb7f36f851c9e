"""One HTTP answer: an outcome, a failure, or the caller's mistake. No network here."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any

from judge_client.errors import AccessDenied, InvalidRequest, NotFound, RequestRefused
from judge_client.reading import NotTheProtocol, decode, protocol_failure
from judge_client.results import Failure

_AGAIN = {
    408: "unreachable",
    429: "rate_limited",
    502: "unreachable",
    503: "overloaded",
    504: "unreachable",
}
"""Statuses after which the request was not judged, or whose answer got lost: worth another try."""
_REFUSED: dict[int, type[RequestRefused]] = {
    401: AccessDenied,
    403: AccessDenied,
    404: NotFound,
    405: NotFound,
    409: InvalidRequest,
    413: InvalidRequest,
    415: InvalidRequest,
    422: InvalidRequest,
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """No outcome; ``again`` says whether the request may be sent once more."""

    failure: Failure
    again: bool


def read_answer(
    status: int, headers: Mapping[str, str], content: bytes
) -> dict[str, Any] | Trouble:
    """The JSON of a 200, or what is wrong. Raises RequestRefused for the caller's mistakes."""
    if status == 200:
        try:
            return decode(content)
        except NotTheProtocol as wrong:
            return Trouble(protocol_failure(str(wrong)), again=False)
    error = _error(content)
    if status in _AGAIN:
        message = _word(error, "message") or f"HTTP {status}"
        failure = Failure(
            code=_AGAIN[status], message=message, retryable=True, at="client",
            retry_after_s=retry_after(headers.get("retry-after")),
        )  # fmt: skip
        return Trouble(failure, again=True)
    code = _word(error, "code")
    if status in _REFUSED and code is not None:
        message = f"{_word(error, 'message') or 'refused'} (HTTP {status})"
        raise _REFUSED[status](message, code, _word(error, "field"), status)
    if status == 500 and code is not None:
        failure = Failure(
            code="internal", message=_word(error, "message") or "HTTP 500", retryable=True
        )
        return Trouble(failure, again=False)
    kind = headers.get("content-type", "no content type")[:80]
    return Trouble(protocol_failure(f"HTTP {status}, {kind}"), again=False)


def _error(content: bytes) -> Mapping[str, Any]:
    """The ``error`` of a service's problem body; empty where the body is something else."""
    try:
        found = decode(content).get("error")
    except NotTheProtocol:
        return {}
    return found if isinstance(found, dict) else {}


def _word(error: Mapping[str, Any], name: str) -> str | None:
    found = error.get(name)
    return found[:300] if isinstance(found, str) and found else None


def retry_after(header: str | None) -> float | None:
    """The seconds of a Retry-After header, a number or a date; None when it says nothing."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def no_time(last: Failure | None) -> Failure:
    """The failure when the call's time is up: what stood in the way last, where that is known."""
    if last is not None:
        return replace(last, message=f"{last.message} (until the call's time was up)")
    return Failure(
        code="deadline_exceeded", message="no answer within the call's time", retryable=True,
        at="client",
    )  # fmt: skip
