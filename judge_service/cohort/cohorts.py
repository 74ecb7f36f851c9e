"""Joining a cohort: waiting for the others, having the group judged, and one's own reward.

Every process that has members waiting watches the board; whoever holds the lead closes the
generation, has the group ranked and posts the outcome. A leader that dies is followed by another.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from judge_service.cohort.board import REMEMBERED, Board, Generation
from judge_service.cohort.codec import (
    candidate_hash,
    candidate_json,
    candidate_of,
    common_hash,
)
from judge_service.cohort.insist import StoreLost
from judge_service.cohort.request import KEPT_S, JoinRequest
from judge_service.cohort.seats import Seats
from judge_service.engine import Engine
from judge_service.errors import (
    CohortIncomplete,
    DeadlineExceeded,
    InternalError,
    InvalidRequest,
    JudgingError,
)
from judge_service.outcome import AssessOutcome, Ranked
from judge_service.storage.memory_store import MemoryStore
from judge_service.storage.secret import ServiceSecret
from judge_service.storage.signed import Signer
from judge_service.storage.store import Store
from judge_service.usage import Usage
from judge_service.wire import error_wire, rank_wire

FAILED_KEPT_S = 5.0
"""How long a failure is kept: long enough for those who wait, short enough to try again."""
STRAGGLER_S = 60.0
"""How long after its deadline a group turns stragglers away; later they begin a new one."""
LEAD_S = 3.0
RENEW_S = 1.0
FIRST_LOOK_S, LAST_LOOK_S = 0.01, 0.1
GRACE_S = 0.2
MAX_ALONE = 1_000
TRIES = 3 * REMEMBERED


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """What became of a member's group. ``posted`` is as on the board: ``group`` the wire form of
    its ranking or None, ``members`` their names in its order, ``error``. ``spent`` is what this
    member's request has cost: of all that a group costs, one request bears each part.
    """

    generation: int
    posted: Mapping[str, Any]
    spent: Usage = field(default_factory=Usage)


@dataclass(slots=True)
class _Watch:
    """One generation that members of this process wait for."""

    waiting: int = 0
    paid: bool = False
    task: asyncio.Task[Joined] | None = None
    nudge: asyncio.Event = field(default_factory=asyncio.Event)


class Cohorts:
    """The cohorts of one service. ``wall`` is the clock that replicas share, in seconds."""

    def __init__(
        self,
        engine: Engine,
        store: Store,
        secret: ServiceSecret,
        *,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._engine = engine
        self._store = store
        self._here = MemoryStore()
        self.seats = Seats(store)
        self._signer = Signer(secret, "cohort")
        self._wall = wall
        self._watches: dict[tuple[str, int, bool], _Watch] = {}
        self._alone_until: dict[str, float] = {}

    async def join(self, request: JoinRequest) -> Joined | AssessOutcome:
        """Wait until the group is judged. A group of one is assessed.

        Raises RequestError for what can never be right. The wait ends ``timeout_s`` after the
        group's deadline at the latest.
        """
        if request.size == 1:
            return await self._engine.assess(request.alone())
        self._check(request)
        board = self._board(request, self._store)
        if self._wall() >= self._alone_until.get(board.name, 0.0):
            try:
                return await self._join(request, board)
            except StoreLost:
                self._stay_here(board.name, request.deadline_s)
        # Without the store only members of this process can find each other: those who wait here
        # already, and those who come until the group's time is over.
        try:
            return await self._join(request, self._board(request, self._here))
        except StoreLost:
            lost = InternalError("no place was found for the member")
            return Joined(generation=1, posted=_without_group(lost, request.size))

    def _stay_here(self, name: str, seconds: float) -> None:
        now = self._wall()
        if len(self._alone_until) >= MAX_ALONE:
            self._alone_until = {k: until for k, until in self._alone_until.items() if until > now}
        self._alone_until[name] = now + seconds

    def _check(self, request: JoinRequest) -> None:
        """Find the caller's mistakes now, not when the group is complete."""
        if request.at_least is not None and request.at_least > request.size:
            raise InvalidRequest(
                f"at_least {request.at_least} is more than the group's size", field="partial"
            )
        self._engine.check(request.ranking((request.candidate,) * request.size))

    def _board(self, request: JoinRequest, store: Store) -> Board:
        kept = KEPT_S + request.deadline_s + request.timeout_s
        scope = (request.tenant, request.run, request.group)
        return Board(store, self._signer, *scope, ttl_s=kept)

    async def _join(self, request: JoinRequest, board: Board) -> Joined:
        common, own = common_hash(request), candidate_hash(request.candidate)
        for _ in range(TRIES):
            newest = await board.current()
            oldest = max(1, newest - REMEMBERED + 1)
            known = await asyncio.gather(
                *(board.look(number, request.member) for number in range(oldest, newest + 1))
            )
            same = [one for one in known if one.common == common]
            mine = next((one for one in same if one.mine == own and not self._over(one)), None)
            if mine is not None:
                return await self._wait(request, board, mine)
            place = self._place(request, known, same)
            if isinstance(place, Joined):
                return place
            began = next((one for one in same if one.number == place), None)
            if began is None:
                await board.begin(place, common, self._wall() + request.deadline_s)
                began = await board.look(place, request.member)
            if began.common != common:
                continue
            data = candidate_json(request.candidate)
            arrival = await board.arrive(place, request.member, request.size, own, data)
            if arrival == "there":
                return await self._wait(request, board, began)
        raise StoreLost

    def _place(
        self, request: JoinRequest, known: list[Generation], same: list[Generation]
    ) -> int | Joined:
        """The oldest generation with room for the member, or a new one; a straggler has none."""
        now = self._wall()
        for one in same:
            still_open = one.posted is None and now < one.closes_at
            if still_open and one.mine is None and one.arrived < request.size:
                return one.number
        for one in same:
            missed = one.mine is None and one.arrived < request.size
            if missed and one.closes_at <= now < one.closes_at + STRAGGLER_S:
                # It came too late for a group that did not wait for it.
                return Joined(generation=one.number, posted=_incomplete(one.arrived, request.size))
        last = known[-1]
        return last.number if last.common is None else last.number + 1

    def _over(self, one: Generation) -> bool:
        """Whether a generation has failed for good, or was judged long ago: who comes again begins
        a new one.
        """
        if one.posted is None:
            return False
        if one.posted["group"] is None:
            return self._wall() > one.closes_at + FAILED_KEPT_S
        kept_until: float | None = one.posted.get("kept_until")
        return kept_until is not None and self._wall() > kept_until

    async def _wait(self, request: JoinRequest, board: Board, found: Generation) -> Joined:
        key = (board.name, found.number, board.store is self._here)
        watch = self._watches.setdefault(key, _Watch())
        watch.waiting += 1
        watch.nudge.set()
        if watch.task is None:
            watch.task = asyncio.create_task(self._watch(request, board, found, watch))
        left = max(0.0, found.closes_at - self._wall()) + request.timeout_s + GRACE_S
        try:
            async with asyncio.timeout(left):
                joined = await asyncio.shield(watch.task)
        except TimeoutError:
            late = DeadlineExceeded("the group was not judged in time")
            return Joined(generation=found.number, posted=_without_group(late, request.size))
        finally:
            watch.waiting -= 1
            if watch.waiting == 0:
                self._watches.pop(key, None)
                watch.task.cancel()
        if watch.paid:
            joined = replace(joined, spent=Usage())
        watch.paid = True
        members = joined.posted["members"]
        if members is not None and request.member not in members:
            # It was there a moment after the group was closed.
            posted = _incomplete(len(members), request.size)
            return Joined(generation=found.number, posted=posted, spent=joined.spent)
        return joined

    async def _watch(
        self, request: JoinRequest, board: Board, found: Generation, watch: _Watch
    ) -> Joined:
        """Until there is an outcome: look for it, or bring it about when the time has come."""
        owner = secrets.token_hex(8)
        pause = FIRST_LOOK_S
        while True:
            watch.nudge.clear()
            try:
                posted = await board.posted(found.number)
                if posted is not None:
                    return Joined(generation=found.number, posted=posted)
                complete = await board.arrived(found.number) >= request.size
            except StoreLost:
                if self._wall() < found.closes_at:
                    raise
                lost = _without_group(
                    CohortIncomplete("who arrived is not known: the store is lost"), request.size
                )
                return Joined(generation=found.number, posted=lost)
            if (complete or self._wall() >= found.closes_at) and await board.lead(
                found.number, owner, LEAD_S
            ):
                return await self._lead(request, board, found.number, owner)
            try:
                async with asyncio.timeout(pause):
                    await watch.nudge.wait()
            except TimeoutError:
                pause = min(LAST_LOOK_S, pause * 1.5)

    async def _lead(self, request: JoinRequest, board: Board, number: int, owner: str) -> Joined:
        renewing = asyncio.create_task(self._renew(board, number, owner))
        try:
            posted = await board.posted(number)
            if posted is not None:
                return Joined(generation=number, posted=posted)
            members = await board.members(number)
            least = request.size if request.at_least is None else max(2, request.at_least)
            if len(members) < least:
                posted = _incomplete(len(members), request.size)
                await board.post(number, posted, KEPT_S)
                return Joined(generation=number, posted=posted)
            names = sorted(members)
            ranking = request.ranking(tuple(candidate_of(members[name]) for name in names))
            outcome = await self._engine.rank(ranking)
            ranked = isinstance(outcome, Ranked)
            posted = {"members": names, "size": request.size, "group": rank_wire(outcome),
                      "error": None if isinstance(outcome, Ranked)
                      else error_wire(outcome.error)}  # fmt: skip
            if ranked:
                posted["kept_until"] = self._wall() + request.kept_s
            # Those here have it whether or not it can be posted; the verdicts are kept anyway.
            with suppress(StoreLost):
                await board.post(number, posted, KEPT_S if ranked else FAILED_KEPT_S)
            return Joined(generation=number, posted=posted, spent=outcome.usage)
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            await board.leave(number, owner)

    async def _renew(self, board: Board, number: int, owner: str) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            await board.lead(number, owner, LEAD_S)


def _incomplete(arrived: int, size: int) -> dict[str, Any]:
    return _without_group(CohortIncomplete(f"{arrived} of {size} members arrived in time"), size)


def _without_group(error: JudgingError, size: int) -> dict[str, Any]:
    return {"members": None, "size": size, "group": None, "error": error_wire(error)}
