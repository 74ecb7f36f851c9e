"""A verdict as it is kept: JSON behind a signature.

The store is not trusted. What is read from it counts only when this service signed it, for this
very key, and when the value is one that the question offers; anything else is as good as nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judge_service.reply import ChoiceForm, Reading, ReplyForm, ScoreForm
from judge_service.storage.secret import ServiceSecret
from judge_service.storage.signed import Signer

MAX_BYTES = 512 * 1024
"""More than any record of ours has: a reply is at most 64 KiB, JSON may write a byte as six."""
_FIELDS = {"value", "reason", "model_served"}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRecord:
    """What is kept of a judge's verdict. ``value`` is a point, a label, or points by name."""

    value: int | str | Mapping[str, int]
    reason: str
    model_served: str | None

    def as_json(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        value = dict(self.value) if isinstance(self.value, Mapping) else self.value
        return {"value": value, "reason": self.reason, "model_served": self.model_served}


class Seal:
    """Signs and checks records with keys derived from the service secret."""

    def __init__(self, secret: ServiceSecret) -> None:
        self._signer = Signer(secret, "verdict cache")

    def close(self, key: str, record: VerdictRecord) -> bytes:
        """The bytes to keep under ``key``."""
        body = json.dumps(record.as_json(), separators=(",", ":"), allow_nan=False).encode()
        return self._signer.sign(key, body)

    def open(self, key: str, data: bytes) -> VerdictRecord | None:
        """The record in ``data`` if it was signed here, for ``key``; else None."""
        body = self._signer.check(key, data) if len(data) <= MAX_BYTES else None
        if body is None:
            return None
        try:
            return record_of(json.loads(body))
        except (ValueError, RecursionError):
            return None


def record_of(data: object) -> VerdictRecord:
    """A record from its JSON values. Raises ValueError that says what is wrong with them."""
    if not isinstance(data, dict) or data.keys() != _FIELDS:
        raise ValueError(f"a record has exactly the fields {', '.join(sorted(_FIELDS))}")
    value, reason, served = data["value"], data["reason"], data["model_served"]
    if not isinstance(reason, str) or not isinstance(served, str | None):
        raise ValueError("reason must be a text, model_served a text or null")
    if isinstance(value, dict):
        if not value or not all(_is_point(point) for point in value.values()):
            raise ValueError("value must hold a point for each criterion")
    elif not isinstance(value, str) and not _is_point(value):
        raise ValueError("value must be a point, a label, or points by criterion")
    return VerdictRecord(value=value, reason=reason, model_served=served)


def offered(record: VerdictRecord, form: ReplyForm) -> Reading | None:
    """The record as the reading of a reply, if its value is one that ``form`` offers."""
    value = record.value
    if isinstance(form, ScoreForm):
        fits = _is_point(value) and value in form.allowed
    elif isinstance(form, ChoiceForm):
        fits = isinstance(value, str) and value in form.allowed
    else:
        allowed = dict(form.allowed)
        fits = (
            isinstance(value, Mapping)
            and value.keys() == allowed.keys()
            and all(point in allowed[name] for name, point in value.items())
        )
    return Reading(value=value, reason=record.reason) if fits else None


def _is_point(value: object) -> bool:
    # To Python True is 1; to us it is no point.
    return isinstance(value, int) and not isinstance(value, bool)
