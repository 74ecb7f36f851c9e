"""``POST /v1/assess`` and ``POST /v1/compare``."""

from __future__ import annotations

from typing import Any, TypeVar

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.responses import Response

from judge_service.api.answers import AssessAnswer, CompareAnswer, ProblemAnswer
from judge_service.api.auth import Caller
from judge_service.api.body import read_json
from judge_service.api.disconnect import while_connected
from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.problems import Problem, from_validation
from judge_service.api.schemas import (
    ASSESS_EXAMPLE,
    COMPARE_EXAMPLE,
    AssessBody,
    CompareBody,
    RequestBody,
)
from judge_service.api.state import CallerDep, ServiceDep
from judge_service.wire import assess_wire, compare_wire

router = APIRouter(prefix="/v1", tags=["judging"])
TIMEOUT_HEADER = "x-request-timeout-ms"
Body = TypeVar("Body", bound=RequestBody)
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: {"model": ProblemAnswer, "description": "No valid key"},
    403: {"model": ProblemAnswer, "description": "The key may not do this"},
    404: {"model": ProblemAnswer, "description": "No such rubric"},
    408: {"model": ProblemAnswer, "description": "The body took too long to arrive"},
    413: {"model": ProblemAnswer, "description": "The body is too large"},
    415: {"model": ProblemAnswer, "description": "Not application/json"},
    422: {"model": ProblemAnswer, "description": "The request cannot be right"},
}


def _documented(name: str, example: dict[str, Any]) -> dict[str, Any]:
    """The request body for the OpenAPI page; the body itself is read by ``read_json``."""
    content = {"schema": {"$ref": f"#/components/schemas/{name}"}, "example": example}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


@router.post(
    "/assess",
    summary="Assess one candidate on a rubric",
    responses={200: {"model": AssessAnswer}, **_PROBLEMS},
    openapi_extra=_documented("AssessBody", ASSESS_EXAMPLE),
)
async def assess(request: Request, service: ServiceDep, caller: CallerDep) -> Response:
    """Judge one candidate; a failed outcome is HTTP 200 with ``status: failed`` and no reward."""
    body = await _read(request, AssessBody, caller)
    wanted = body.request(_timeout(body, request))
    outcome = await while_connected(request, service.engine.assess(wanted))
    return FiniteJSONResponse(assess_wire(outcome, body.metadata))


@router.post(
    "/compare",
    summary="Compare two candidates in both orders",
    responses={200: {"model": CompareAnswer}, **_PROBLEMS},
    openapi_extra=_documented("CompareBody", COMPARE_EXAMPLE),
)
async def compare(request: Request, service: ServiceDep, caller: CallerDep) -> Response:
    """Judge a pair with position swap; nobody wins a pair whose two orders disagree."""
    body = await _read(request, CompareBody, caller)
    wanted = body.request(_timeout(body, request))
    outcome = await while_connected(request, service.engine.compare(wanted))
    return FiniteJSONResponse(compare_wire(outcome, body.metadata))


async def _read(request: Request, schema: type[Body], caller: Caller) -> Body:
    data = await read_json(request)
    try:
        body = schema.model_validate(data)
    except ValidationError as error:
        raise from_validation(error) from None
    if body.audit and not caller.may("admin"):
        raise Problem(403, "forbidden", "audit needs an admin key", field="audit")
    return body


def _timeout(body: RequestBody, request: Request) -> float:
    """The body's timeout; the header can only shorten it."""
    header = request.headers.get(TIMEOUT_HEADER)
    if header is None:
        return body.timeout_s
    if not header.isascii() or not header.isdecimal() or not int(header[:10]) > 0:
        raise Problem(
            422, "invalid_request", "X-Request-Timeout-Ms is a whole number of milliseconds",
            field="X-Request-Timeout-Ms",
        )  # fmt: skip
    return min(body.timeout_s, int(header[:10]) / 1000.0)
