"""A running service, asked over HTTP."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, ValidationError

from judge_service.cli.exits import UserError
from judge_service.cli.remote_answers import OUTCOMES, RubricContentShape, fits
from judge_service.cli.requests import Asked
from judge_service.cli.target import KEY_VARIABLE, Later, Refused

SPARE_S = 15.0
"""How much longer than the request's own time a service is waited for."""
_ABOUT_THE_REQUEST = frozenset({404, 413, 422})
_BUSY = frozenset({429, 503})
Model = TypeVar("Model", bound=BaseModel)


class Remote:
    """The service at ``url``."""

    def __init__(self, url: str, http: httpx.AsyncClient) -> None:
        self.url = url
        self._http = http

    async def ask(self, request: Asked) -> dict[str, Any]:
        """Let the service judge."""
        path, timeout = f"/v1/{request.kind}", request.body.timeout_s + SPARE_S
        data = await self._json("POST", path, json=request.data, timeout=timeout)
        if "status" not in data:
            raise self._stranger("an answer without status")
        return self._fitting(path, data, OUTCOMES[request.kind])

    async def rubric(self, rubric_id: str) -> Mapping[str, Any] | None:
        """What the service shows of the rubric."""
        try:
            return await self.get(f"/v1/rubrics/{rubric_id}", RubricContentShape)
        except UserError:
            return None

    async def get(self, path: str, shape: type[BaseModel]) -> dict[str, Any]:
        """The JSON object at ``path``, which has what ``shape`` says, and perhaps more.

        Raises UserError.
        """
        return self._fitting(path, await self._json("GET", path, timeout=SPARE_S), shape)

    async def get_as(self, path: str, model: type[Model]) -> Model:
        """The JSON object at ``path`` as just this model. Raises UserError."""
        data = await self._json("GET", path, timeout=SPARE_S)
        try:
            return model.model_validate(data)
        except ValidationError:
            raise self._other_version(path) from None

    async def post(
        self, path: str, body: Mapping[str, Any], shape: type[BaseModel]
    ) -> dict[str, Any]:
        """The JSON answer of a POST to ``path``. Raises UserError."""
        data = await self._json("POST", path, json=body, timeout=SPARE_S)
        return self._fitting(path, data, shape)

    def _fitting(self, path: str, data: dict[str, Any], shape: type[BaseModel]) -> dict[str, Any]:
        if not fits(data, shape):
            raise self._other_version(path)
        return data

    def _other_version(self, path: str) -> UserError:
        return UserError(f"{self.url}: its {path} is that of another version")

    async def _json(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        try:
            answer = await self._http.request(method, path, **more)
        except httpx.ConnectError as error:
            raise Later(
                f"{self.url}: cannot connect ({_why(error)}); is it running? "
                "`judge-service serve` starts a service"
            ) from None
        except httpx.TimeoutException:
            raise Later(f"{self.url}: no answer in time") from None
        except httpx.HTTPError as error:
            raise Later(f"{self.url}: {_why(error)}") from None
        try:
            data = answer.json()
        except ValueError:
            data = None
        if not isinstance(data, dict):
            kind = answer.headers.get("content-type", "no content type")
            raise self._stranger(f"HTTP {answer.status_code}, {kind}")
        if answer.status_code not in (httpx.codes.OK, httpx.codes.ACCEPTED):
            raise self._problem(answer, data)
        return data

    def _problem(self, answer: httpx.Response, data: dict[str, Any]) -> UserError:
        error = data.get("error")
        said = error.get("message") if isinstance(error, dict) else None
        message = f"{said or 'no explanation'} (HTTP {answer.status_code})"
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            return UserError(f"{self.url}: {message}; the key is read from {KEY_VARIABLE}")
        if answer.status_code in _BUSY:
            return Later(f"{self.url}: {message}", _seconds(answer.headers.get("retry-after")))
        if answer.status_code in _ABOUT_THE_REQUEST and isinstance(error, dict):
            return Refused(message)
        return UserError(f"{self.url}: {message}")

    def _stranger(self, what: str) -> UserError:
        return UserError(f"{self.url}: this is not a judge_service ({what[:120]})")


@asynccontextmanager
async def remote(url: str) -> AsyncIterator[Remote]:
    """A connection to the service at ``url``. Raises UserError when that cannot be one."""
    url = url.strip().rstrip("/")
    try:
        parsed, port = httpx.URL(url), urlsplit(url).port
    except (httpx.InvalidURL, ValueError) as error:
        raise UserError(f"--url: {error}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host or port == 0:
        raise UserError(f"--url: {url!r} is not an http or https URL")
    async with httpx.AsyncClient(
        base_url=url,
        headers=_headers(),
        trust_env=not _is_local(parsed.host),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
    ) as http:
        yield Remote(url, http)


def _headers() -> dict[str, str]:
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        return {}
    if not key.isascii() or not key.isprintable():
        raise UserError(f"{KEY_VARIABLE}: the key has characters that no key has")
    return {"Authorization": f"Bearer {key}"}


def _is_local(host: str) -> bool:
    """Whether ``host`` is this machine, which no proxy leads to."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _why(error: Exception) -> str:
    return str(error)[:200] or type(error).__name__


def _seconds(header: str | None) -> float:
    try:
        return min(60.0, max(0.1, float(header or 1.0)))
    except ValueError:
        return 1.0
