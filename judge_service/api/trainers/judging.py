"""Judging the responses of one trainer's request within its budget, and answering it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from starlette.responses import Response

from judge_service.access.quota import Admission
from judge_service.api.disconnect import while_connected
from judge_service.api.trainers.call import Call, Item
from judge_service.api.trainers.grouping import join_of, members_of
from judge_service.api.trainers.hold import MAX_UNUSABLE, admitted_within, held
from judge_service.api.trainers.scored import Scored, of_assessment, too_long, unjudged
from judge_service.errors import DeadlineExceeded, QuotaExhausted, RequestError
from judge_service.request import AssessRequest

AT_ONCE = 256
"""How many responses of one request are judged at a time; members of groups wait for each other."""
MIN_LEFT_S = 0.001
Judge = Callable[[Item, Admission], Awaitable[Scored]]


async def answered(
    call: Call, items: Sequence[Item], answer: Callable[[Sequence[Scored]], Response]
) -> Response:
    """What ``answer`` makes of what the items come to, in their order.

    Raises Problem, RequestError for what can never be right, Disconnected.
    """
    for number, item in enumerate(items):
        _check(call, item, number if len(items) > 1 else None)
    if call.grouped:
        async with members_of(call) as members:
            found = await _judged(call, items, members.judge)
            return members.delivered(answer(found), found)
    places = asyncio.Semaphore(AT_ONCE)

    async def alone(item: Item, admission: Admission) -> Scored:
        async with places:
            return await _alone(call, item, admission)

    return answer(await _judged(call, items, alone))


def _check(call: Call, item: Item, number: int | None) -> None:
    """Find the caller's mistakes before anybody is asked."""
    try:
        if call.grouped:
            wanted = join_of(call, item)
            call.service.engine.check(wanted.ranking((item.candidate,) * wanted.size))
        else:
            call.service.engine.check(_assess(call, item, call.deadline.left()))
    except RequestError as error:
        if number is None:
            raise
        raise type(error)(f"item {number}: {error}", field=error.field) from None


async def _judged(call: Call, items: Sequence[Item], judge: Judge) -> list[Scored]:
    async def work() -> list[Scored]:
        admitting = admitted_within(
            call.request, call.caller, len(items), call.deadline, apart=call.grouped
        )
        async with admitting as admission:
            return await _all([judge(item, admission) for item in items])

    return await while_connected(call.request, work())


async def _all(work: Sequence[Awaitable[Scored]]) -> list[Scored]:
    """All results; when one raises or this is cancelled, nothing goes on."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _alone(call: Call, item: Item, admission: Admission) -> Scored:
    if item.long is not None:
        return too_long(call.rubric, item.long)

    async def judge(left: float) -> Scored:
        try:
            part = await admission.begin(left)
        except TimeoutError:
            late = "the time was up while another request was to show what one costs"
            return unjudged(call.rubric, DeadlineExceeded(late))
        if part is None:
            return unjudged(call.rubric, QuotaExhausted("the key's daily cost is used up"))
        left = max(call.deadline.left(), MIN_LEFT_S)
        outcome = await call.service.engine.assess(_assess(call, item, left))
        await admission.end(part, outcome)
        return of_assessment(outcome, call.rubric)

    return await held(call.deadline, judge, max_unusable=MAX_UNUSABLE)


def _assess(call: Call, item: Item, timeout_s: float) -> AssessRequest:
    return AssessRequest(
        rubric=call.rubric.id, prompt=item.prompt, candidate=item.candidate,
        reference=item.reference, timeout_s=timeout_s, tenant=call.caller.tenant,
        purpose=call.options.purpose,
    )  # fmt: skip
