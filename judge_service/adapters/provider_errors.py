"""From an HTTP exchange that brought no completion to the errors of the core.

The provider's status decides, then the words of its error body, in every provider's form.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from dataclasses import dataclass
from typing import Any

from judge_service.adapters.exchange import Exchange
from judge_service.adapters.quoted import without_quoted
from judge_service.errors import (
    ContentFiltered,
    ContextTooLong,
    JudgeServiceError,
    ParameterRefused,
    QuotaExhausted,
    RateLimited,
    UpstreamAuthError,
    UpstreamError,
    UpstreamProtocolError,
)
from judge_service.judges.capability import refused_parameters

_QUOTA = re.compile(
    r"insufficient[_ ](?:quota|balance|credit|funds)|exceeded[_ ](?:your[_ ])?current[_ ]quota|"
    r"billing[_ ](?:hard[_ ]limit|not[_ ]active)|credit balance is too low|out of credits|"
    r"all available credits|spending limit|arrearage|free[_ ]?tier[_ ]?only|account[_ ]?overdue|"
    r"free (?:tier|(?:allocated )?quota)\b[^.]{0,40}\b(?:exceeded|exhausted)|no resource package|"
    r"balance is (?:insufficient|not enough)|reached your (?:specified )?(?:api )?usage limit|"
    r"budget[_ ](?:has been[_ ])?exceeded|exceeded[_ ]?budget|spend(?:ing)?[_ ](?:limit|cap)|"
    r"account is not active|check your billing|key limit exceeded|余额不足|欠费",
    re.IGNORECASE,
)
_WAIT = re.compile(
    rb'(?:"retryDelay"\s*:\s*"|\bretry in )(\d{1,6}(?:\.\d{1,12})?)s\b', re.IGNORECASE
)
_DAILY = re.compile(rb"per[_ ]?day", re.IGNORECASE)
_CONTEXT = re.compile(
    r"context[_ ](?:length|window|size|limit)|prompt is too long|must have less than \d+ tokens|"
    r"maximum (?:context|prompt|model length|allowed length)|"
    r"too many tokens|input (?:is )?too long|exceeds? the (?:available )?context|exceed_context|"
    r"maximum number of tokens|range of input length|too large for model with|"
    r"tokens`? \+ `?max_new_tokens",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content[_ ](?:filter|policy|management)|responsible ?ai|safety (?:system|filter)|"
    r"data_inspection_failed|invalid_prompt|violating our usage polic(?:y|ies)",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"api[_ ]?key (?:is )?(?:not (?:valid|found)|invalid|expired)|"
    r"(?:invalid|incorrect)[_ ]api[_ ]?key",
    re.IGNORECASE,
)
_OVERDRAWN_STATUS = 402
_TOO_LARGE_STATUS = 413
_MAX_MESSAGE = 2_000
_MAX_READ = 8_000
_SHOWN = 200
_REFUSING = frozenset({400, 404, 422, 500, 501})
"""The statuses under which providers refuse a parameter; a 5xx of this kind fails every time."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a provider's error body says."""

    message: str
    code: str = ""
    param: str | None = None

    @property
    def words(self) -> str:
        """Code and message in one, for the patterns."""
        return f"{self.code} {self.message}"

    @property
    def shown(self) -> str:
        """As much of the message as an outcome tells."""
        return self.message[:_SHOWN]


def error_of(
    exchange: Exchange,
    status: int,
    *,
    judge: str,
    sent: frozenset[str],
    secret: str | None = None,
    otherwise: str = "",
    text_sent: str = "",
) -> JudgeServiceError:
    """The core's error for a reply of HTTP ``status`` that is no completion.

    ``sent`` are the parameters that the request carried; ``secret`` (the judge's key) never gets
    into a message. ``otherwise`` is what is known where there is no body. What the body quotes of
    ``text_sent``, the untrusted part of the request, does not count.
    """
    if exchange.too_large:
        return too_large(judge, exchange)
    if status < 400:
        what = "a redirect" if status >= 300 else "a body that is not the protocol"
        return UpstreamProtocolError(f"judge {judge!r} sent {what} (HTTP {status})")
    text = exchange.body[:_MAX_MESSAGE].decode("utf-8", "replace")
    complaint = complaint_of(exchange, text or otherwise, secret, text_sent)
    return _by_status(status, exchange, complaint, judge, sent)


