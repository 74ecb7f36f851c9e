"""Judging the responses of one trainer's request: alone or with their groups, within its budget."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from starlette.requests import Request

from judge_service.access.key_ring import Caller
from judge_service.access.quota import Admission
from judge_service.api.admission import later
from judge_service.api.body import LONG_BODY_BYTES, decode_json, read_bytes
from judge_service.api.disconnect import while_connected
from judge_service.api.judging import timeout_of
from judge_service.api.problems import Problem
from judge_service.api.trainers.hold import MAX_UNUSABLE, admitted_within, held
from judge_service.api.trainers.query import Options, Trainer, options_of
from judge_service.api.trainers.scored import (
    Failure,
    Scored,
    of_assessment,
    of_member,
    too_late,
    too_long,
)
from judge_service.cohort.cohorts import Joined
from judge_service.cohort.request import JoinRequest
from judge_service.deadline import Deadline
from judge_service.errors import RequestError
from judge_service.request import AssessRequest
from judge_service.rubric import Rubric
from judge_service.service import Service
from judge_service.types import Candidate, Prompt

MAX_BYTES = 64 * 1024 * 1024
MAX_VALUES = 1_000_000
AT_ONCE = 256
"""How many responses of one request are judged at a time; members of groups wait for each other."""
WAIT_SHARE = 0.6
"""The share of the budget that a group's first member waits for the others."""
KEPT_S = 30.0
"""How long a member whose answer was lost on the way may fetch it, in seconds: the same response in
a later step belongs to another group."""
RETRY_AFTER_S = 5.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One response. ``member`` is its name in its group, None where only its text tells it apart;
    ``group`` is what else tells its group from others of the same prompt. ``long`` says that the
    response was too long to be looked at, and how many characters it has; its candidate is empty,
    and a member of its group all the same: the others wait for it.
    """

    prompt: Prompt
    candidate: Candidate
    reference: str | None
    text_hash: str
    group: str = ""
    member: str | None = None
    long: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One trainer's request: what its address says, and whose it is."""

    request: Request
    service: Service
    caller: Caller
    trainer: Trainer
    rubric: Rubric
    options: Options
    deadline: Deadline

    @property
    def grouped(self) -> bool:
        """Whether responses are judged in groups."""
        return self.options.group > 1


def call_of(
    request: Request, service: Service, caller: Caller, trainer: Trainer, rubric: str
) -> Call:
    """The request, its address checked and its clock started. Raises Problem or RequestError."""
    options = options_of(request, trainer)
    found = service.engine.library[rubric]
    if found.kind == "compare" and options.group == 1:
        raise Problem(
            422, "invalid_request", f"rubric {rubric!r} compares answers: say how many belong "
            "together with group=", field="group",
        )  # fmt: skip
    return Call(
        request=request, service=service, caller=caller, trainer=trainer, rubric=found,
        options=options, deadline=Deadline.after(timeout_of(request, options.budget_s)),
    )  # fmt: skip


async def read(call: Call, understand: Callable[[Any], T]) -> T:
    """What ``understand`` makes of the body. Raises Problem."""
    body = await read_bytes(call.request, MAX_BYTES)
    if len(body) <= LONG_BODY_BYTES:
        return understand(decode_json(body, values=MAX_VALUES))
    return await asyncio.to_thread(
        lambda: understand(decode_json(body, values=MAX_VALUES, stepwise=True))
    )


async def judged(call: Call, items: Sequence[Item]) -> list[Scored]:
    """What the items come to, in their order.

    Raises Problem, RequestError for what can never be right, Disconnected.
    """
    for number, item in enumerate(items):
        _check(call, item, number if len(items) > 1 else None)
    places = asyncio.Semaphore(AT_ONCE)

    async def one(item: Item, admission: Admission) -> Scored:
        if call.grouped:
            return await _in_group(call, item, admission)
        async with places:
            return await _alone(call, item, admission)

    async def work() -> list[Scored]:
        admitting = admitted_within(call.request, call.caller, len(items), call.deadline)
        async with admitting as admission:
            return await _all([one(item, admission) for item in items])

    return await while_connected(call.request, work())


