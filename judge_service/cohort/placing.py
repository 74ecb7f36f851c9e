"""Where a member belongs: back to where it was, the oldest generation that waits, or a new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from judge_service.cohort.board import Board, short_of
from judge_service.cohort.entries import Closed, Entry, Generation
from judge_service.cohort.insist import StoreLost
from judge_service.cohort.joined import Posted, incomplete
from judge_service.cohort.member import Member
from judge_service.cohort.presence import ALIVE_S, Presence

GIVEN_UP_S = 5.0
"""How long after its deadline a group that was given up tells its members so; later they may try
again, in seconds.
"""
STRAGGLER_S = 60.0
"""How long after its deadline a group turns stragglers away; later they begin a new one."""
GONE_KEPT_S = 60.0
"""How long a held member whose caller was lost may come back for its answer, in seconds."""
TRIES = 32


class Placing:
    """Finds places on one board. ``wall`` is the clock that replicas share, in seconds; what is
    written on the board lives ``ttl_s``.
    """

    def __init__(
        self, board: Board, presence: Presence, wall: Callable[[], float], ttl_s: float
    ) -> None:
        self._board = board
        self._presence = presence
        self._wall = wall
        self._ttl_s = ttl_s
        # Who was answered, as far as this process knows, and by the name of which caller.
        self._done: dict[tuple[int, Entry], str] = {}

    async def place(self, member: Member) -> Posted | None:
        """Take a place, which then is the member's ``place``; or give what the member is told at
        once, where it came too late. Raises StoreLost.
        """
        if self._is_back(member):
            return None
        for _ in range(TRIES):
            generations = await self._board.look()
            if await self._found(member, generations):
                return None
            if not member.held and (told := await self._missed(member, generations)) is not None:
                return told
            if await self._began(member):
                return None
        raise StoreLost

    def _is_back(self, member: Member) -> bool:
        """Whether a member waits once more for the group that it belongs to."""
        place = member.place
        if place is None or place.closed is None or not place.closed.enough:
            return False
        return place.closed.find(member.entry.name) is not None

    async def move(
        self, member: Member, generations: Sequence[Generation], *, complete: bool
    ) -> bool:
        """Move a held member that waits to where it is better off: back to where its text was lost,
        or, unless its own generation is ``complete``, to an older one that waits, for there the
        others are. Raises StoreLost.
        """
        before, entry, claimed = member.place, member.entry, member.claimed
        if before is None:
            return False
        older = 0 if complete else before.number
        others = [one for one in generations if one.number != before.number]
        member.behind.append((before.number, entry))
        if not await self._found(member, others, older):
            member.behind.clear()
            return False
        closed = await self._board.closed(before.number)
        counted = closed is not None and closed.find(entry.name) is not None
        if counted:
            # Meanwhile it belongs to where it was.
            await self._leave(member, answered=False)
            member.place = replace(before, closed=closed)
            member.entry, member.claimed = entry, claimed
        else:
            await self._left(before.number, entry)
        member.behind.clear()
        return not counted

    async def leave(self, member: Member, *, answered: bool) -> None:
        """A held member's caller is no longer there. ``answered``: it has what it came for. Can be
        said again, also where the first was wrong. Raises StoreLost.
        """
        if member.held:
            await self._leave(member, answered=answered)
            for number, entry in member.behind:
                await self._left(number, entry)

    async def _leave(self, member: Member, *, answered: bool) -> None:
        place, board = member.place, self._board
        if place is None:
            return
        closed = place.closed or await board.closed(place.number)
        mine = None if closed is None else closed.find(member.entry.name)
        if closed is None:
            await self._left(place.number, member.entry)
        elif mine is not None and answered:
            # Here it is known whatever the store says.
            self._done[place.number, mine] = member.entry.caller
            await board.mark(place.number, member.entry, "done")
            return
        elif mine is not None:
            if self._done.get((place.number, mine)) == member.entry.caller:
                del self._done[place.number, mine]
            await board.mark_gone(place.number, member.entry, GONE_KEPT_S)
            if member.claimed:
                await board.unclaim(place.number, member.entry)
        member.place = None

    async def keep(self, member: Member) -> None:
        """Keep the part of another caller that a member has claimed. Raises StoreLost."""
        if member.claimed and member.place is not None:
            await self._board.claim(member.place.number, member.entry, member.entry.caller, ALIVE_S)

    async def _left(self, number: int, entry: Entry) -> None:
        await self._board.mark(number, entry, "gone", GONE_KEPT_S)
        await self._board.free(number, short_of(entry.name))

    async def _found(
        self, member: Member, generations: Sequence[Generation], before: int | None = None
    ) -> bool:
        """A place among these generations, of those that wait only ones with a number ``before``
        that.
        """
        for one in generations:
            if one.closed is None:
                continue
            if await self._back(member, one.number, one.closed):
                member.place = one
                return True
        now = self._wall()
        for one in generations:
            older = before is None or one.number < before
            if one.waits(now) and older and await self._arrived(member, one):
                return True
            if not member.held and one.ends(now) and await self._is_there(member, one):
                return True
        return False

    async def _is_there(self, member: Member, one: Generation) -> bool:
        """Whether a member is in a generation that is about to be closed."""
        there = (await self._board.present(one.number, [member.short])).get(member.short)
        if there is None or there.entry != member.entry:
            return False
        member.place = one
        return True

    async def _back(self, member: Member, number: int, closed: Closed) -> bool:
        """Whether a member comes back to a generation that was closed."""
        entry = closed.find(member.entry.name)
        if entry is not None and entry.own == member.entry.own:
            if not member.held:
                return closed.enough
            return entry.caller == member.entry.caller or not await self._is_done(number, entry)
        if not member.request.alike:
            return False
        for one in closed.entries:
            same = (one.text, one.own) == (member.entry.text, member.entry.own)
            if (
                same
                and await self._is_lost(number, one)
                and await self._board.claim(number, one, member.entry.caller, ALIVE_S)
            ):
                member.claim(one)
                return True
        return False

    async def _is_done(self, number: int, entry: Entry) -> bool:
        """Whether a member with a name of its own was answered. It is read each time: one that was
        about to be may turn out to be gone.
        """
        if (number, entry) in self._done:
            return True
        (mark,) = await self._board.marks(number, [entry])
        return mark == "done"

    async def _is_lost(self, number: int, entry: Entry) -> bool:
        """Whether the caller of a member went unanswered: it hung up, or its process died."""
        if (number, entry) in self._done:
            return False
        (mark,) = await self._board.marks(number, [entry])
        if mark == "done":
            self._done[number, entry] = ""
        if mark is not None:
            return mark == "gone"
        alive = await self._presence.signs([entry.host])
        return entry.host != self._presence.host and entry.host not in alive

    async def _arrived(self, member: Member, one: Generation) -> bool:
        assert one.began is not None  # noqa: S101 - it waits
        now = self._wall()
        if one.began.closes_at is None and now - one.began.at > self._ttl_s / 2:
            began = replace(one.began, at=now)
            one = replace(one, began=began)
            await self._board.renew(one.number, began)
        before, member.place = member.place, one
        arrival = await self._board.arrive(
            one.number, member.entry, member.request.size, member.candidate()
        )
        if arrival != "there":
            member.place = before
        return arrival == "there"

    async def _missed(self, member: Member, generations: Sequence[Generation]) -> Posted | None:
        """What a member is told whose group did not wait for it, or was given up a moment ago."""
        size, now = member.request.size, self._wall()
        for one in generations:
            if one.began is None or one.began.closes_at is None or now < one.began.closes_at:
                continue
            if one.closed is None:
                arrived, mine = len(await self._board.places(one.number)), None
            else:
                arrived, mine = len(one.closed.entries), one.closed.find(member.entry.name)
            kept_s = STRAGGLER_S if mine is None else GIVEN_UP_S
            other = mine is not None and mine.own != member.entry.own
            if arrived < size and not other and now < one.began.closes_at + kept_s:
                return incomplete(arrived, size)
        return None

    async def _began(self, member: Member) -> bool:
        """Whether the member has begun a new generation."""
        now = self._wall()
        closes_at = None if member.held else now + member.request.deadline_s
        number = self._board.newest + 1
        began = await self._board.begin(number, closes_at, now)
        if began is None:
            return False
        return await self._arrived(member, Generation(number=number, began=began, closed=None))
