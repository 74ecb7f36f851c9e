"""The app: settings in, FastAPI out."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from judge_service import __version__
from judge_service.api import judging, looking, problems
from judge_service.api.auth import KeyRing, pepper_of
from judge_service.api.disconnect import Disconnected
from judge_service.api.middleware import RequestContext
from judge_service.api.schemas import AssessBody, CompareBody
from judge_service.api.state import State
from judge_service.service import open_service
from judge_service.settings import Settings, from_env

log = logging.getLogger("judge_service")
CLIENT_CLOSED_REQUEST = 499


def create_app(settings: Settings, environ: Mapping[str, str]) -> FastAPI:
    """The service as an ASGI app. ``environ`` is where judges' keys are looked up.

    Configuration faults raise ConfigError when the app starts.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[State]:
        keys = None
        if settings.api_keys_file is not None:
            previous = settings.secret_previous
            peppers = [pepper_of(settings.secret), *([pepper_of(previous)] if previous else [])]
            keys = KeyRing(settings.api_keys_file, *peppers)
        async with open_service(settings, environ, read_ahead=True) as service:
            for warning in service.warnings():
                log.warning("%s", warning)
            yield State(service=service, keys=keys)

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
    app.include_router(looking.router)
    problems.install(app)

    @app.exception_handler(ClientDisconnect)
    @app.exception_handler(Disconnected)
    async def hung_up(_: Request, __: Exception) -> Response:
        return Response(status_code=CLIENT_CLOSED_REQUEST)

    app.add_middleware(RequestContext)
    _document_bodies(app)
    return app


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
            for body in (AssessBody, CompareBody):
                found = body.model_json_schema(ref_template="#/components/schemas/{model}")
                parts |= found.pop("$defs", {})
                parts[body.__name__] = found
        return schema

    # Replacing the method is the way FastAPI documents for extending the schema.
    app.openapi = openapi  # type: ignore[method-assign]
