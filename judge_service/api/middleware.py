"""Around every request: its id, one log line, metrics, a span, and a readable 500 (pure ASGI)."""

from __future__ import annotations

import logging
import os
import re
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judge_service.api.body_room import BodyRoom
from judge_service.api.disconnect import HUNG_UP
from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.problems import Problem
from judge_service.api.request_note import RequestNote, begin_note
from judge_service.api.telemetry import Telemetry

log = logging.getLogger("judge_service.access")
_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
_PAGES = frozenset({"/docs", "/openapi.json"})
NO_ROUTE, OTHER_METHOD = "unmatched", "other"
MAX_PATH = 200


class RequestContext:
    """Accepts or makes ``X-Request-ID``, returns it, and tells of every request once."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry, room: BodyRoom) -> None:
        self._app = app
        self._telemetry = telemetry
        self._room = room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI entry."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        note = begin_note(_request_id(scope))
        tracing = self._telemetry.tracing
        active = None if tracing is None else tracing.begin(_method(scope), scope["headers"])
        status = 0
        told = False
        started = time.monotonic()

        def tell_once() -> None:
            nonlocal told
            if not told:
                told = True
                self._tell(scope, status, time.monotonic() - started, note)

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message["headers"],
                    (b"x-request-id", note.request_id.encode("ascii")),
                ]
            elif not message.get("more_body", False):
                # Before the caller has the answer, so that lines stand in the order of answers.
                tell_once()
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except Exception:
            log.exception("request %s ended in an unexpected error", note.request_id)
            if status == 0:
                problem = Problem(500, "internal", f"an internal error; request {note.request_id}")
                await FiniteJSONResponse(problem.body(), 500)(scope, receive, send_with_id)
        finally:
            self._room.leave(note)
            tell_once()
            if tracing is not None and active is not None:
                tracing.end(active, _method(scope), _route(scope), status or HUNG_UP)

    def _tell(self, scope: Scope, status: int, seconds: float, note: RequestNote) -> None:
        route = _route(scope)
        self._telemetry.metrics.answered(_method(scope), route, status or HUNG_UP, seconds)
        if not log.isEnabledFor(logging.INFO):
            return
        # The path without its query, which may carry a token (some callers escape the question
        # mark as well), and in escaped form: it may hold line breaks and terminal controls.
        bare = scope["path"].partition("?")[0]
        path = bare.encode("unicode_escape").decode()[:MAX_PATH]
        log.info(
            "%s %s %s %.0f ms",
            scope["method"],
            path,
            status or "hung up",
            seconds * 1000,
            extra={
                "access": {
                    "method": scope["method"],
                    "path": path,
                    "route": route,
                    "status": status or HUNG_UP,
                    "duration_ms": round(seconds * 1000, 1),
                    **note.fields(),
                }
            },
        )


def _method(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method in _METHODS else OTHER_METHOD


def _route(scope: Scope) -> str:
    """The template of the path's route, which is one of a closed set."""
    path = getattr(scope.get("route"), "path", None)
    if isinstance(path, str):
        return path
    return scope["path"] if scope["path"] in _PAGES else NO_ROUTE


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            text = value.decode("latin-1")
            if _ID.fullmatch(text):
                return str(text)
    return os.urandom(16).hex()
