"""``GET /metrics`` for Prometheus."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from judge_service.api.openapi import shown
from judge_service.api.state import CallerDep
from judge_service.api.telemetry import TelemetryDep

router = APIRouter(tags=["looking"])
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Prometheus' text format, or OpenMetrics where it is asked for",
        "content": {
            "text/plain": {"schema": {"type": "string"}},
            "application/openmetrics-text": {"schema": {"type": "string"}},
        },
    },
    401: shown("ProblemAnswer", "No valid key"),
    403: shown("ProblemAnswer", "The key may not do this"),
}


@router.get(
    "/metrics",
    summary="Metrics of all worker processes",
    responses=_ANSWERS,
    response_class=Response,
)
async def metrics(request: Request, telemetry: TelemetryDep, _: CallerDep) -> Response:
    """What was counted since the start, over all worker processes."""
    accept = request.headers.get("accept", "")
    # In a thread: with several workers it reads their files.
    body, content_type = await asyncio.to_thread(telemetry.metrics.render, accept)
    return Response(body, headers={"Content-Type": content_type})
