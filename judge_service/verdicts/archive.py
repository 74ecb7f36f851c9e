"""The verdicts of a store as lines of JSON: to look at, to move, to replay with no judge at all.

A line is ``{"key", "ttl_s", "verdict": {"value", "reason", "model_served"}}``. Lines are not
signed: whoever imports a file vouches for it, and the importing service signs with its own secret.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from judge_service.storage.store import FOREVER_S, Store
from judge_service.verdicts.key import PREFIX
from judge_service.verdicts.record import Seal, VerdictRecord, record_of

_KEY = re.compile(re.escape(PREFIX) + r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A verdict as it is kept: its key, its record, the seconds it has left, its size in bytes."""

    key: str
    record: VerdictRecord
    ttl_s: float
    size: int

    def line(self) -> dict[str, Any]:
        """The verdict as a line of an archive."""
        return {"key": self.key, "ttl_s": round(self.ttl_s, 3), "verdict": self.record.as_json()}


class LineError(ValueError):
    """A line of an archive that cannot be right."""


def kept_of(line: str) -> Kept:
    """The verdict of an archive's line. Raises LineError."""
    try:
        data = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise LineError("not JSON") from None
    if not isinstance(data, dict) or data.keys() != {"key", "ttl_s", "verdict"}:
        raise LineError("a line has exactly the fields key, ttl_s and verdict")
    key, ttl = data["key"], data["ttl_s"]
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise LineError(f"key: not of the form {PREFIX}<64 hex digits>")
    number = isinstance(ttl, int | float) and not isinstance(ttl, bool)
    if not number or not math.isfinite(ttl) or not 0 < ttl <= FOREVER_S:
        raise LineError("ttl_s: not a number of seconds above 0")
    try:
        record = record_of(data["verdict"])
    except ValueError as error:
        raise LineError(f"verdict: {error}") from None
    return Kept(key=key, record=record, ttl_s=float(ttl), size=len(line))


async def kept_in(store: Store, seal: Seal) -> AsyncIterator[Kept | None]:
    """Every verdict of a store, in no order; None for an entry that is not this service's.

    Raises StoreError.
    """
    async for key, value, ttl_s in store.scan(PREFIX):
        record = seal.open(key, value)
        if record is None:
            yield None
        else:
            yield Kept(key=key, record=record, ttl_s=ttl_s, size=len(value))


async def keep(store: Store, seal: Seal, kept: Kept) -> bool:
    """Sign a verdict and put it into a store; whether it is there now."""
    return await store.put(kept.key, seal.close(kept.key, kept.record), kept.ttl_s)


def _no_number(word: str) -> float:
    raise ValueError(word)
