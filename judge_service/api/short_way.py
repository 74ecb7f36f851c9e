"""The routes that are asked most, found by their path alone.

The router of the framework tries one route after another, resolves dependencies and enters several
layers for each request: a large share of what a verdict from the cache costs. The routes named here
are called past it, in the same way: what the endpoint depends on is resolved, then it runs, and
what it raises goes to the app's own handlers. Whatever is not exactly one of their paths and
methods goes on to the router, which has these routes as well and documents them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import iscoroutinefunction
from typing import Any

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

Handlers = Mapping[Any, Callable[..., Any]]


class ShortWay:
    """Calls those of ``routes`` that are POST to one of ``paths``; everything else is ``app``'s.

    ``handlers`` are the app's exception handlers, looked up when something is raised. Raises
    TypeError for a route that cannot be called in this way.
    """

    def __init__(
        self,
        app: ASGIApp,
        routes: Iterable[BaseRoute],
        paths: frozenset[str],
        handlers: Handlers,
    ) -> None:
        self._app = app
        self._handlers = handlers
        self._ways = {
            route.path: _Way(route)
            for route in routes
            if isinstance(route, APIRoute) and route.path in paths and route.methods == {"POST"}
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI entry."""
        way = None
        if scope["type"] == "http" and scope["method"] == "POST" and not scope.get("root_path"):
            way = self._ways.get(scope["path"])
        if way is None:
            await self._app(scope, receive, send)
            return
        scope["route"] = way.route
        request = Request(scope, receive, send)
        try:
            response = await way.answer(request)
        except Exception as error:
            handler = self._handler(error)
            if handler is None:
                raise
            response = await handler(request, error)
        await response(scope, receive, send)

    def _handler(self, error: Exception) -> Callable[..., Any] | None:
        kinds = type(error).__mro__
        return next((self._handlers[kind] for kind in kinds if kind in self._handlers), None)


class _Way:
    """One route, and what its endpoint depends on: functions of the request, by parameter."""

    def __init__(self, route: APIRoute) -> None:
        self.route = route
        self._endpoint = _checked(route, route.dependant)
        self._request = route.dependant.request_param_name
        # One without a name is a dependency of the whole route: called for what it raises.
        self._needs = [
            (need.name, _checked(route, need, alone=True)) for need in route.dependant.dependencies
        ]

    async def answer(self, request: Request) -> Response:
        """What the endpoint answers. Raises what it or one of its dependencies raises."""
        given: dict[str, Any] = {}
        if self._request is not None:
            given[self._request] = request
        for name, need in self._needs:
            found = await need(request)
            if name is not None:
                given[name] = found
        response: Response = await self._endpoint(**given)
        return response


def _checked(route: APIRoute, part: Dependant, *, alone: bool = False) -> Callable[..., Any]:
    """A coroutine function that takes the request, as an ``alone`` one nothing else, or else also
    what it depends on. Raises TypeError for any other.
    """
    more: list[object] = [
        part.path_params, part.query_params, part.header_params, part.cookie_params,
        part.body_params, part.websocket_param_name, part.http_connection_param_name,
        part.response_param_name, part.background_tasks_param_name,
        part.security_scopes_param_name,
    ]  # fmt: skip
    if alone:
        more += [part.dependencies, part.request_param_name is None]
    if any(more) or not iscoroutinefunction(part.call):
        raise TypeError(f"{route.path}: {part.call} wants what only the router can give")
    return part.call
