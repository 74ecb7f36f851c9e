"""The task that watches for all members of one board that wait in this process.

It looks for the outcome of every generation that somebody here waits for, brings it about when the
generation is complete or its time is up, and moves held members to where the others are.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace

from judge_service.cohort.board import Board
from judge_service.cohort.codec import candidate_of
from judge_service.cohort.early import Early
from judge_service.cohort.entries import Generation
from judge_service.cohort.insist import StoreLost
from judge_service.cohort.joined import Joined, Posted, incomplete, without_group
from judge_service.cohort.leader import LEAD_S, Leader
from judge_service.cohort.member import Member
from judge_service.cohort.placing import Placing
from judge_service.cohort.room import Room
from judge_service.engine import Engine
from judge_service.errors import CohortIncomplete
from judge_service.usage import Usage

FIRST_LOOK_S, LAST_LOOK_S = 0.01, 0.25
CHECK_S = 0.5
"""How often the places of a generation are counted; where somebody has just come, it is at once."""
EARLY_S = 1.5
"""A group that is not complete so long after somebody came here is asked ahead of; those that come
in one burst are judged when all are there.
"""


class Watch:
    """``lock`` is held while a place is taken, changed or left. ``wall`` is the clock that replicas
    share, in seconds; ``until`` on it is when those who wait here give that up, for there may be a
    better place by then. ``lost``: the store was lost, and nobody else may enter.
    """

    def __init__(
        self,
        engine: Engine,
        board: Board,
        placing: Placing,
        leader: Leader,
        wall: Callable[[], float],
        until: float | None,
    ) -> None:
        self._engine = engine
        self._board = board
        self._placing = placing
        self._leader = leader
        self._wall = wall
        self._until = until
        self._rooms: dict[int, Room] = {}
        self._nudge = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.lock = asyncio.Lock()
        self.lost = False

    async def enter(self, member: Member) -> Joined | None:
        """Take a place for a member, and watch for it from now on; or give what it is told at once.
        Under the lock. Raises StoreLost.
        """
        if self.lost:
            raise StoreLost
        try:
            told = await self._placing.place(member)
        except StoreLost:
            self.lost = True
            raise
        if told is not None:
            return Joined(name=member.entry.name, generation=self._board.serial, posted=told)
        self._seat(member)
        return None

    def exit(self, member: Member) -> None:
        """Stop watching for a member."""
        room = self.room_of(member)
        if room is not None:
            room.members.remove(member)
            self._tidy(room)

    def waits(self, room: Room) -> bool:
        """Whether a generation is not known to be closed."""
        return room.waits and self._board.known(room.number) is None

    def room_of(self, member: Member) -> Room | None:
        """Where a member waits."""
        return next((room for room in self._rooms.values() if member in room.members), None)

    def _seat(self, member: Member) -> None:
        place = member.place
        assert place is not None and place.began is not None  # noqa: S101, PT018 - just found
        if not member.here:
            return  # it has gone in the meantime, and leaves its place itself
        room = self._rooms.get(place.number)
        if room is None:
            early = Early(self._engine, member.request.size)
            room = Room(
                number=place.number, began=place.began, size=member.request.size, early=early
            )
            self._rooms[place.number] = room
        room.closed = room.closed or place.closed
        room.members.append(member)
        room.fresh = True
        self._nudge.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    def _tidy(self, room: Room) -> None:
        if not room.members:
            room.close()
            if self._rooms.get(room.number) is room:
                del self._rooms[room.number]
            self._nudge.set()

    async def _run(self) -> None:
        pause = FIRST_LOOK_S
        try:
            while self._rooms:
                self._nudge.clear()
                try:
                    await self._look()
                except StoreLost:
                    self._part()
                if self._until is not None and self._wall() >= self._until:
                    self._part()
                await self._rest(pause)
                pause = min(LAST_LOOK_S, pause * 1.5)
        except Exception as error:  # noqa: BLE001 - raised where the answer is waited for
            for room in [*self._rooms.values()]:
                room.fail(error)
                self._tidy(room)
        finally:
            self._task = None

    async def _rest(self, pause_s: float) -> None:
        """Until something has happened here, it is time to look again, or a group's time is up."""
        now = self._wall()
        ends = [room.ends_in(now) for room in self._rooms.values() if not room.late]
        if all(self.waits(room) for room in self._rooms.values()):
            pause_s = CHECK_S
        with suppress(TimeoutError):  # that is the pause
            async with asyncio.timeout(min([pause_s, *ends])):
                await self._nudge.wait()

    def _part(self) -> None:
        """The store is lost, or perhaps there again: who waits for others looks for them elsewhere.
        Who belongs to a group that was closed goes on waiting for it.
        """
        for room in [one for one in self._rooms.values() if self.waits(one)]:
            if room.ends_in(self._wall()) == 0.0:
                lost = CohortIncomplete("who arrived is not known: the store is lost")
                room.tell([*room.members], without_group(lost, room.size), Usage())
            else:
                self.lost = True
                room.fail(StoreLost())
            self._tidy(room)

    async def _look(self) -> None:
        closed_ones = [room for room in self._rooms.values() if room.led or not self.waits(room)]
        found = await self._board.posted([room.number for room in closed_ones])
        for room in closed_ones:
            closed, posted = found[room.number]
            room.closed = room.closed or closed
            if posted is None and closed is not None and not closed.enough:
                posted = incomplete(len(closed.entries), room.size)
            if room.led is not None:
                led, room.led = room.led, None
                await self._tell(room, *led)
            elif posted is not None:
                # What is posted from here comes with its bill in a moment.
                if not room.is_about_to_be_led(LEAD_S):
                    await self._tell(room, posted, Usage())
            elif room.closed is not None:
                await self._put_out(room, [entry.name for entry in room.closed.entries])
        for room in [*self._rooms.values()]:
            fresh = room.fresh
            if room.members and room.is_due(CHECK_S, self._wall()):
                await self._check(room, fresh=fresh)

    async def _tell(self, room: Room, posted: Posted, spent: Usage) -> None:
        names = posted["members"]
        closed = room.closed = room.closed or self._board.known(room.number)
        for member in room.members:
            if member.place is not None:
                member.place = replace(member.place, closed=closed)
        theirs = [one for one in room.members if names is None or one.entry.name in names]
        room.tell(theirs, posted, spent)
        if names is not None:
            await self._put_out(room, names)
        self._tidy(room)

    async def _put_out(self, room: Room, names: Collection[str]) -> None:
        """Who was there a moment after the group was closed does not belong to it."""
        for member in [one for one in room.members if one.entry.name not in names]:
            if member.held:
                await self._again(room, member)
            else:
                room.tell([member], incomplete(len(names), member.request.size), Usage())
        self._tidy(room)

    async def _again(self, room: Room, member: Member) -> None:
        """Take a place anew for a member that has lost its own."""
        async with self.lock:
            if member not in room.members:
                return
            room.members.remove(member)
            try:
                told = await self.enter(member)
            except StoreLost as lost:
                member.fail(lost)
            else:
                if told is not None:
                    member.tell(told)

    async def _check(self, room: Room, *, fresh: bool) -> None:
        """Count who is there, and do what has to be done. ``fresh``: somebody has just looked."""
        for member in [one for one in room.members if one.claimed]:
            await self._placing.keep(member)
        generations = [] if fresh or not self.waits(room) else await self._board.look()
        if not self.waits(room):
            self._start(room)
            return
        shorts = await self._board.places(room.number)
        room.arrived = len(shorts)
        missing = [member for member in room.members if member.short not in shorts]
        if missing and not room.late:
            # The store has lost them, or this process was taken for dead.
            await self._board.renew(room.number, room.began)
            for member in missing:
                await self._again(room, member)
            self._tidy(room)
            return
        complete = room.late or room.arrived >= room.size
        if complete and room.lead is None:
            self._start(room)
            return
        await self._move(room, generations, complete=complete)
        if not complete:
            await self._ahead(room, shorts)

    async def _move(self, room: Room, generations: Sequence[Generation], *, complete: bool) -> None:
        for member in [one for one in room.members if one.held and generations]:
            async with self.lock:
                if member in room.members and await self._placing.move(
                    member, generations, complete=complete
                ):
                    if member in room.members:
                        room.members.remove(member)
                    self._seat(member)
        self._tidy(room)

    async def _ahead(self, room: Room, shorts: Sequence[str]) -> None:
        """Ask ahead, in one process at a time, where nobody's money is counted."""
        if not room.may_ask_ahead(EARLY_S, shorts):
            return
        if not await self._board.lease(f"{room.number}:early", room.owner, LEAD_S):
            return
        room.ahead_of = shorts
        there = (await self._board.present(room.number, shorts)).values()
        if room.members and there:
            member = max(room.members, key=lambda one: one.left_s)
            ranking = member.request.ranking(tuple(candidate_of(one.candidate) for one in there))
            asking = room.early.ask(replace(ranking, timeout_s=member.left_s))
            room.ahead = asyncio.create_task(asking)

    def _start(self, room: Room) -> None:
        if room.members and room.lead is None and room.led is None:
            room.lead = asyncio.create_task(self._lead(room))

    async def _lead(self, room: Room) -> None:
        """In a task of its own, which may be given up at any time: members are told, and move, in
        the one that watches.
        """
        try:
            if not room.members:
                return
            member = max(room.members, key=lambda one: one.left_s)
            room.led = await self._leader.lead(room.number, room.began, member, member.left_s)
        except StoreLost:
            self._part()
        except Exception as error:  # noqa: BLE001 - raised where the answer is waited for
            room.fail(error)
            self._tidy(room)
        finally:
            room.lead, room.checked_at = None, time.monotonic()
            self._nudge.set()
