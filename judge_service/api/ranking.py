"""``POST /v1/rank``."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from judge_service.api.admission import admitted
from judge_service.api.answers import RankAnswer
from judge_service.api.disconnect import while_connected
from judge_service.api.judging import (
    PROBLEMS,
    answered,
    documented,
    of_tenant,
    read_body,
    timeout_of,
)
from judge_service.api.schemas import RANK_EXAMPLE, RankBody
from judge_service.api.state import CallerDep, ServiceDep
from judge_service.wire import rank_wire

MAX_GROUP_BYTES = 64 * 1024 * 1024
router = APIRouter(prefix="/v1", tags=["judging"])


@router.post(
    "/rank",
    summary="Rank a group of candidates",
    responses={200: {"model": RankAnswer}, **PROBLEMS},
    openapi_extra=documented("RankBody", RANK_EXAMPLE),
)
async def rank(request: Request, service: ServiceDep, caller: CallerDep) -> Response:
    """Give every member of a group a reward, all by the same judges, or fail the group whole."""
    body = await read_body(request, service, caller, RankBody, MAX_GROUP_BYTES)
    wanted = of_tenant(body.request(timeout_of(request, body.timeout_s)), caller)
    async with admitted(request, caller) as admission:
        outcome = await while_connected(request, service.engine.rank(wanted))
        admission.spent(outcome)
    return answered(outcome, rank_wire(outcome, body.metadata))
