"""The failure that verifiers records on a trace."""

from __future__ import annotations

from judge_client.results import Failure

from judge_client_verifiers.framework import RolloutError

_STATUS = {"timeout": 504, "deadline_exceeded": 504, "rate_limited": 429, "protocol": 502}
_PASSING = 503
_FINAL = 422


class JudgeUnavailableError(RolloutError):
    """There is no verdict on a rollout. The trace is not ok, so that no trainer uses its reward.

    ``status_code`` is for retry rules: 502, 503, 504 and 429 may pass, 422 will not. ``code`` is
    the service's word for what went wrong.
    """

    def __init__(self, message: str = "", *, status_code: int = _PASSING, code: str = "") -> None:
        super().__init__(message)
        self.status_code = status_code
        self.code = code

    @classmethod
    def of(cls, failure: Failure) -> JudgeUnavailableError:
        """The error that a failed outcome is."""
        status = _STATUS.get(failure.code, _PASSING) if failure.retryable else _FINAL
        return cls(f"{failure.code}: {failure.message}", status_code=status, code=failure.code)
