"""Requests that come again: the answer they were given, for as long as it would be given again.

An answer that was made of verdicts which are kept is remembered by what was asked, metadata aside.
When the same is asked again, its verdicts are looked up; where the store has the very same records,
the answer is the same but for the metadata, and nothing is checked, inspected or reckoned a second
time. Whatever is not exactly so goes the long way.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from judge_service.access.key_ring import Caller
from judge_service.api.admission import admitted
from judge_service.api.body import decoded
from judge_service.api.idempotency import HEADER as IDEMPOTENCY_HEADER
from judge_service.api.json_response import finite_json
from judge_service.engine import Engine
from judge_service.judging.past import Past
from judge_service.outcome import Assessed
from judge_service.wire import assess_wire

MAX_BODY_BYTES = 64 * 1024
"""A longer request is not remembered."""
MAX_BYTES = 16 * 1024 * 1024
"""How much all remembered answers may take; the oldest go first."""
OWN_BYTES = 4 * 1024
"""What one takes beside its answer, about: objects, keys, records."""
TIMEOUT_HEADER = "X-Request-Timeout-Ms"
"""Shortens a request's time. Who sends it, or an Idempotency-Key, has more than a body to check."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request whose answer is to be made: its decoded ``body``, and hashes to know it by, of what
    it asks and of its bytes; without them it is not remembered.
    """

    body: Any
    key: bytes = b""
    heard: bytes = b""


@dataclass(frozen=True, slots=True)
class _Repeated:
    """An outcome as it comes again, and its answer: the parts around what differs each time."""

    outcome: Assessed
    parts: tuple[bytes, ...]


@dataclass(slots=True)
class _Known:
    """``heard`` is the hash of the bytes that asked for it last, ``metadata`` the JSON of theirs;
    ``size`` is in bytes, metadata aside.
    """

    past: Past
    size: int
    heard: bytes = b""
    metadata: bytes = b""
    repeated: _Repeated | None = None


class Repeats:
    """The answers of one process, by whom and what was asked."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._heard: dict[bytes, bytes] = {}
        self._bytes = 0

    async def answer(
        self, request: Request, engine: Engine, caller: Caller, sent: bytes
    ) -> Response | Asked:
        """The answer to a body as it was sent, if it asks what was asked before.

        Raises Problem 422 for what is not JSON, 429.
        """
        if not _is_plain(request) or len(sent) > MAX_BODY_BYTES:
            return Asked(await decoded(sent))
        heard = _hash(caller, sent)
        key = self._heard.get(heard)
        if key is not None and (answer := await self._again(request, engine, caller, key)):
            return answer
        body = await decoded(sent)
        if not isinstance(body, dict) or not isinstance(body.get("metadata"), dict | None):
            return Asked(body)
        asked = Asked(body, _hash(caller, _without_metadata(body)), heard)
        if key is None and asked.key in self._known:
            self._known.move_to_end(asked.key)
            self._hear(asked)
            return await self._again(request, engine, caller, asked.key) or asked
        return asked

    async def _again(
        self, request: Request, engine: Engine, caller: Caller, key: bytes
    ) -> Response | None:
        known = self._known.get(key)
        if known is None:
            return None
        past, metadata = known.past, known.metadata
        started = time.monotonic()
        if not await engine.still_holds(past):
            return None
        looked_up_ms = (time.monotonic() - started) * 1000.0
        repeated = known.repeated = known.repeated or _repeated(past)
        async with admitted(request, caller, wait_s=past.timeout_s) as admission:
            admission.spent(repeated.outcome)
        engine.once_more(past, time.monotonic() - started)
        if key in self._known:
            self._known.move_to_end(key)
        *times, end = repeated.parts
        content = (b"%.1f" % looked_up_ms).join(times) + metadata + end
        return Response(content, media_type="application/json")

    def remember(self, asked: Asked, past: Past | None, answer: Response) -> None:
        """Keep what was answered, unless it has no ``past``."""
        if not asked.key or past is None:
            return
        self._forget(asked.key)
        self._known[asked.key] = _Known(past, OWN_BYTES + len(answer.body))
        self._bytes += OWN_BYTES + len(answer.body)
        self._hear(asked)

    def _hear(self, asked: Asked) -> None:
        known = self._known[asked.key]
        self._heard.pop(known.heard, None)
        self._bytes -= len(known.metadata)
        known.heard, known.metadata = asked.heard, finite_json(asked.body.get("metadata"))
        self._heard[known.heard] = asked.key
        self._bytes += len(known.metadata)
        while self._bytes > self._max_bytes:
            self._forget(next(iter(self._known)))

    def _forget(self, key: bytes) -> None:
        known = self._known.pop(key, None)
        if known is not None:
            self._bytes -= known.size + len(known.metadata)
            self._heard.pop(known.heard, None)


def _is_plain(request: Request) -> bool:
    headers = request.headers
    return IDEMPOTENCY_HEADER not in headers and TIMEOUT_HEADER not in headers


def _without_metadata(body: dict[str, Any]) -> bytes:
    return to_json({name: value for name, value in body.items() if name != "metadata"})


def _hash(caller: Caller, asked: bytes) -> bytes:
    digest = hashlib.blake2b(caller.tenant.encode(), digest_size=32)
    digest.update(b"\0")
    digest.update(asked)
    return digest.digest()


def _repeated(past: Past) -> _Repeated:
    """The answer is cut where the times stand that look-ups took and, last, the metadata."""
    outcome = past.again()
    mark = secrets.token_hex(16)
    wire = assess_wire(outcome)
    verdicts = [{**verdict, "latency_ms": mark} for verdict in wire["verdicts"]]
    whole = finite_json({**wire, "verdicts": verdicts, "metadata": mark})
    return _Repeated(outcome, tuple(whole.split(json.dumps(mark).encode())))
