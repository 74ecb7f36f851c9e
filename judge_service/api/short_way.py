"""The routes that are asked most, found by their path alone.

The router of the framework tries one route after another, resolves dependencies and enters several
layers for each request: a large share of what a verdict from the cache costs. The routes named here
are called past it, in the same way: the caller is authenticated, then the endpoint runs, and
mistakes become the same answers. Whatever is not exactly one of their paths and methods goes on to
the router, which has these routes as well and documents them.
"""

from __future__ import annotations

from collections.abc import Iterable

from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from judge_service.api.disconnect import Disconnected
from judge_service.api.problems import Problem, problem_answer, problem_of
from judge_service.api.state import caller_of, service_of
from judge_service.errors import RequestError

CLIENT_CLOSED_REQUEST = 499


class ShortWay:
    """Calls those of ``routes`` that are POST to one of ``paths``; everything else is ``app``'s."""

    def __init__(self, app: ASGIApp, routes: Iterable[BaseRoute], paths: frozenset[str]) -> None:
        self._app = app
        self._routes = {
            route.path: route
            for route in routes
            if isinstance(route, APIRoute) and route.path in paths and route.methods == {"POST"}
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI entry."""
        route = None
        if scope["type"] == "http" and scope["method"] == "POST" and not scope.get("root_path"):
            route = self._routes.get(scope["path"])
        if route is None:
            await self._app(scope, receive, send)
            return
        scope["route"] = route
        response = await _answer(route, Request(scope, receive, send))
        await response(scope, receive, send)


async def _answer(route: APIRoute, request: Request) -> Response:
    try:
        service, caller = await service_of(request), await caller_of(request)
        response: Response = await route.endpoint(request, service, caller)
    except Problem as problem:
        return problem_answer(problem)
    except RequestError as error:
        return problem_answer(problem_of(error))
    except (ClientDisconnect, Disconnected):
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    return response
