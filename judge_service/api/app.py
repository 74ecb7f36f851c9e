"""The app: settings in, FastAPI out."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from judge_service import __version__
from judge_service.adapters.tracing import Tracing
from judge_service.api import (
    bias,
    bulk,
    drift_runs,
    judging,
    looking,
    metrics,
    problems,
    ranking,
    rubric_upload,
    trainers,
    watching,
)
from judge_service.api.bulk_schema import BulkBody
from judge_service.api.disconnect import Disconnected
from judge_service.api.drift_runs_schema import DriftRunBody
from judge_service.api.middleware import RequestContext
from judge_service.api.schemas import AssessBody, CompareBody, JoinBody, RankBody
from judge_service.api.short_way import CLIENT_CLOSED_REQUEST, ShortWay
from judge_service.api.state import State, state_of
from judge_service.api.telemetry import Telemetry
from judge_service.api.watching_answers import ResetBody
from judge_service.service import open_service
from judge_service.settings import Settings, from_env

log = logging.getLogger("judge_service")
SHORT_WAYS = frozenset({"/v1/assess", "/v1/compare", "/v1/rank"})
_BODIES = (
    AssessBody, CompareBody, RankBody, JoinBody, BulkBody, DriftRunBody, rubric_upload.RubricBody,
    ResetBody,
)  # fmt: skip
"""What the routes read by themselves; the OpenAPI page shows it all the same."""
SHARED_METRICS = "PROMETHEUS_MULTIPROC_DIR"
"""Where worker processes share their metrics; the variable is the Prometheus client's own."""


def create_app(settings: Settings, environ: Mapping[str, str]) -> FastAPI:
    """The service as an ASGI app. ``environ`` is where judges' keys are looked up.

    Configuration faults raise ConfigError when the app starts.
    """
    telemetry = Telemetry.of(environ.get(SHARED_METRICS))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[State]:
        async with (
            _traced(settings, telemetry),
            open_service(
                settings, environ, read_ahead=True, watched=True, observer=telemetry.observe
            ) as service,
        ):
            for warning in service.warnings():
                log.warning("%s", warning)
            telemetry.know(service.engine.bench, service.engine.library)
            state = state_of(service)
            try:
                yield state
            finally:
                await state["drift"].aclose()

    app = FastAPI(
        title="judge_service",
        version=__version__,
        summary="LLM-as-judge scoring with bias controls",
        lifespan=lifespan,
        redoc_url=None,
        # The redirect's address would be made of the Host header, which anybody can set.
        redirect_slashes=False,
    )
    app.include_router(judging.router)
    app.include_router(ranking.router)
    app.include_router(bulk.router)
    app.include_router(rubric_upload.router)
    app.include_router(drift_runs.router)
    app.include_router(looking.router)
    app.include_router(bias.router)
    app.include_router(watching.router)
    app.include_router(metrics.router)
    app.include_router(trainers.router)
    app.state.telemetry = telemetry
    problems.install(app)

    @app.exception_handler(ClientDisconnect)
    @app.exception_handler(Disconnected)
    async def hung_up(_: Request, __: Exception) -> Response:
        return Response(status_code=CLIENT_CLOSED_REQUEST)

    hot = [*judging.router.routes, *ranking.router.routes]
    app.add_middleware(ShortWay, routes=hot, paths=SHORT_WAYS)
    app.add_middleware(RequestContext, telemetry=telemetry)
    _document_bodies(app)
    return app


@asynccontextmanager
async def _traced(settings: Settings, telemetry: Telemetry) -> AsyncIterator[None]:
    """Traces, where an operator wants them. Raises ConfigError where that cannot be."""
    if not settings.otel:
        yield
        return
    telemetry.tracing = tracing = Tracing(__version__)
    try:
        yield
    finally:
        await asyncio.to_thread(tracing.close)


def app_from_env() -> FastAPI:
    """The app with the settings of this process's environment (``uvicorn --factory``)."""
    return create_app(from_env(os.environ), os.environ)


def _document_bodies(app: FastAPI) -> None:
    """Put what the routes read by themselves onto the OpenAPI page: bodies and keys."""
    original = app.openapi

    def openapi() -> dict[str, Any]:
        known = app.openapi_schema
        schema = original()
        if known is None:
            components = schema.setdefault("components", {})
            # Needed only where the service has a keys file.
            components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            schema["security"] = [{}, {"key": []}]
            parts = components.setdefault("schemas", {})
            reference = "#/components/schemas/{model}"
            for body in _BODIES:
                found = body.model_json_schema(ref_template=reference)
                parts |= found.pop("$defs", {})
                parts[body.__name__] = found
        return schema

    # Replacing the method is the way FastAPI documents for extending the schema.
    app.openapi = openapi  # type: ignore[method-assign]
