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
PATIENCE_GRACE_S = 0.1
"""How long a caller whose time is up waits for the group's own account of its end."""
OUT_OF_PATIENCE = (
    "the request's own time was up before its group was judged; its member stays there and may "
    "come back for the answer"
)


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
        place, patience = member.place, member.patience
        if member.held or place is None or place.began is None:
            left_s = member.deadline.left()
        else:
            waiting = max(0.0, (place.began.closes_at or 0.0) - self._wall())
            left_s = waiting + member.request.timeout_s + GRACE_S
        return left_s if patience is None else min(left_s, patience.left() + PATIENCE_GRACE_S)

    def _late(self, member: Member) -> Joined:
        size = member.request.size
        room = self._watch.room_of(member)
        waits = room is not None and self._watch.waits(room)
        arrived = None
        if room is not None and (waits or room.closed is not None):
            arrived = room.arrived if room.closed is None else len(room.closed.entries)
        if member.patience is not None and member.patience.left() <= 0.0:
            posted = without_group(DeadlineExceeded(OUT_OF_PATIENCE), size, arrived=arrived)
        elif waits and arrived is not None:
            posted = incomplete(arrived, size)
        else:
            late = DeadlineExceeded("the group was not judged in time")
            posted = without_group(late, size, arrived=arrived)
        serial = 1 if room is None else room.began.serial
        return Joined(name=member.entry.name, generation=serial, posted=posted)
