"""``POST /v1/rank`` and ``POST /v1/groups/join``."""

from __future__ import annotations

import math
from functools import partial

from fastapi import APIRouter, Request
from starlette.responses import Response

from judge_service.api.admission import admitted, in_time_left
from judge_service.api.disconnect import while_connected
from judge_service.api.idempotency import check_idempotency
from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.judging import (
    PROBLEMS,
    answered,
    documented,
    of_tenant,
    read_body,
    timeout_of,
)
from judge_service.api.openapi import shown
from judge_service.api.schemas import JOIN_EXAMPLE, RANK_EXAMPLE, JoinBody, RankBody
from judge_service.api.state import CallerDep, ServiceDep
from judge_service.cohort.joined import Joined
from judge_service.cohort.wire import alone_wire, join_wire
from judge_service.wire import rank_wire

MAX_GROUP_BYTES = 64 * 1024 * 1024
router = APIRouter(prefix="/v1", tags=["judging"])


@router.post(
    "/rank",
    summary="Rank a group of candidates",
    responses={200: shown("RankAnswer"), **PROBLEMS},
    openapi_extra=documented("RankBody", RANK_EXAMPLE),
)
async def rank(request: Request, service: ServiceDep, caller: CallerDep) -> Response:
    """Give every member of a group a reward, all by the same judges, or fail the group whole."""
    body, data = await read_body(request, caller, RankBody, MAX_GROUP_BYTES)
    wanted = of_tenant(body.request(timeout_of(request, body.timeout_s)), caller)
    await check_idempotency(
        request, service, caller, data, check=partial(service.engine.check, wanted)
    )
    async with admitted(request, caller, wait_s=wanted.timeout_s) as admission:
        wanted = in_time_left(wanted, admission)
        outcome = await while_connected(request, service.engine.rank(wanted))
        admission.spent(outcome)
    return answered(outcome, rank_wire(outcome, body.metadata))


@router.post(
    "/groups/join",
    summary="Join a group that forms on the server",
    responses={200: shown("JoinAnswer"), **PROBLEMS},
    openapi_extra=documented("JoinBody", JOIN_EXAMPLE),
)
async def join(request: Request, service: ServiceDep, caller: CallerDep) -> Response:
    """Hold the member until its group is there and judged; then each member has its own reward.

    The same member with the same candidate may come again: it gets the same answer.
    """
    body, data = await read_body(request, caller, JoinBody, MAX_GROUP_BYTES)
    # The others' judging is not for one member to shorten, only its own stay.
    within_s = timeout_of(request, math.inf)
    alone = body.size == 1
    wanted = of_tenant(body.request(min(within_s, body.timeout_s) if alone else None), caller)
    await check_idempotency(
        request, service, caller, data, check=partial(service.cohorts.check, wanted)
    )
    # Members have to come in before their group costs anything; it is paid for when it is judged.
    wait_s = wanted.timeout_s if alone else None
    async with admitted(request, caller, wait_s=wait_s, apart=not alone) as admission:
        wanted = in_time_left(wanted, admission)
        joining = service.cohorts.join(wanted, admission, within_s=within_s)
        joined = await while_connected(request, joining)
        if isinstance(joined, Joined):
            return FiniteJSONResponse(join_wire(joined, body.metadata))
        admission.spent(joined)
    return answered(joined, alone_wire(joined, body.metadata))
