"""Whether a member may have been there before: its caller was lost, and came again elsewhere.

Of two equal texts one may be what the other one was before its process died or its connection
broke. Nobody knows that at once, so before a generation is closed, the process that has the other
one has to give another sign of life; one that is lost is given some time to be taken up again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from judge_service.cohort.board import Board
from judge_service.cohort.entries import Entry
from judge_service.cohort.presence import Presence

PATIENCE = 10
"""So many looks a member is waited for that should take up what it was."""


class Doubts:
    """The doubts about one generation, ``number``, while it is looked at again and again."""

    def __init__(self, board: Board, presence: Presence, number: int) -> None:
        self._board = board
        self._presence = presence
        self._number = number
        self._first: dict[str, bytes] = {}
        self._patience = PATIENCE

    async def about(self, members: Sequence[Entry]) -> bool:
        """Whether there are doubts about those who are in the generation. Raises StoreLost."""
        if not any(one.text for one in members):
            return False
        before, lost = await self._before(members)
        hosts: defaultdict[str, set[str]] = defaultdict(set)
        for one in [*members, *before]:
            hosts[one.text].add(one.host)
        several = {host for some in hosts.values() if len(some) > 1 for host in some}
        doubtful = several - {self._presence.host}
        signs = await self._presence.signs(doubtful)
        if lost or len(signs) < len(doubtful):
            self._patience -= 1
            return self._patience > 0
        return any([self._first.setdefault(host, sign) == sign for host, sign in signs.items()])

    async def _before(self, members: Sequence[Entry]) -> tuple[list[Entry], bool]:
        """Members of other generations that had no answer yet and could have come again as one of
        these; and whether one of them is known to be lost.
        """
        same = {(one.text, one.own) for one in members}
        found, lost = [], False
        for other in await self._board.look():
            if other.closed is None or other.number == self._number:
                continue
            twins = [one for one in other.closed.entries if (one.text, one.own) in same]
            marks = await self._board.marks(other.number, twins)
            found += [one for one, mark in zip(twins, marks, strict=True) if mark is None]
            lost = lost or "gone" in marks
        return found, lost
