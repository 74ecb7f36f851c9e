"""``POST /v1/bulk``: many requests posted at once and answered in order."""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import Sequence

from fastapi import APIRouter, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from judge_service.access.key_ring import Caller
from judge_service.api.admission import admitted, later
from judge_service.api.body import decode_json, done_with, read_bytes
from judge_service.api.bulk_items import Arrival, Bulk, checked
from judge_service.api.bulk_run import BulkRun
from judge_service.api.bulk_schema import BULK_EXAMPLE
from judge_service.api.disconnect import Disconnected, while_connected
from judge_service.api.idempotency import check_idempotency
from judge_service.api.judging import PROBLEMS, documented, timeout_of
from judge_service.api.openapi import shown
from judge_service.api.state import CallerDep, ServiceDep
from judge_service.case import Case
from judge_service.engine import Engine
from judge_service.service import Service

router = APIRouter(prefix="/v1", tags=["judging"])
MAX_BULK_BYTES = 64 * 1024 * 1024
MAX_BULK_VALUES = 1_000_000
STREAMED_FROM = 65
"""From so many items on, results are sent as they come."""
SEND_S = 30.0
"""How long a caller may take none of a streamed answer, in seconds."""


@router.post(
    "/bulk",
    summary="Judge up to 1,024 requests posted at once",
    responses={200: shown("BulkAnswer"), **PROBLEMS},
    openapi_extra=documented("BulkBody", BULK_EXAMPLE),
)
async def bulk(request: Request, service: ServiceDep, caller: CallerDep) -> Response:
    """Judge every item; results are in the order of the items, each with a status of its own.

    A mistake in any item refuses the whole before any judge is asked. Above 64 items the answer is
    sent bit by bit; one that breaks off in the middle is no JSON.
    """
    made = await _read(request, service, caller)
    _raise_if_full(service.engine, [item.case for item in made.items])
    if len(made.items) >= STREAMED_FROM:
        return _Streamed(request, caller, service.engine, made)
    parts: list[bytes] = []

    async def keep(result: bytes) -> None:
        parts.append(result)

    async with admitted(request, caller, len(made.items)) as admission:
        run = BulkRun(service.engine, made.items, admission)
        await while_connected(request, run.tell(keep))
    whole = b'{"results":[' + b",".join(parts) + _end(made)
    return Response(whole, media_type="application/json")


async def _read(request: Request, service: Service, caller: Caller) -> Bulk:
    """The checked bulk. Raises Problem for the caller's mistakes."""
    limit_s = timeout_of(request, math.inf)
    body = await read_bytes(request, MAX_BULK_BYTES)
    arrival = Arrival(caller=caller, at=time.monotonic(), limit_s=limit_s)

    def understood() -> tuple[str, Bulk]:
        data = decode_json(body, values=MAX_BULK_VALUES)
        return hashlib.sha256(body).hexdigest(), checked(data, service.engine, arrival)

    digest, made = await done_with(body, understood)
    await check_idempotency(request, service, caller, digest)
    return made


class _Streamed(Response):
    """The same answer, sent as the results come."""

    def __init__(self, request: Request, caller: Caller, engine: Engine, made: Bulk) -> None:
        super().__init__()
        self._request = request
        self._caller = caller
        self._engine = engine
        self._made = made

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI entry."""
        try:
            async with admitted(self._request, self._caller, len(self._made.items)) as admission:
                run = BulkRun(self._engine, self._made.items, admission)
                await while_connected(self._request, self._send(run, send))
        except Disconnected:
            # Nobody is there to be told, and what was sent so far cannot be taken back. An answer
            # without its end is taken for none.
            return

    async def _send(self, run: BulkRun, send: Send) -> None:
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        before = b'{"results":['

        async def tell(result: bytes) -> None:
            nonlocal before
            await self._chunk(send, before + result, more=True)
            before = b","

        await run.tell(tell)
        await self._chunk(send, _end(self._made), more=False)

    async def _chunk(self, send: Send, body: bytes, *, more: bool) -> None:
        try:
            async with asyncio.timeout(SEND_S):
                await send({"type": "http.response.body", "body": body, "more_body": more})
        except TimeoutError:
            raise Disconnected from None


def _end(made: Bulk) -> bytes:
    return b"]}" if made.metadata is None else b'],"metadata":' + made.metadata + b"}"


def _raise_if_full(engine: Engine, cases: Sequence[Case]) -> None:
    """Raise Problem 503 when there is too much to do already. Nobody has been asked yet, and once
    the bulk is let in, none of its items is turned away.
    """
    error = engine.room(cases)
    if error is not None:
        raise later(503, "overloaded", str(error), error.retry_after_s)
    for case in cases:
        case.admitted = True
