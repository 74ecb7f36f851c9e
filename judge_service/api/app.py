"""The app: settings in, FastAPI out."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from judge_service import __version__
from judge_service.adapters.tracing import Tracing
from judge_service.api import health, judging, metrics, openapi, problems, ranking
from judge_service.api.body_room import BodyRoom
from judge_service.api.later_routes import LaterRoutes
from judge_service.api.middleware import RequestContext
from judge_service.api.short_way import ShortWay
from judge_service.api.state import State, state_of
from judge_service.api.telemetry import Telemetry
from judge_service.rubric.library import Library
from judge_service.service import open_service
from judge_service.settings import Settings, from_env

log = logging.getLogger("judge_service")
SHORT_WAYS = frozenset({"/v1/assess", "/v1/compare", "/v1/rank"})
SHARED_METRICS = "PROMETHEUS_MULTIPROC_DIR"
"""Where worker processes share their metrics; the variable is the Prometheus client's own."""


def create_app(
    settings: Settings, environ: Mapping[str, str], library: Library | None = None
) -> FastAPI:
    """The service as an ASGI app. ``environ`` is where judges' keys are looked up; ``library`` is
    the shipped one, where it was loaded before.

    Configuration faults raise ConfigError when the app starts.
    """
    telemetry = Telemetry.of(environ.get(SHARED_METRICS))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[State]:
        async with (
            _traced(settings, telemetry),
            open_service(
                settings,
                environ,
                read_ahead=True,
                watched=True,
                observer=telemetry.observe,
                library=library,
            ) as service,
        ):
            for warning in service.warnings():
                log.warning("%s", warning)
            telemetry.know(service.engine.bench, service.engine.library)
            state = state_of(service)
            ahead = asyncio.create_task(app.later.ahead())
            try:
                yield state
            finally:
                ahead.cancel()
                await state["drift"].aclose()

    app = _App(
        title="judge_service",
        version=__version__,
        summary="LLM-as-judge scoring with bias controls",
        lifespan=lifespan,
        redoc_url=None,
        # The redirect's address would be made of the Host header, which anybody can set.
        redirect_slashes=False,
    )
    hot = [*judging.router.routes, *ranking.router.routes]
    for router in (judging.router, ranking.router, health.router, metrics.router):
        app.include_router(router)
    probed = [*hot, *health.router.routes, *metrics.router.routes]
    app.later = LaterRoutes(app, [r.path for r in probed if isinstance(r, APIRoute)])
    app.state.telemetry = telemetry
    app.state.room = room = BodyRoom()
    problems.install(app)
    short = ShortWay(app.behind, hot, SHORT_WAYS, app.exception_handlers)
    app.front = RequestContext(short, telemetry, room)
    openapi.complete(app, app.later.add)
    return app


class _App(FastAPI):
    """FastAPI behind what every request passes first."""

    front: ASGIApp
    later: LaterRoutes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI entry."""
        if scope["type"] == "http":
            scope["app"] = self
            await self.front(scope, receive, send)
        else:
            await self.behind(scope, receive, send)

    async def behind(self, scope: Scope, receive: Receive, send: Send) -> None:
        """FastAPI itself, with its own layers."""
        if scope["type"] == "http":
            await self.later.before(scope["path"])
        await super().__call__(scope, receive, send)


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


def app_from_env(library: Library | None = None) -> FastAPI:
    """The app with the settings of this process's environment (``uvicorn --factory``)."""
    return create_app(from_env(os.environ), os.environ, library)
