"""``POST /v1/assess`` and ``POST /v1/compare``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from judge_service.access.key_ring import Caller
from judge_service.api.admission import admitted, in_time_left, raise_if_shed
from judge_service.api.body import MAX_ITEM_BYTES, decode_json, done_with, read_bytes
from judge_service.api.disconnect import while_connected
from judge_service.api.idempotency import HEADER as IDEMPOTENCY_HEADER
from judge_service.api.idempotency import check_idempotency
from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.openapi import shown, taken
from judge_service.api.problems import Problem, from_validation
from judge_service.api.repeats import TIMEOUT_HEADER
from judge_service.api.schemas import (
    ASSESS_EXAMPLE,
    COMPARE_EXAMPLE,
    AssessBody,
    CompareBody,
)
from judge_service.api.state import CallerDep, ServiceDep, held
from judge_service.judging.past import past_of
from judge_service.outcome import Common
from judge_service.request import Request as Wanted
from judge_service.wire import assess_wire, compare_wire

router = APIRouter(prefix="/v1", tags=["judging"])
Checked = TypeVar("Checked", bound=BaseModel)
W = TypeVar("W", bound=Wanted)


def _problem(description: str, *, waits: bool = False) -> dict[str, Any]:
    retry = {"description": "Seconds to wait", "schema": {"type": "integer", "minimum": 1}}
    headers = {"headers": {"Retry-After": retry}} if waits else {}
    return shown("ProblemAnswer", description, **headers)


PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: _problem("No valid key"),
    403: _problem("The key may not do this"),
    404: _problem("No such rubric"),
    408: _problem("The body took too long to arrive"),
    409: _problem("The Idempotency-Key belongs to another request"),
    413: _problem("The body is too large"),
    415: _problem("Not application/json"),
    422: _problem("The request cannot be right"),
    429: _problem("The key's quota is used up", waits=True),
    503: _problem("Too much to do; no judge was asked", waits=True),
}
"""What every judging route answers beside 200."""
_HEADERS = (
    (IDEMPOTENCY_HEADER, {"type": "string", "minLength": 1, "maxLength": 255},
     "Belongs to this request alone, for 24 hours: with another body it is refused (409)"),
    (TIMEOUT_HEADER, {"type": "integer", "minimum": 1},
     "Shortens the request's timeout_s, in milliseconds"),
)  # fmt: skip


def documented(name: str, example: dict[str, Any]) -> dict[str, Any]:
    """Body and headers for the OpenAPI page; both are read by the routes themselves."""
    headers = [
        {"name": header, "in": "header", "required": False, "schema": schema, "description": text}
        for header, schema, text in _HEADERS
    ]
    return {**taken(name, example), "parameters": headers}


@router.post(
    "/assess",
    summary="Assess one candidate on a rubric",
    responses={200: shown("AssessAnswer"), **PROBLEMS},
    openapi_extra=documented("AssessBody", ASSESS_EXAMPLE),
)
async def assess(request: Request, service: ServiceDep, caller: CallerDep) -> Response:
    """Judge one candidate; a failed outcome is HTTP 200 with ``status: failed`` and no reward."""
    repeats = held(request)["repeats"]
    engine = service.engine
    sent = await read_bytes(request, MAX_ITEM_BYTES)
    asked = await repeats.answer(request, engine, caller, sent)
    if isinstance(asked, Response):
        return asked
    body = await done_with(sent, partial(checked_body, caller, AssessBody, asked.body))
    wanted = of_tenant(body.request(timeout_of(request, body.timeout_s)), caller)
    await check_idempotency(
        request, service, caller, asked.body, check=partial(engine.check, wanted)
    )
    async with admitted(request, caller, wait_s=wanted.timeout_s) as admission:
        wanted = in_time_left(wanted, admission)
        case = engine.check(wanted)
        outcome = await while_connected(request, engine.assess(wanted, case))
        admission.spent(outcome)
    answer = answered(outcome, assess_wire(outcome, body.metadata))
    repeats.remember(asked, past_of(case, outcome), answer)
    return answer


@router.post(
    "/compare",
    summary="Compare two candidates in both orders",
    responses={200: shown("CompareAnswer"), **PROBLEMS},
    openapi_extra=documented("CompareBody", COMPARE_EXAMPLE),
)
async def compare(request: Request, service: ServiceDep, caller: CallerDep) -> Response:
    """Judge a pair with position swap; nobody wins a pair whose two orders disagree."""
    body, data = await read_body(request, caller, CompareBody)
    wanted = of_tenant(body.request(timeout_of(request, body.timeout_s)), caller)
    await check_idempotency(
        request, service, caller, data, check=partial(service.engine.check, wanted)
    )
    async with admitted(request, caller, wait_s=wanted.timeout_s) as admission:
        wanted = in_time_left(wanted, admission)
        outcome = await while_connected(request, service.engine.compare(wanted))
        admission.spent(outcome)
    return answered(outcome, compare_wire(outcome, body.metadata))


async def read_body(
    request: Request, caller: Caller, schema: type[Checked], limit: int = MAX_ITEM_BYTES
) -> tuple[Checked, Any]:
    """The body of a request, checked and as it was decoded.

    Raises Problem: 403 for an audit without an admin's key, 408, 413, 415, 422.
    """
    sent = await read_bytes(request, limit)

    def understood() -> tuple[Checked, Any]:
        data = decode_json(sent)
        return checked_body(caller, schema, data), data

    return await done_with(sent, understood)


def checked_body(caller: Caller, schema: type[Checked], data: Any) -> Checked:
    """The same of a body that was read and decoded before."""
    try:
        body = schema.model_validate(data)
    except ValidationError as error:
        raise from_validation(error) from None
    if getattr(body, "audit", False):
        check_audit(caller, "audit")
    return body


def check_audit(caller: Caller, field: str) -> None:
    """Raise Problem 403 unless the caller may ask for an audit, as ``field`` of the body does."""
    if not caller.may("admin"):
        raise Problem(403, "forbidden", "audit needs an admin key", field=field)


def of_tenant(wanted: W, caller: Caller) -> W:
    """The same request in the name of the caller's tenant."""
    if wanted.tenant == caller.tenant:
        return wanted
    return dataclasses.replace(wanted, tenant=caller.tenant)


def timeout_of(request: Request, timeout_s: float) -> float:
    """``timeout_s`` of the body, in seconds; the header can only shorten it."""
    header = request.headers.get(TIMEOUT_HEADER)
    if header is None:
        return timeout_s
    header = header.strip(" \t")
    if not header.isascii() or not header.isdecimal() or not int(header[:10]) > 0:
        raise Problem(
            422, "invalid_request", f"{TIMEOUT_HEADER} is a whole number of milliseconds",
            field=TIMEOUT_HEADER,
        )  # fmt: skip
    return min(timeout_s, int(header[:10]) / 1000.0)


def answered(outcome: Common, wire: Mapping[str, Any]) -> Response:
    """HTTP 200 for a success and for a failure. Raises Problem 503 for what was shed before any
    judge was asked.
    """
    raise_if_shed(outcome)
    return FiniteJSONResponse(wire)
