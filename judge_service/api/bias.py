"""``GET /v1/bias``: what the judges' recent traffic shows of their biases."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.openapi import shown
from judge_service.api.state import CallerDep, ServiceDep

router = APIRouter(prefix="/v1", tags=["looking"])


@router.get(
    "/bias",
    summary="Live bias figures of the judges",
    responses={
        200: shown("BiasReport"),
        401: shown("ProblemAnswer", "No valid key"),
        403: shown("ProblemAnswer", "The key may not do this"),
    },
)
async def bias(service: ServiceDep, _: CallerDep) -> Response:
    """Position, length, style and the rest, per judge, over what this service's processes had
    judged lately: all that share a store, else the one that answers.
    """
    judges = {judge.id: judge.family_label for judge in service.engine.bench.values()}
    report = await service.bias.report(judges)
    return FiniteJSONResponse(report.model_dump(mode="json"))
