"""One member of a cohort on its way: what it brings, how long it waits, and where it is."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Protocol

from judge_service.cohort.board import short_of
from judge_service.cohort.codec import candidate_hash, candidate_json
from judge_service.cohort.entries import Entry, Generation
from judge_service.cohort.joined import Joined
from judge_service.cohort.request import JoinRequest
from judge_service.deadline import Deadline
from judge_service.outcome import RankOutcome


class Purse(Protocol):
    """Whose money a group is judged for."""

    @property
    def limited(self) -> bool:
        """Whether there is an end to it."""

    async def begin(self, wait_s: float) -> Any | None:
        """Before something is judged; None when there is no money for it. Raises TimeoutError when
        its turn does not come in time.
        """

    async def end(self, part: Any, outcome: RankOutcome) -> None:
        """After it, with what ``begin`` gave."""


class NoLimit:
    """The purse of those who need not count."""

    limited = False

    async def begin(self, wait_s: float) -> Any | None:
        """At once."""
        return ()

    async def end(self, part: Any, outcome: RankOutcome) -> None:
        """Nothing is counted."""


@dataclass(slots=True, eq=False, kw_only=True)
class Member:
    """A member whose caller waits here. ``entry`` is what it is in its generation, ``place``, None
    while it has none; ``claimed`` says that it came back for what another caller was not told.
    ``deadline`` is when a held one has to leave, ``patience`` when another's caller goes before it
    is told, if it does; ``behind`` are places that it moved away from and that
    may not be free yet; ``here`` says that its caller waits.
    """

    request: JoinRequest
    purse: Purse
    entry: Entry
    deadline: Deadline
    patience: Deadline | None = None
    place: Generation | None = None
    claimed: bool = False
    behind: list[tuple[int, Entry]] = field(default_factory=list)
    here: bool = False
    answer: asyncio.Future[Joined] = field(default_factory=lambda: _future())

    @classmethod
    def of(
        cls,
        request: JoinRequest,
        purse: Purse,
        deadline: Deadline,
        caller: str,
        host: str,
        patience: Deadline | None = None,
    ) -> Member:
        """A member without a place. ``caller`` is a name of the request that brings it."""
        name = f"{request.member}#{caller}" if request.alike else request.member
        text = request.member if request.alike else ""
        own = candidate_hash(request.candidate)
        entry = Entry(name=name, own=own, caller=caller, host=host, text=text)
        return cls(request=request, purse=purse, entry=entry, deadline=deadline, patience=patience)

    @property
    def short(self) -> str:
        """Its name on the board."""
        return short_of(self.entry.name)

    @property
    def left_s(self) -> float:
        """How long its group may be judged if that began now, in seconds."""
        return self.deadline.left() if self.held else self.request.timeout_s

    @property
    def held(self) -> bool:
        """Whether it counts only while its caller is there."""
        return self.request.held

    @property
    def told(self) -> bool:
        """Whether it was told what became of its group."""
        answer = self.answer
        return answer.done() and not answer.cancelled() and answer.exception() is None

    def candidate(self) -> dict[str, Any]:
        """What it brings, as JSON values."""
        return candidate_json(self.request.candidate)

    def claim(self, lost: Entry) -> None:
        """Take the part of a member whose caller was lost."""
        self.entry = lost._replace(caller=self.entry.caller, host=self.entry.host)
        self.claimed = True

    def anew(self) -> None:
        """Wait for another answer."""
        self.answer = _future()

    def tell(self, joined: Joined) -> None:
        """Answer it, once."""
        if not self.answer.done():
            self.answer.set_result(joined)

    def fail(self, error: BaseException) -> None:
        """End its waiting with an error."""
        if not self.answer.done():
            self.answer.set_exception(error)


def _future() -> asyncio.Future[Joined]:
    answer: asyncio.Future[Joined] = asyncio.get_running_loop().create_future()
    # Whoever waited for it may have left.
    answer.add_done_callback(lambda future: future.cancelled() or future.exception())
    return answer
