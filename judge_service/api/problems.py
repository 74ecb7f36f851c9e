"""Errors of HTTP: the caller's mistakes as 4xx bodies, never with the caller's texts in them."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import compile_path

from judge_service.api.disconnect import HUNG_UP, Disconnected
from judge_service.api.json_response import FiniteJSONResponse
from judge_service.candidate.message_schema import FORMS
from judge_service.errors import RequestError, UnknownRubric

log = logging.getLogger("judge_service.api")
MAX_FAULTS = 20
MANY_FAULTS = 1_000
MAX_NAME = 40
"""How much is repeated of a name that the caller made up, in characters."""
MAX_ECHO = 200
"""How much of a caller's own text an answer repeats in all, in characters."""
_PLAINER = {
    "extra_forbidden": "unknown field",
    "model_type": "must be an object",
    "dict_type": "must be an object",
}


class Problem(Exception):
    """An answer other than 200: ``status``, a word for machines, a sentence for people."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str | None = None,
        faults: list[dict[str, str]] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.field = field
        self.faults = faults
        self.headers = headers

    def body(self) -> dict[str, Any]:
        """The JSON body."""
        error: dict[str, Any] = {"code": self.code, "message": str(self)}
        if self.field is not None:
            error["field"] = self.field
        if self.faults is not None:
            error["faults"] = self.faults
        return {"error": error}


def from_validation(error: ValidationError) -> Problem:
    """422 with the path and the fault of each field; values are not echoed."""
    count = error.error_count()
    if count > MANY_FAULTS:
        return Problem(422, "invalid_request", f"the body has {count:,} faults")
    found = error.errors(include_url=False, include_input=False, include_context=False)
    faults: list[dict[str, str]] = []
    echoed = 0
    for fault in found[:MAX_FAULTS]:
        if fault["type"] == "extra_forbidden":
            # The first one's name also stands in the message and in ``field``.
            echoed += len(str(fault["loc"][-1])[:MAX_NAME]) * (1 if faults else 3)
        if echoed > MAX_ECHO:
            break
        message = _PLAINER.get(fault["type"], fault["msg"].removeprefix("Value error, "))
        faults.append({"field": _path(fault["loc"]), "message": message[:200]})
    first = faults[0]
    more = f" (and {count - 1} more)" if count > 1 else ""
    field = first["field"]
    message = f"{field}: {first['message']}{more}" if field else f"the body {first['message']}"
    return Problem(422, "invalid_request", message[:300], field=field or None, faults=faults)


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part not in FORMS:
            path += f".{part[:MAX_NAME]}"
    return path.lstrip(".")[:200]


def problem_of(error: RequestError) -> Problem:
    """The answer to a caller's mistake that the core found."""
    status = 404 if isinstance(error, UnknownRubric) else 422
    return Problem(status, error.code, str(error)[:300], field=error.field)


def problem_answer(problem: Problem) -> Response:
    """The answer that tells of a problem."""
    return FiniteJSONResponse(problem.body(), problem.status, headers=problem.headers)


def install(app: FastAPI) -> None:
    """Register the handlers: all that tells what is raised on the way to an answer."""

    @app.exception_handler(Problem)
    async def problem(_: Request, error: Problem) -> Response:
        return problem_answer(error)

    @app.exception_handler(RequestError)
    async def request_error(_: Request, error: RequestError) -> Response:
        return problem_answer(problem_of(error))

    @app.exception_handler(ClientDisconnect)
    @app.exception_handler(Disconnected)
    async def hung_up(_: Request, __: Exception) -> Response:
        return Response(status_code=HUNG_UP)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "http_error")
        body = Problem(error.status_code, code, str(error.detail)).body()
        headers = dict(error.headers or {})
        # The framework names the methods of the first route of a path only.
        methods = _methods(app, request.scope["path"]) if error.status_code == 405 else ()
        if methods:
            headers["Allow"] = ", ".join(sorted(methods))
        return FiniteJSONResponse(body, error.status_code, headers=headers)


def _methods(app: FastAPI, path: str) -> set[str]:
    """The methods that a path of the OpenAPI page takes."""
    return {
        method.upper()
        for template, operations in app.openapi()["paths"].items()
        if compile_path(template)[0].match(path)
        for method in operations
    }
