"""Responses that are judged with their groups, and which of them have had their answer.

A member whose answer was written to a connection that stood is done: the same text is a new member
from then on. One whose connection was gone by then, or that is told to try again, may come back.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from judge_service.access.quota import Admission
from judge_service.api.trainers.call import Call, Item, hash_of
from judge_service.api.trainers.hold import MAX_UNUSABLE, held
from judge_service.api.trainers.scored import Scored, of_member
from judge_service.cohort.cohorts import Held
from judge_service.cohort.request import JoinRequest

ROUNDS = 4
"""So many rounds of the event loop it takes to notice that a client has hung up before."""


@asynccontextmanager
async def members_of(call: Call) -> AsyncIterator[Members]:
    """The members that one request brings. When the context ends they leave, unless an answer is
    about to be ``delivered``; then they leave after that.
    """
    async with AsyncExitStack() as stack:
        held_here = await stack.enter_async_context(call.service.cohorts.held())
        yield Members(call, held_here, stack)


class Members:
    """Those who have come. ``stack`` is what lets them leave."""

    def __init__(self, call: Call, held_here: Held, stack: AsyncExitStack) -> None:
        self._call = call
        self._held = held_here
        self._stack = stack

    async def judge(self, item: Item, admission: Admission) -> Scored:
        """What one of them comes to."""
        visit = self._held.visit(join_of(self._call, item), admission, self._call.deadline)

        async def judged(_: float) -> Scored:
            found = of_member(await visit.judged(), self._call.rubric)
            return found if item.long is None else _marked_long(found)

        return await held(self._call.deadline, judged, max_unusable=MAX_UNUSABLE)

    def delivered(self, response: Response, found: Sequence[Scored]) -> Response:
        """The same response, which takes note of whether there was somebody to tell."""
        final = self._call.options.drop or all(one.failure is None for one in found)
        return _Delivered(response, self._call, self._held, self._stack.pop_all(), final)


class _Delivered(Response):
    """A response to members. ``final``: whoever reads it does not come back."""

    def __init__(
        self, inner: Response, call: Call, members: Held, stack: AsyncExitStack, final: bool
    ) -> None:
        super().__init__()
        self._inner = inner
        self._call = call
        self._members = members
        self._stack = stack
        self._final = final

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI entry."""
        async with self._stack:
            for _ in range(ROUNDS):
                await asyncio.sleep(0)
            final = self._final and not await self._call.request.is_disconnected()
            if final:
                await self._members.about_to_answer(self._call.deadline.left())
                final = not await self._call.request.is_disconnected()
            await self._inner(scope, receive, send)
            self._members.answered = final


def join_of(call: Call, item: Item) -> JoinRequest:
    """What a response asks of its group."""
    budget = call.options.budget_s
    return JoinRequest(
        rubric=call.rubric.id, prompt=item.prompt, candidate=item.candidate,
        reference=item.reference, tenant=call.caller.tenant, run=call.caller.name,
        group=_group(call, item), size=call.options.group, member=item.member or item.text_hash,
        deadline_s=budget, timeout_s=budget, held=True, alike=item.member is None,
        purpose=call.options.purpose,
    )  # fmt: skip


def _group(call: Call, item: Item) -> str:
    prompt = item.prompt
    shown = prompt if isinstance(prompt, str) else list(prompt)
    # Runs that train different models are not ranked against each other, nor is what is validated
    # against what is trained.
    policy = [sorted(call.options.families), call.options.policy_model]
    if call.options.purpose is not None:
        policy.append(call.options.purpose)
    return f"{call.trainer.name}:{hash_of(shown, item.reference, item.group, *policy)}"


def _marked_long(found: Scored) -> Scored:
    return replace(found, numbers={**found.numbers, "too_long": float(found.failure is None)})
