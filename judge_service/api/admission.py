"""Whether a request is judged now: quotas before it (429), a service with too much to do (503)."""

from __future__ import annotations

import asyncio
import dataclasses
import math
from typing import TypeVar

from starlette.requests import Request

from judge_service.access.key_ring import Caller
from judge_service.access.quota import Admission, QuotaExceeded, Quotas
from judge_service.api.disconnect import Disconnected
from judge_service.api.problems import Problem
from judge_service.errors import JudgingError, Overloaded
from judge_service.outcome import Common
from judge_service.request import Request as Wanted

MIN_LEFT_S = 0.001
W = TypeVar("W", bound=Wanted)


def admitted(
    request: Request,
    caller: Caller,
    items: int = 1,
    *,
    wait_s: float | None = None,
    apart: bool = False,
) -> Admitting:
    """Lets a request of ``items`` items in, within the caller's quotas; with ``wait_s``, after at
    most so many seconds in which another one shows what requests cost. ``apart``: it costs nothing
    before ``Admission.begin``, for others may pay for it.

    To be entered with ``async with``, which raises Problem 429. Tell what comes of it with
    ``Admission.spent``, once for each outcome, failed ones too.
    """
    return Admitting(request.scope["state"]["quotas"], caller, items, wait_s, apart)


class Admitting:
    """Lets one request in when it is entered, and settles what it cost when it is left."""

    __slots__ = ("_admission", "_apart", "_caller", "_items", "_quotas", "_wait_s")

    def __init__(
        self, quotas: Quotas, caller: Caller, items: int, wait_s: float | None, apart: bool
    ) -> None:
        self._quotas = quotas
        self._caller = caller
        self._items = items
        self._wait_s = wait_s
        self._apart = apart
        self._admission: Admission | None = None

    async def __aenter__(self) -> Admission:
        """Wait to be let in."""
        try:
            admission = await self._quotas.admit(
                self._caller, self._items, wait_s=self._wait_s, apart=self._apart
            )
        except QuotaExceeded as refused:
            raise later(429, "quota_exceeded", str(refused), refused.retry_after_s) from None
        self._admission = admission
        return admission

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        """What is not known of a request that was given up is not settled as nothing."""
        if self._admission is not None:
            complete = not isinstance(error, (Disconnected, asyncio.CancelledError))
            await self._quotas.settle(self._admission, complete=complete)


def in_time_left(wanted: W, admission: Admission) -> W:
    """The same request with the time it has left after it waited to be let in."""
    if admission.waited_s == 0.0:
        return wanted
    left_s = max(MIN_LEFT_S, wanted.timeout_s - admission.waited_s)
    return dataclasses.replace(wanted, timeout_s=left_s)


def raise_if_shed(outcome: Common) -> None:
    """Raise Problem 503 for an outcome that was turned away before any judge was asked."""
    error: JudgingError | None = getattr(outcome, "error", None)
    if isinstance(error, Overloaded) and outcome.usage.upstream_requests == 0:
        raise later(503, "overloaded", str(error), error.retry_after_s)


def later(status: int, code: str, message: str, seconds: float | None) -> Problem:
    """A problem that is over after ``seconds``, told in whole ones, at least one."""
    wait = max(1, math.ceil(seconds or 0.0))
    return Problem(
        status, code, f"{message}; try again in {wait:,} s", headers={"Retry-After": str(wait)}
    )
