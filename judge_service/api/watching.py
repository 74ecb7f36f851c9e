"""``POST /v1/watch/reset``: what is usual is learnt anew; for admins."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import ConfigDict, StringConstraints, ValidationError
from starlette.responses import Response

from judge_service.api.body import read_json
from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.judging import PROBLEMS
from judge_service.api.openapi import shown, taken
from judge_service.api.problems import Problem, from_validation
from judge_service.api.state import CallerDep, ServiceDep
from judge_service.candidate.message_schema import Wire
from judge_service.rubric.rubric import ID_PATTERN

router = APIRouter(prefix="/v1/watch", tags=["looking"])
MAX_BYTES = 4_096
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: PROBLEMS[status] for status in (401, 403, 408, 413, 415, 422)
}


Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]


class ResetBody(Wire):
    """``POST /v1/watch/reset``: what is usual of a judge, of a rubric, of both together or, with
    neither, of all is learnt anew.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [{"judge": "gpt"}]})

    judge: Id | None = None
    rubric: Id | None = None


@router.post(
    "/reset",
    summary="Learn anew what is usual",
    status_code=202,
    responses={202: shown("ResetAnswer", "Learning has begun"), **_ERRORS},
    openapi_extra=taken("ResetBody", {"judge": "gpt"}),
)
async def reset(request: Request, service: ServiceDep, caller: CallerDep) -> Response:
    """After a change that is meant: baselines of a judge, a rubric or all are forgotten, and their
    alarms with them, in all processes that share the store.
    """
    if not caller.may("admin"):
        raise Problem(403, "forbidden", "a reset needs an admin key")
    try:
        body = ResetBody.model_validate(await read_json(request, MAX_BYTES))
    except ValidationError as error:
        raise from_validation(error) from None
    engine = service.engine
    if body.judge is not None and body.judge not in engine.bench:
        raise Problem(422, "unknown_judge", "there is no such judge", field="judge")
    if body.rubric is not None and body.rubric not in engine.library:
        raise Problem(422, "invalid_request", "there is no such rubric", field="rubric")
    done = await service.watch.reset(judge=body.judge, rubric=body.rubric)
    if done is None:
        done = {"alarms": 0, "processes": 0, "note": "watching is off"}
    return FiniteJSONResponse(done, 202)
