"""Holding a trainer's request until there is an answer, or its time is spent.

Trainers try again a few times within seconds and then give up, or train on what is no reward. So
the waiting is done here: what may succeed later is tried again as long as the client waits.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.requests import Request

from judge_service.access.key_ring import Caller
from judge_service.access.quota import Admission
from judge_service.api.admission import admitted
from judge_service.api.problems import Problem
from judge_service.api.trainers.scored import Failure, Scored
from judge_service.deadline import Deadline

FIRST_PAUSE_S, LAST_PAUSE_S = 1.0, 5.0
MIN_TRY_S = 0.25
"""Less time than this is not worth a try."""
MAX_UNUSABLE = 8
"""After so many tries in which a judge answered without a verdict, it is taken at its word."""
UNUSABLE = frozenset(
    {"empty_reply", "truncated_reply", "unparsable", "off_scale", "wrong_model", "quorum_not_met"}
)
LAST_TRY_S, LAST_TRY_SHARE = 10.0, 0.25
"""However long a judge wants to be left alone, so much of what is left is kept for a last try: this
many seconds, or this share of it if that is less.
"""


async def held(
    deadline: Deadline,
    judge: Callable[[float], Awaitable[Scored]],
    *,
    max_unusable: int | None = None,
) -> Scored:
    """What ``judge`` comes to within the deadline; it is given the seconds that are left.

    A failure that may pass is tried again, after a pause that grows; any other one ends it, and so
    do ``max_unusable`` replies without a verdict, which cost as much as good ones. One failure of a
    group may be told more than once.
    """
    pause = FIRST_PAUSE_S
    unusable = 0
    while True:
        found = await judge(max(deadline.left(), 0.001))
        if found.failure is None or not found.failure.retryable:
            return found
        if found.failure.code in UNUSABLE:
            unusable = found.failure.tries or unusable + 1
        if max_unusable is not None and unusable >= max_unusable:
            return found
        wait = _wait_s(found.failure, pause, deadline.left())
        if deadline.left() - wait < MIN_TRY_S:
            return found
        await asyncio.sleep(wait)
        pause = min(LAST_PAUSE_S, 2 * pause)


def _wait_s(failure: Failure, pause: float, left: float) -> float:
    # Requests that failed together do not come back together.
    wait = pause * secrets.SystemRandom().uniform(0.5, 1.0)
    if failure.retry_after_s is None:
        return wait
    return max(wait, min(failure.retry_after_s, left - min(LAST_TRY_S, LAST_TRY_SHARE * left)))


@asynccontextmanager
async def admitted_within(
    request: Request, caller: Caller, items: int, deadline: Deadline, *, apart: bool = False
) -> AsyncIterator[Admission]:
    """Like ``admitted``, but a quota that has room again within the deadline is waited for.

    Raises Problem 429.
    """
    async with AsyncExitStack() as stack:
        admission: Admission | None = None
        while admission is None:
            try:
                admitting = admitted(request, caller, items, apart=apart)
                admission = await stack.enter_async_context(admitting)
            except Problem as refused:
                wait = float((refused.headers or {}).get("Retry-After", "inf"))
                if refused.status != 429 or wait > deadline.left() - MIN_TRY_S:
                    raise
                await asyncio.sleep(wait)
        yield admission
