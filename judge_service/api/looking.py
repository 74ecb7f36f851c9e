"""What can be looked at: rubrics, judges and the service's own health."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from judge_service import __version__
from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.live import LiveJudges
from judge_service.api.openapi import shown
from judge_service.api.problems import Problem
from judge_service.api.state import CallerDep, ServiceDep, caller_of
from judge_service.api.telemetry import TelemetryDep
from judge_service.judges.judge import JudgeSpec
from judge_service.rubric.file import document
from judge_service.rubric.rubric import Rubric
from judge_service.service import Service

router = APIRouter(tags=["looking"])
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: shown("ProblemAnswer", "No valid key"),
    403: shown("ProblemAnswer", "The key may not do this"),
}
_UNKNOWN: dict[int | str, dict[str, Any]] = {
    404: shown("ProblemAnswer", "No such rubric"),
    422: shown("ProblemAnswer", "The request cannot be right"),
}


@router.get("/v1/rubrics", summary="The rubrics of this service", responses=_PROBLEMS)
async def rubrics(service: ServiceDep, _: CallerDep) -> Response:
    """Every rubric in short."""
    return FiniteJSONResponse(
        {"rubrics": [rubric_short(r) for r in service.engine.library.values()]}
    )


@router.get("/v1/rubrics/{rubric_id}", summary="One rubric, whole", responses=_PROBLEMS | _UNKNOWN)
async def rubric(rubric_id: str, service: ServiceDep, _: CallerDep) -> Response:
    """A rubric with its scales, rules and anchors."""
    found = service.engine.library[rubric_id]
    return FiniteJSONResponse({**document(found), "rubric_hash": found.rubric_hash})


@router.get(
    "/v1/judges",
    summary="The judges and how they do",
    responses={200: shown("JudgesAnswer"), **_PROBLEMS},
)
async def judges(service: ServiceDep, telemetry: TelemetryDep, _: CallerDep) -> Response:
    """Family, limits, queue, breaker, live bias figures and alarms of every judge."""
    watch = await service.watch.report()
    return FiniteJSONResponse(
        {"judges": judges_wire(service, telemetry.live, watch), "watch": watch}
    )


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


def rubric_short(found: Rubric) -> dict[str, Any]:
    """A rubric's line in the list."""
    return {
        "id": found.id,
        "version": found.version,
        "kind": found.kind,
        "description": found.description,
        "judged": found.judging.judged,
        "reference": found.judging.reference,
        "criteria": [
            {"name": c.name, "weight": c.weight, "points": [p.point for p in c.scale or ()]}
            for c in found.criteria
        ],
        "anchors": len(found.anchors),
        "rubric_hash": found.rubric_hash,
    }


def judges_wire(
    service: Service, live: LiveJudges, watch: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """The judges with what is known of them; addresses and keys stay inside."""
    alarms = [] if watch is None else watch["alarms"]
    return [
        _judge_wire(judge, service, live)
        | {"alarms": [alarm for alarm in alarms if alarm["judge"] == judge.id]}
        for judge in service.engine.bench.values()
    ]


def _judge_wire(judge: JudgeSpec, service: Service, live: LiveJudges) -> dict[str, Any]:
    capability = service.engine.asker.capability(judge)
    return {
        "id": judge.id,
        "model": judge.model,
        "family": judge.family_label,
        "purpose": judge.purpose,
        "weight": judge.weight,
        "trial": judge.id in service.engine.bench.trial,
        "reply": capability.mode,
        "breaker": live.breaker(judge.id),
        "queue": live.queue(judge.id),
        "limits": {
            "max_concurrency": judge.max_concurrency,
            "rpm": judge.rpm,
            "tpm": judge.tpm,
            "attempt_timeout_s": judge.attempt_timeout_s,
        },
        "bias": asdict(service.engine.history.figures(judge.id)),
    }


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
