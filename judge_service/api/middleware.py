"""Around every request: its id, one log line, and a readable 500 (pure ASGI)."""

from __future__ import annotations

import logging
import re
import secrets
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.problems import Problem

log = logging.getLogger("judge_service.access")
_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")


class RequestContext:
    """Accepts or makes ``X-Request-ID``, returns it, and logs method, path, status and time."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI entry."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        status = 0
        logged = False
        started = time.monotonic()

        def log_once() -> None:
            nonlocal logged
            if not logged:
                logged = True
                _log(scope, status, (time.monotonic() - started) * 1000, request_id)

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message["headers"],
                    (b"x-request-id", request_id.encode("ascii")),
                ]
            elif not message.get("more_body", False):
                # Before the caller has the answer, so that lines stand in the order of answers.
                log_once()
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except Exception:
            log.exception("request %s ended in an unexpected error", request_id)
            if status == 0:
                problem = Problem(500, "internal", f"an internal error; request {request_id}")
                await FiniteJSONResponse(problem.body(), 500)(scope, receive, send_with_id)
        finally:
            log_once()


def _log(scope: Scope, status: int, milliseconds: float, request_id: str) -> None:
    # The path without its query, which may carry a token, and in escaped form: it may hold line
    # breaks and terminal controls.
    log.info(
        "%s %s %s %.0f ms %s",
        scope["method"],
        scope["path"].encode("unicode_escape").decode()[:200],
        status or "hung up",
        milliseconds,
        request_id,
    )


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            text = value.decode("latin-1")
            if _ID.fullmatch(text):
                return str(text)
    return secrets.token_hex(16)
