"""Whether those who are in a generation are still there, and there only.

A process that died, or a connection that broke, is not known at once. Its caller comes again
meanwhile, perhaps as a member of another generation, and would be counted twice. So before a
generation of held members is closed, every other process that has some of them gives a new sign of
life; and a text that another generation has lost is given some time to be taken up again there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from judge_service.cohort.board import Board
from judge_service.cohort.entries import Entry, Mark
from judge_service.cohort.presence import Presence

PATIENCE = 20
"""So many looks a member that is lost is waited for, that somebody takes it up again."""


class Doubts:
    """The doubts about one generation, ``number``, while it is looked at again and again."""

    def __init__(self, board: Board, presence: Presence, number: int) -> None:
        self._board = board
        self._presence = presence
        self._number = number
        self._first: dict[str, bytes] = {}
        self._lost: Counter[str] = Counter()

    async def about(self, members: Sequence[Entry]) -> bool:
        """Whether there are doubts about those who are in the generation. Raises StoreLost."""
        before = await self._before(members)
        waiting = [*members, *(one for one, mark in before if mark is None)]
        hosts = {one.host for one in waiting} - {self._presence.host}
        signs = await self._presence.signs(hosts)
        silent = [self._first.setdefault(host, sign) == sign for host, sign in signs.items()]
        dead = hosts - signs.keys()
        lost = {
            one.name
            for one, mark in before
            if mark == "gone" or (mark is None and one.host in dead)
        }
        self._lost.update(lost)
        return (
            any(silent)
            or any(one.host in dead for one in members)
            or any(self._lost[name] <= PATIENCE for name in lost)
        )

    async def _before(self, members: Sequence[Entry]) -> list[tuple[Entry, Mark | None]]:
        """Members of other generations that had no answer yet and could have come again as one of
        these, and what is known to have become of them.
        """
        same = {(one.text, one.own) for one in members if one.text}
        found: list[tuple[Entry, Mark | None]] = []
        for other in await self._board.look() if same else ():
            if other.closed is None or other.number == self._number:
                continue
            twins = [one for one in other.closed.entries if (one.text, one.own) in same]
            marks = await self._board.marks(other.number, twins)
            found += [(one, mark) for one, mark in zip(twins, marks, strict=True) if mark != "done"]
        return found
