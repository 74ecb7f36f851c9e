"""Bodies that come again: the answer they were given, for as long as it would be given again.

An answer that was made of kept verdicts alone is remembered by its body. When the body comes again,
its verdicts are looked up; where the store has the very same records, the answer is the same, and
nothing is parsed, checked, inspected or reckoned a second time. Whatever is not exactly so goes the
long way.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from judge_service.access.key_ring import Caller
from judge_service.api.admission import admitted
from judge_service.api.idempotency import HEADER as IDEMPOTENCY_HEADER
from judge_service.api.json_response import FiniteJSONResponse
from judge_service.engine import Engine
from judge_service.judging.past import Past

MAX_BODY_BYTES = 64 * 1024
MAX_BYTES = 16 * 1024 * 1024
"""How much all remembered answers may take; the oldest go first."""
OWN_BYTES = 4 * 1024
"""What one takes beside its answer, about: objects, keys, records."""
Wire: TypeAlias = Mapping[str, Any]
TIMEOUT_HEADER = "X-Request-Timeout-Ms"
"""Shortens a request's time. Who sends it, or an Idempotency-Key, has more than a body to check."""


@dataclass(frozen=True, slots=True)
class _Known:
    past: Past
    parts: tuple[bytes, ...]

    @property
    def bytes(self) -> int:
        return OWN_BYTES + sum(map(len, self.parts))


class Repeats:
    """The answers of one process, by whom and what was asked."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._bytes = 0

    async def answer(
        self, request: Request, engine: Engine, caller: Caller, body: bytes
    ) -> Response | None:
        """The answer to a body that was answered before; None where it is to be made.

        Raises Problem 429.
        """
        key = _key(request, caller, body)
        known = None if key is None else self._known.get(key)
        if key is None or known is None:
            return None
        started = time.monotonic()
        if not await engine.still_holds(known.past):
            return None
        looked_up_ms = (time.monotonic() - started) * 1000.0
        async with admitted(request, caller, wait_s=known.past.timeout_s) as admission:
            admission.spent(known.past.outcome)
        engine.once_more(known.past, time.monotonic() - started)
        if key in self._known:
            self._known.move_to_end(key)
        latency = b"%.1f" % looked_up_ms
        return Response(latency.join(known.parts), media_type="application/json")

    def remember(
        self, request: Request, caller: Caller, body: bytes, past: Past | None, wire: Wire
    ) -> None:
        """Keep what was answered to a body, unless it has no ``past``."""
        key = None if past is None else _key(request, caller, body)
        if key is None or past is None:
            return
        self._forget(key)
        known = self._known[key] = _Known(past, _parts(wire))
        self._bytes += known.bytes
        while self._bytes > self._max_bytes:
            self._forget(next(iter(self._known)))

    def _forget(self, key: bytes) -> None:
        known = self._known.pop(key, None)
        self._bytes -= 0 if known is None else known.bytes


def _key(request: Request, caller: Caller, body: bytes) -> bytes | None:
    headers = request.headers
    if len(body) > MAX_BODY_BYTES or IDEMPOTENCY_HEADER in headers or TIMEOUT_HEADER in headers:
        return None
    digest = hashlib.sha256(caller.tenant.encode())
    digest.update(b"\0")
    digest.update(body)
    return digest.digest()


def _parts(wire: Wire) -> tuple[bytes, ...]:
    """The answer, cut where the time stands that a look-up took."""
    mark = secrets.token_hex(16)
    verdicts = [{**verdict, "latency_ms": mark} for verdict in wire["verdicts"]]
    whole = FiniteJSONResponse({**wire, "verdicts": verdicts}).body
    return tuple(bytes(whole).split(json.dumps(mark).encode()))