def too_large(judge: str, exchange: Exchange) -> UpstreamProtocolError:
    """The error for a body that is longer than there is room for."""
    return UpstreamProtocolError(
        f"judge {judge!r}: the reply is larger than {exchange.room // 1024} KiB"
    )


def _by_status(
    status: int, exchange: Exchange, complaint: Complaint, judge: str, sent: frozenset[str]
) -> JudgeServiceError:
    told = f"judge {judge!r}: HTTP {status}: {complaint.shown}".rstrip(": ")
    wait = retry_after(exchange.headers)
    asked = wait_in(exchange.body) if status == 429 else None
    if asked is not None:
        return RateLimited(told, retry_after_s=asked if wait is None else wait)
    if status == _OVERDRAWN_STATUS or (status < 500 and _QUOTA.search(complaint.words)):
        return QuotaExhausted(told)
    if status in (401, 403) or (status == 400 and _KEY.search(complaint.words)):
        return UpstreamAuthError(
            f"judge {judge!r}: the provider does not accept its key ({status})"
        )
    # The same request is too large tomorrow, too, whichever limit of the provider's it met.
    if status == _TOO_LARGE_STATUS or (status in (400, 422) and _CONTEXT.search(complaint.words)):
        return ContextTooLong(told)
    if status in (400, 422) and _FILTER.search(complaint.words):
        return ContentFiltered(told)
    if status in _REFUSING:
        refused = refused_parameters(complaint.message, sent, complaint.param)
        if refused:
            return ParameterRefused(complaint.message, parameters=refused)
    if status == 429:
        return RateLimited(told, retry_after_s=wait)
    lasting = status < 500 and status not in (408, 409, 425)
    return UpstreamError(told, retry_after_s=wait, permanent=lasting)


def retry_after(headers: dict[str, str]) -> float | None:
    """Seconds a provider asks to wait: ``retry-after-ms``, or ``Retry-After`` in either form."""
    milliseconds = headers.get("retry-after-ms", "")
    if re.fullmatch(r"\d{1,9}(\.\d+)?", milliseconds):
        return float(milliseconds) / 1000.0
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,15}(\.\d+)?", value):
        return float(value)
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return max(0.0, moment.timestamp() - time.time())


def wait_in(body: bytes) -> float | None:
    """Seconds that an error body asks to wait, as Google's do; None for the quota of a day.

    Google has the same words for a quota of a minute and for one that lasts: only this tells.
    """
    found = _WAIT.search(body)
    return None if found is None or _DAILY.search(body) else float(found[1])


def complaint_of(
    exchange: Exchange, otherwise: str, secret: str | None, text_sent: str = ""
) -> Complaint:
    """What the provider's body says, or ``otherwise`` where it says nothing, without ``secret`` and
    without what it quotes of ``text_sent``.
    """
    found = _from_body(exchange.body) or Complaint(otherwise)
    message = without_quoted(found.message[:_MAX_READ], text_sent)
    if secret:
        message = message.replace(secret, "[redacted]")
    # Providers quote part of a wrong key back; such a run of key characters is of no use to anyone.
    message = re.sub(r"\b(sk|key|pk|xai|gsk)-[\w*.-]{6,}", "[redacted]", message)
    return Complaint(message[:_MAX_MESSAGE], found.code, found.param)


def _from_body(body: bytes, *, nested: bool = False) -> Complaint | None:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if isinstance(data, list) and data:
        data = data[0]  # Google's errors come in a list
    if not isinstance(data, dict):
        return None
    inner = data.get("error", data)
    if isinstance(inner, str):
        return Complaint(inner)
    if not isinstance(inner, dict):
        return None
    message = _text(inner.get("message") or inner.get("detail") or data.get("message"))
    metadata = inner.get("metadata")
    if isinstance(metadata, dict) and metadata.get("raw"):
        # A gateway's own words say little; what the provider behind it said stands in here.
        raw = _text(metadata["raw"])
        return (None if nested else _from_body(raw.encode(), nested=True)) or Complaint(
            f"{message}: {raw}"
        )
    code = f"{_text(inner.get('code'))} {_text(inner.get('type'))}".strip()
    param = inner.get("param")
    return Complaint(message, code, param if isinstance(param, str) else None)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)[:_MAX_MESSAGE]
