"""The members of one board that wait in this process: they come, wait while they may, and go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext

from judge_service.cohort.joined import Joined, incomplete, without_group
from judge_service.cohort.member import Member
from judge_service.cohort.placing import Placing
from judge_service.cohort.watch import Watch
from judge_service.errors import DeadlineExceeded

GRACE_S = 0.2


class Gathering:
    """Places are taken, changed and left one at a time, under the watch's ``lock``. ``wall`` is the
    clock that replicas share; ``users`` counts those who use it, ``lost`` says that its store was
    lost since it was made.
    """

    def __init__(self, placing: Placing, watch: Watch, wall: Callable[[], float]) -> None:
        self._placing = placing
        self._watch = watch
        self._wall = wall
        self.users = 0

    @property
    def lost(self) -> bool:
        """Whether its store was lost since it was made."""
        return self._watch.lost

    async def join(self, member: Member) -> Joined:
        """Wait for the outcome of the member's group, as long as it has time.

        Raises StoreLost, and RequestError for what cannot be judged after all.
        """
        member.anew()
        member.here = True
        async with self._watch.lock:
            told = await self._watch.enter(member)
        if told is not None:
            return told
        try:
            async with asyncio.timeout(self._left_s(member)):
                return await asyncio.shield(member.answer)
        except TimeoutError:
            return self._late(member)
        finally:
            member.here = False
            self._watch.exit(member)

    async def leave(self, member: Member, *, answered: bool, again: bool = False) -> None:
        """A held member's caller is no longer there, or about to have what it came for; ``again``
        where the store was lost before. Raises StoreLost.
        """
        # Nobody places it any more then: it does not wait for those who come, nor they for it.
        settled = again or member.told
        async with nullcontext() if settled else self._watch.lock:
            await self._placing.leave(member, answered=answered)

    def _left_s(self, member: Member) -> float:
        place = member.place
        if member.held or place is None or place.began is None:
            return member.deadline.left()
        waiting = max(0.0, (place.began.closes_at or 0.0) - self._wall())
        return waiting + member.request.timeout_s + GRACE_S

    def _late(self, member: Member) -> Joined:
        size = member.request.size
        room = self._watch.room_of(member)
        arrived = None if room is None or room.closed is None else len(room.closed.entries)
        late = DeadlineExceeded("the group was not judged in time")
        posted = without_group(late, size, arrived=arrived)
        if room is not None and self._watch.waits(room):
            posted = incomplete(room.arrived, size)
        serial = 1 if room is None else room.began.serial
        return Joined(name=member.entry.name, generation=serial, posted=posted)
