"""Leading one generation: saying who belongs to it, having it judged, posting what came of it.

Of all processes that wait for a generation one leads it; one that dies is followed by another.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from judge_service.cohort.board import Board
from judge_service.cohort.codec import candidate_of
from judge_service.cohort.doubts import Doubts
from judge_service.cohort.entries import Began, Closed, Left
from judge_service.cohort.insist import StoreLost
from judge_service.cohort.joined import Led, incomplete, judged_group, without_group
from judge_service.cohort.member import Member
from judge_service.cohort.presence import ALIVE_S, Presence
from judge_service.cohort.request import JoinRequest
from judge_service.deadline import Deadline
from judge_service.engine import Engine
from judge_service.errors import DeadlineExceeded, InternalError, JudgingError, QuotaExhausted
from judge_service.outcome import Ranked
from judge_service.usage import Usage

FAILED_KEPT_S = 5.0
"""How long a failure is kept: long enough for those who wait, short enough to try again."""
LEAD_S = 3.0
RENEW_S = 1.0
LOOK_S = 0.05
LOOKS = round(ALIVE_S / LOOK_S) + 20
"""Until then a process that is in doubt has given a sign or is dead."""
SETTLING_LOOKS = 20
"""So many looks it may take until one that found no place has given it back."""
MIN_LEFT_S = 0.001


class Leader:
    """Leads the generations of one board. ``wall`` is the clock that replicas share."""

    def __init__(
        self, engine: Engine, board: Board, presence: Presence, wall: Callable[[], float]
    ) -> None:
        self._engine = engine
        self._board = board
        self._presence = presence
        self._wall = wall
        self._lost_at: dict[int, float] = {}

    async def lead(self, number: int, began: Began, member: Member, left_s: float) -> Led | None:
        """Bring about the outcome of a generation in the name of a ``member`` of it, within
        ``left_s``; None where another one does, or where it has to wait on. Raises StoreLost, and
        RequestError for what cannot be judged after all.
        """
        deadline = Deadline.after(left_s)
        async with self._turn(number) as mine:
            if not mine:
                return None
            closed, posted = (await self._board.posted([number]))[number]
            if posted is not None:
                return posted, Usage()
            there: Sequence[Left] = ()
            if closed is None:
                closed, there = await self._close(number, began, member.request)
            if closed is None:
                return None
            if not closed.enough:
                return incomplete(len(closed.entries), member.request.size), Usage()
            if tuple(one.entry for one in there) != closed.entries:
                there = await self._left(number, closed)
            if len(there) < len(closed.entries):
                return self._lost(number, closed, member.request.size)
            return await self._judge(number, closed, there, member, deadline)

    def _lost(self, number: int, closed: Closed, size: int) -> Led | None:
        """What the members brought is no longer in the store. A store that has lost it has lost the
        lease as well: whoever had that may be judging yet, and takes it again in a moment.
        """
        now = time.monotonic()
        if now - self._lost_at.setdefault(number, now) < LEAD_S:
            return None
        lost = InternalError("what the group's members brought is lost: the store has it not")
        return without_group(lost, size, arrived=len(closed.entries)), Usage()

    @asynccontextmanager
    async def _turn(self, number: int) -> AsyncIterator[bool]:
        name, owner = f"{number}:lead", secrets.token_hex(8)
        if not await self._board.lease(name, owner, LEAD_S):
            yield False
            return
        renewing = asyncio.create_task(self._renew(name, owner))
        try:
            yield True
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            await self._board.release(name, owner)

    async def _renew(self, name: str, owner: str) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            await self._board.lease(name, owner, LEAD_S)

    async def _close(
        self, number: int, began: Began, request: JoinRequest
    ) -> tuple[Closed | None, Sequence[Left]]:
        """Say who belongs to the generation, if it is complete or its time is up; also what they
        left.
        """
        doubts = Doubts(self._board, self._presence, number)
        for look in range(LOOKS):
            shorts = await self._board.places(number)
            late = began.closes_at is not None and self._wall() >= began.closes_at
            if len(shorts) < request.size and not late:
                break
            if len(shorts) <= request.size or look >= SETTLING_LOOKS:
                there = await self._there(number, shorts, held=request.held)
                absent = [short for short in shorts if short not in there]
                for short in absent:
                    await self._board.free(number, short)
                if absent and not late:
                    break
                members = sorted([*there.values()][: request.size], key=lambda one: one.entry)
                doubtful = request.held and await doubts.about([one.entry for one in members])
                if not doubtful:
                    return await self._closed(number, members, request), members
            await asyncio.sleep(LOOK_S)
        return None, ()

    async def _there(self, number: int, shorts: Sequence[str], *, held: bool) -> dict[str, Left]:
        """The members that count: of held ones those whose callers are there."""
        found = await self._board.present(number, shorts)
        if not held:
            return found
        signs = await self._presence.signs({one.entry.host for one in found.values()})
        alive = {*signs, self._presence.host}
        return {short: one for short, one in found.items() if one.entry.host in alive}

    async def _closed(self, number: int, members: Sequence[Left], request: JoinRequest) -> Closed:
        entries = tuple(one.entry for one in members)
        enough = len(entries) >= request.least
        return await self._board.close(number, Closed(entries=entries, enough=enough))

    async def _left(self, number: int, closed: Closed) -> list[Left]:
        found = await self._board.candidates(number, closed.entries)
        return [Left(e, c) for e, c in zip(closed.entries, found, strict=True) if c is not None]

    async def _judge(
        self,
        number: int,
        closed: Closed,
        members: Sequence[Left],
        member: Member,
        deadline: Deadline,
    ) -> Led:
        request = member.request
        candidates = tuple(candidate_of(one.candidate) for one in members)
        tries = await self._board.tried(number)
        lost: JudgingError | None = None
        part = None
        try:
            part = await member.purse.begin(deadline.left())
        except TimeoutError:
            lost = DeadlineExceeded(
                "the time was up while another one was to show what a group costs"
            )
        if lost is None and part is None:
            lost = QuotaExhausted("the key's daily cost is used up")
        if lost is not None:
            posted = without_group(lost, request.size, tries, arrived=len(closed.entries))
            await self._board.post(number, closed, posted, FAILED_KEPT_S)
            return posted, Usage()
        ranking = request.ranking(candidates)
        outcome = await self._engine.rank(
            replace(ranking, timeout_s=max(MIN_LEFT_S, deadline.left()))
        )
        await member.purse.end(part, outcome)
        posted = judged_group(closed.entries, request.size, outcome, tries)
        kept_s = None if isinstance(outcome, Ranked) else FAILED_KEPT_S
        # Those here have it whether or not it can be posted; the verdicts are kept anyway.
        with suppress(StoreLost):
            await self._board.post(number, closed, posted, kept_s)
        return posted, outcome.usage
