"""One caller's wait for the outcome of its member's group, with the store and without."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Self

from judge_service.cohort.codec import common_hash
from judge_service.cohort.gathering import Gathering
from judge_service.cohort.gatherings import Gatherings
from judge_service.cohort.insist import StoreLost
from judge_service.cohort.joined import Joined, without_group
from judge_service.cohort.member import Member, Purse
from judge_service.cohort.request import JoinRequest
from judge_service.deadline import Deadline
from judge_service.errors import InternalError

TRIES = 64
LEAVES = 10
"""How often it is tried to tell a store that is lost that somebody left."""


class Visit:
    """``caller`` is the visit's own name and ``host`` this process's, for held members, which have
    to leave at their ``deadline``; another's caller goes when its ``patience`` is over. A context
    manager.
    """

    def __init__(
        self,
        gatherings: Gatherings,
        request: JoinRequest,
        purse: Purse,
        deadline: Deadline,
        *,
        caller: str = "",
        host: str = "",
        patience: Deadline | None = None,
    ) -> None:
        self._gatherings = gatherings
        self._request = request
        self._common = common_hash(request)
        self._deadline = deadline
        self._made = partial(Member.of, request, purse, deadline, caller, host, patience)
        self._members: dict[bool, Member] = {}
        self._at: dict[bool, Gathering] = {}
        self._answered: bool | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """The visit begins."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """It is over."""
        self._stack.close()

    async def judged(self) -> Joined:
        """The outcome of the member's group; asked again after a failure, of another try.

        Raises RequestError for what cannot be judged after all.
        """
        for _ in range(TRIES):
            if not self._gatherings.is_alone(self._request, self._common):
                try:
                    return await self._join(alone=False)
                except StoreLost:
                    self._gatherings.stay(self._request, self._common)
            try:
                return await self._join(alone=True)
            except StoreLost:
                if self._deadline.left() <= 0:
                    break
        lost = InternalError("no place was found for the member")
        posted = without_group(lost, self._request.size)
        return Joined(name=self._request.member, generation=1, posted=posted)

    @property
    def named(self) -> bool:
        """Whether its member has a name that another caller may bring."""
        return not self._request.alike

    async def leave(self, *, answered: bool) -> None:
        """A held member's caller goes. ``answered``: it has what it came for; said again where it
        turns out that it has not.
        """
        if self._answered == answered:
            return
        self._answered = answered
        # What this process knows by itself need not wait for a store that is lost.
        await asyncio.gather(*(self._leave(alone, answered=answered) for alone in self._at))

    async def _leave(self, alone: bool, *, answered: bool) -> None:
        gathering, member = self._at[alone], self._members[alone]
        for number in range(LEAVES):
            try:
                await gathering.leave(member, answered=answered, again=number > 0)
            except StoreLost:
                continue
            break

    async def _join(self, *, alone: bool) -> Joined:
        gathering = self._at.get(alone)
        if gathering is None or gathering.lost:
            found = self._gatherings.of(self._request, self._common, alone=alone)
            gathering = self._at[alone] = self._stack.enter_context(found)
        if alone not in self._members:
            self._members[alone] = self._made()
        return await gathering.join(self._members[alone])
