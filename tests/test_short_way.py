"""The way past the framework's router: called and told of as the router would."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import httpx
import pytest
from fastapi import APIRouter, Depends, FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from judge_service.api.disconnect import HUNG_UP, Disconnected
from judge_service.api.problems import Problem, install
from judge_service.api.short_way import ShortWay
from judge_service.errors import InvalidRequest, UnknownRubric


class OwnError(Exception):
    """An error that has a handler of its own."""


class NarrowError(OwnError):
    """One that has not."""


RAISED: dict[str, tuple[Exception, int]] = {
    "problem": (Problem(409, "twice", "Asked twice.", headers={"X-Told": "yes"}), 409),
    "request error": (InvalidRequest("It cannot be right.", field="prompt"), 422),
    "unknown rubric": (UnknownRubric("There is none."), 404),
    "http exception": (HTTPException(418, "No.", headers={"X-Told": "yes"}), 418),
    "disconnected": (Disconnected(), HUNG_UP),
    "client disconnect": (ClientDisconnect(), HUNG_UP),
    "an error added later": (OwnError("own"), 410),
    "a narrower one": (NarrowError("narrow"), 410),
}


async def told(_: Request) -> str:
    """A dependency."""
    return "told"


async def refusing(request: Request) -> None:
    """A dependency that looks at the request and may refuse it."""
    if "x-refused" in request.headers:
        raise Problem(403, "refused", "Not this one.")


class Nobody:
    """The app behind, which must not be asked."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Fail."""
        raise AssertionError(f"{scope['path']} went on to the router")


def both(endpoint: Callable[..., Awaitable[Any]], **more: Any) -> tuple[ASGIApp, ASGIApp]:
    """A route of ``endpoint`` the long way and the short way, with the service's handlers."""
    router = APIRouter()
    router.add_api_route("/asked", endpoint, methods=["POST"], response_model=None, **more)
    app = FastAPI()
    app.include_router(router)
    install(app)

    @app.exception_handler(OwnError)
    async def gone(_: Request, error: Exception) -> Response:
        return PlainTextResponse(type(error).__name__, 410)

    return app, ShortWay(Nobody(), router.routes, frozenset({"/asked"}), app.exception_handlers)


def asked(app: ASGIApp, **headers: str) -> httpx.Response:
    """The answer to a POST."""

    async def run() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
            return await http.post("/asked", headers=headers)

    return asyncio.run(run())


@pytest.mark.parametrize("name", RAISED)
def test_what_is_raised_is_told_alike(name: str) -> None:
    """Every error has one answer, whichever way the request came."""
    error, status = RAISED[name]

    async def endpoint(request: Request) -> Response:
        raise error

    long, short = (asked(app) for app in both(endpoint))

    assert (long.status_code, short.status_code) == (status, status)
    assert (short.content, short.headers) == (long.content, long.headers)


def test_an_error_that_nobody_tells_is_raised() -> None:
    """The layer in front makes it a 500."""

    async def endpoint(request: Request) -> Response:
        raise ZeroDivisionError

    _, short = both(endpoint)

    with pytest.raises(ZeroDivisionError):
        asked(short)


def test_dependencies_are_found_by_name() -> None:
    """In whatever order the endpoint has them; one of the whole route is called, too."""

    async def endpoint(word: Annotated[str, Depends(told)], asking: Request) -> Response:
        return PlainTextResponse(f"{word} {asking.url.path}")

    apps = both(endpoint, dependencies=[Depends(refusing)])

    assert [asked(app).text for app in apps] == ["told /asked"] * 2
    assert [asked(app, **{"x-refused": "1"}).status_code for app in apps] == [403] * 2


def _plain(request: Request) -> str:
    return "plain"


async def _nested(word: Annotated[str, Depends(told)]) -> str:
    return word


async def _query(number: int) -> int:
    return number


@pytest.mark.parametrize("need", [_plain, _nested, _query])
def test_a_dependency_that_only_the_router_can_give(need: Callable[..., Any]) -> None:
    """It is found out when the app is made, not missed when it is called."""

    async def endpoint(request: Request, given: Annotated[Any, Depends(need)]) -> Response:
        return PlainTextResponse(str(given))

    with pytest.raises(TypeError, match="/asked"):
        both(endpoint)
