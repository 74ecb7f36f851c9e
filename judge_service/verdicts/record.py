"""A verdict as it is kept: JSON behind a signature.

The store is not trusted. What is read from it counts only when this service signed it, for this
very key, and when the value is one that the question offers; anything else is as good as nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from judge_service.reply.probabilities import ROUNDING, offered_by_name
from judge_service.reply.reply import ChoiceForm, Reading, ReplyForm, ScoreForm
from judge_service.storage.secret import ServiceSecret
from judge_service.storage.signed import Signer

MAX_BYTES = 512 * 1024
"""More than any record of ours has: a reply is at most 64 KiB, JSON may write a byte as six."""
_FIELDS = {"value", "reason", "model_served"}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRecord:
    """What is kept of a judge's verdict. ``value`` is a point, a label, or points by name;
    ``probabilities`` are those of a reading, where the judge was asked for them.
    """

    value: int | str | Mapping[str, int]
    reason: str
    model_served: str | None
    probabilities: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        fields: dict[str, Any] = {
            "value": self.value if isinstance(self.value, (int, str)) else dict(self.value),
            "reason": self.reason,
            "model_served": self.model_served,
        }
        if self.probabilities:
            fields["probabilities"] = {n: list(some) for n, some in self.probabilities.items()}
        return fields


class Seal:
    """Signs and checks records with keys derived from the service secret."""

    def __init__(self, secret: ServiceSecret) -> None:
        self._signer = Signer(secret, "verdict cache")

    def close(self, key: str, record: VerdictRecord) -> bytes:
        """The bytes to keep under ``key``."""
        return self._signer.sign(key, _as_bytes(record.as_json()))

    def open(self, key: str, data: bytes) -> VerdictRecord | None:
        """The record in ``data`` if it was signed here, for ``key``; else None."""
        body = self._signer.check(key, data) if len(data) <= MAX_BYTES else None
        if body is None:
            return None
        try:
            return record_of(json.loads(body))
        except (ValueError, RecursionError):
            return None


def _as_bytes(fields: dict[str, Any]) -> bytes:
    """The fields as JSON. Raises ValueError for a number that JSON does not have."""
    if "probabilities" not in fields:  # to_json would write NaN for such a number
        try:
            return to_json(fields)
        except PydanticSerializationError:
            pass  # half of a surrogate pair: only JSON's escapes can say it
    return json.dumps(fields, separators=(",", ":"), allow_nan=False).encode()


def record_of(data: object) -> VerdictRecord:
    """A record from its JSON values. Raises ValueError that says what is wrong with them."""
    if not isinstance(data, dict) or data.keys() - {"probabilities"} != _FIELDS:
        raise ValueError(
            f"a record has exactly the fields {', '.join(sorted(_FIELDS))}, and may have "
            "probabilities"
        )
    value, reason, served = data["value"], data["reason"], data["model_served"]
    if not isinstance(reason, str) or not isinstance(served, str | None):
        raise ValueError("reason must be a text, model_served a text or null")
    if isinstance(value, dict):
        if not value or not all(_is_point(point) for point in value.values()):
            raise ValueError("value must hold a point for each criterion")
    elif not isinstance(value, str) and not _is_point(value):
        raise ValueError("value must be a point, a label, or points by criterion")
    chances = _probabilities(data["probabilities"]) if "probabilities" in data else {}
    return VerdictRecord(value=value, reason=reason, model_served=served, probabilities=chances)


def _probabilities(data: object) -> dict[str, tuple[float, ...]]:
    if not isinstance(data, dict) or not data or not all(map(_is_distribution, data.values())):
        raise ValueError("probabilities must be lists of numbers from 0 to 1 by name")
    return {name: tuple(map(float, chances)) for name, chances in data.items()}


def _is_distribution(chances: object) -> bool:
    return (
        isinstance(chances, list)
        and all(isinstance(c, (int, float)) and not isinstance(c, bool) for c in chances)
        and all(0.0 <= c <= 1.0 + ROUNDING for c in chances)
        and sum(chances) <= 1.0 + ROUNDING
    )


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
    if not fits:
        return None
    asked = offered_by_name(form)
    chances = {
        name: one
        for name, one in record.probabilities.items()
        if len(one) == len(asked.get(name, ()))
    }
    return Reading(value=value, reason=record.reason, probabilities=chances)


def _is_point(value: object) -> bool:
    # To Python True is 1; to us it is no point.
    return isinstance(value, int) and not isinstance(value, bool)