def failed(failure: Failure, number: int | None = None) -> Problem:
    """The answer that lets a trainer try again later. ``number`` is the failed item of a list."""
    where = "" if number is None else f"item {number}: "
    return later(503, failure.code, where + failure.message, failure.retry_after_s or RETRY_AFTER_S)


def hash_of(*parts: Any) -> str:
    """SHA-256 (hex) of JSON values."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()


async def _all(work: Sequence[Coroutine[None, None, Scored]]) -> list[Scored]:
    """All results; when one raises or this is cancelled, nothing goes on."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _check(call: Call, item: Item, number: int | None) -> None:
    """Find the caller's mistakes before anybody is asked."""
    try:
        if call.grouped:
            wanted = _join(call, item, "")
            call.service.engine.check(wanted.ranking((item.candidate,) * wanted.size))
        else:
            call.service.engine.check(_assess(call, item, call.deadline.left()))
    except RequestError as error:
        if number is None:
            raise
        raise type(error)(f"item {number}: {error}", field=error.field) from None


async def _alone(call: Call, item: Item, admission: Admission) -> Scored:
    if item.long is not None:
        return too_long(call.rubric, item.long)

    async def judge(left: float) -> Scored:
        outcome = await call.service.engine.assess(_assess(call, item, left))
        admission.spent(outcome)
        return of_assessment(outcome, call.rubric)

    return await held(call.deadline, judge, max_unusable=MAX_UNUSABLE)


async def _in_group(call: Call, item: Item, admission: Admission) -> Scored:
    cohorts = call.service.cohorts

    async with AsyncExitStack() as stack:
        member = item.member
        if member is None:
            # Equal texts of one group are different members, a text that comes again is not.
            seat = cohorts.seats.seat(
                call.caller.tenant, call.caller.name, call.rubric.id, _group(call, item),
                item.text_hash,
            )  # fmt: skip
            member = f"{item.text_hash}#{await stack.enter_async_context(seat)}"
        wanted = _join(call, item, member)

        async def judge(left: float) -> Scored:
            try:
                async with asyncio.timeout(left):
                    joined = await cohorts.join(wanted)
            except TimeoutError:
                return too_late(call.rubric, group=True)
            assert isinstance(joined, Joined)  # noqa: S101 - only a group of one is assessed
            admission.used(joined.spent)
            found = of_member(joined, wanted.member, call.rubric)
            return found if item.long is None else _marked_long(found)

        return await held(call.deadline, judge)


def _marked_long(found: Scored) -> Scored:
    return replace(found, numbers={**found.numbers, "too_long": float(found.failure is None)})


def _assess(call: Call, item: Item, timeout_s: float) -> AssessRequest:
    return AssessRequest(
        rubric=call.rubric.id, prompt=item.prompt, candidate=item.candidate,
        reference=item.reference, timeout_s=timeout_s, tenant=call.caller.tenant,
    )  # fmt: skip


def _join(call: Call, item: Item, member: str) -> JoinRequest:
    budget = call.options.budget_s
    return JoinRequest(
        rubric=call.rubric.id, prompt=item.prompt, candidate=item.candidate,
        reference=item.reference, tenant=call.caller.tenant, run=call.caller.name,
        group=_group(call, item), size=call.options.group, member=member,
        deadline_s=WAIT_SHARE * budget, timeout_s=(1.0 - WAIT_SHARE) * budget, kept_s=KEPT_S,
    )  # fmt: skip


def _group(call: Call, item: Item) -> str:
    prompt = item.prompt
    shown = prompt if isinstance(prompt, str) else list(prompt)
    return f"{call.trainer.name}:{hash_of(shown, item.reference, item.group)}"


def _plain(value: Any) -> Any:
    """Messages and their calls as JSON values."""
    return [getattr(value, name) for name in value.__dataclass_fields__]
