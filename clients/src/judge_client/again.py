"""Asking again for an outcome that failed: where that may help, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from judge_client.pace import Deadline, wait_before
from judge_client.results import Failed

R = TypeVar("R")


def may_help(result: object) -> bool:
    """Whether asking once more can help: an outcome that failed at the service and says so."""
    return isinstance(result, Failed) and result.error.retryable and result.error.at == "service"


async def waited(retry: int, results: Sequence[object], deadline: Deadline) -> bool:
    """Wait before asking again, as long as the failures say; False when the time is too short."""
    told = [r.error.retry_after_s for r in results if isinstance(r, Failed)]
    wait = wait_before(retry, max((t for t in told if t is not None), default=None))
    if wait >= deadline.left():
        return False
    await asyncio.sleep(wait)
    return True


def last_word(before: R, after: R) -> R:
    """The result of having asked again: the new one, unless it says no more than that there was no
    time for another, where the one before says why there is no verdict.
    """
    is_late = (
        isinstance(after, Failed)
        and after.error.at == "client"
        and after.error.code == "deadline_exceeded"
    )
    return before if is_late else after
