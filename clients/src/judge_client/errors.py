"""Every exception of the client.

    JudgeClientError
    ├── ConfigError          a setting that cannot be right, found at set-up
    ├── RequestRefused       the caller's mistake: the same request will be refused again
    │   ├── InvalidRequest   refused by its content, here or by the service (409, 413, 415, 422)
    │   ├── AccessDenied     no valid key, or one that may not do this (401, 403)
    │   └── NotFound         no such rubric (404)
    └── JudgingFailed        a failed outcome, raised only by ``or_raise``

Trouble on the way to a verdict (an outage, a timeout, a busy service, a proxy's page) is no
exception but a failed outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge_client.results import Failure


class JudgeClientError(Exception):
    """Base class of everything raised on purpose."""


class ConfigError(JudgeClientError):
    """A setting cannot be right; the message names it."""


class RequestRefused(JudgeClientError):
    """The caller's mistake. ``code`` is the machine-readable word, ``field`` where the mistake is,
    ``status`` the HTTP status (None when the request was never sent).
    """

    def __init__(
        self,
        message: str,
        code: str = "invalid_request",
        field: str | None = None,
        status: int | None = None,
    ) -> None:
        # All of them in ``args``, so that the exception survives pickling.
        super().__init__(message, code, field, status)
        self.code = code
        self.field = field
        self.status = status

    def __str__(self) -> str:
        return str(self.args[0])


class InvalidRequest(RequestRefused):
    """The content of the request cannot be right."""


class AccessDenied(RequestRefused):
    """No valid API key, or one that may not do this."""


class NotFound(RequestRefused):
    """The service has no such rubric, or no such path."""


class JudgingFailed(JudgeClientError):
    """There is no verdict; ``error`` says why."""

    def __init__(self, error: Failure) -> None:
        super().__init__(error)
        self.error = error

    def __str__(self) -> str:
        return f"{self.error.code}: {self.error.message}"
