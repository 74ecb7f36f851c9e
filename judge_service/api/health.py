"""The service's own health."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from judge_service import __version__
from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.live import LiveJudges
from judge_service.api.openapi import shown
from judge_service.api.problems import Problem
from judge_service.api.state import ServiceDep, caller_of
from judge_service.api.telemetry import TelemetryDep
from judge_service.service import Service

router = APIRouter(tags=["looking"])


@router.get(
    "/healthz", summary="Whether the process is alive", responses={200: shown("HealthAnswer")}
)
async def healthz(request: Request) -> Response:
    """Always 200 while the process answers."""
    if await _is_stranger(request):
        return FiniteJSONResponse({"status": "ok"})
    return FiniteJSONResponse({"status": "ok", "version": __version__})


@router.get(
    "/readyz", summary="Whether requests can be served", responses={200: shown("ReadyAnswer")}
)
async def readyz(request: Request, service: ServiceDep, telemetry: TelemetryDep) -> Response:
    """What is degraded, and why. The service listens only once its judges are set up, and what can
    fail from then on (a judge, the store) leaves requests that can be served.
    """
    if await _is_stranger(request):
        return FiniteJSONResponse({"status": "ready"})
    found = [{"part": "judges", "why": why} for why in _judge_troubles(service, telemetry.live)]
    if service.rubric_folder is not None:
        found += [{"part": "rubrics", "why": why} for why in service.rubric_folder.troubles()]
    trouble = await service.store.trouble()
    if trouble is not None:
        found.append({"part": "store", "why": trouble})
    return FiniteJSONResponse({"status": "ready", "degraded": found})


async def _is_stranger(request: Request) -> bool:
    """Whether details are none of the caller's business: there are keys, and this is none."""
    try:
        await caller_of(request)
    except Problem:
        return True
    return False


def _judge_troubles(service: Service, live: LiveJudges) -> list[str]:
    found = []
    if service.local_model is not None:
        found.append("the embedded trial model judges; configure judges.toml for real verdicts")
    for judge in service.engine.bench:
        state = live.breaker(judge)
        if state != "closed":
            words = state.replace("_", " ")
            found.append(f"judge {judge!r} does not answer: its circuit breaker is {words}")
    return found
