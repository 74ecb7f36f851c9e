"""Holding: asking again until the time is up, for trainers that have no word for a failure."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from judge_client.again import last_word
from judge_client.async_client import AsyncJudgeClient
from judge_client.pace import Deadline, wait_before
from judge_client.requests import Request
from judge_client.results import Failed

R = TypeVar("R")


async def hold(
    client: AsyncJudgeClient, requests: Sequence[Request[R]], *, give_up: bool
) -> list[R]:
    """The results in order, those that failed and may be asked again asked again until the
    client's ``timeout_s`` is up. With ``give_up``, one that can never be judged ends it for all.

    Raises RequestRefused.
    """
    deadline = Deadline(client.settings.timeout_s)
    found = await client.bulk(requests)
    retry = 0
    while again := _worth_asking(found, give_up=give_up):
        told = [wait for _, wait in again if wait is not None]
        wait = wait_before(retry, max(told, default=None))
        if wait >= deadline.left():
            break
        await asyncio.sleep(wait)
        retry += 1
        left = deadline.left()
        if left <= 0:
            break
        results = await client.bulk([requests[at] for at, _ in again], timeout_s=left)
        for (at, _), result in zip(again, results, strict=True):
            found[at] = last_word(found[at], result)
    return found


def _worth_asking(results: Sequence[object], *, give_up: bool) -> list[tuple[int, float | None]]:
    """The places of failures that may pass, with the wait that the service told."""
    failed = [(at, r.error) for at, r in enumerate(results) if isinstance(r, Failed)]
    if give_up and not all(error.retryable for _, error in failed):
        return []
    return [(at, error.retry_after_s) for at, error in failed if error.retryable]
