"""What can be looked at: rubrics and judges."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.live import LiveJudges
from judge_service.api.openapi import shown
from judge_service.api.state import CallerDep, ServiceDep
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
