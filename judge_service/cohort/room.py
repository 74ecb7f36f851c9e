"""One generation as this process sees it: its members here, and who works on it."""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from judge_service.cohort.early import Early
from judge_service.cohort.entries import Began, Closed
from judge_service.cohort.joined import Joined, Led, Posted
from judge_service.cohort.member import Member
from judge_service.usage import Usage


@dataclass(slots=True, eq=False, kw_only=True)
class Room:
    """``fresh`` says that it is to be looked at closely at once, for somebody has just come or its
    time is up (``late``); ``arrived`` is how many there were at the last count, which was at
    ``checked_at``; ``lead`` brings its outcome about, which is ``led``, ``early`` asks ahead.
    """

    number: int
    began: Began
    size: int
    early: Early
    closed: Closed | None = None
    members: list[Member] = field(default_factory=list)
    fresh: bool = True
    late: bool = False
    arrived: int = 0
    since: float = field(default_factory=time.monotonic)
    checked_at: float = 0.0
    lead: asyncio.Task[None] | None = None
    led: Led | None = None
    posted_at: float = 0.0
    ahead: asyncio.Task[None] | None = None
    ahead_of: Sequence[str] = ()
    owner: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def waits(self) -> bool:
        """Whether it is not known to be closed."""
        return self.closed is None

    def ends_in(self, wall: float) -> float:
        """How long it waits yet, in seconds, at least 0."""
        closes_at = self.began.closes_at
        return math.inf if closes_at is None else max(0.0, closes_at - wall)

    def is_about_to_be_led(self, within_s: float) -> bool:
        """Whether what has been posted will be ``led`` from here in a moment."""
        if self.lead is None:
            return False
        now = time.monotonic()
        self.posted_at = self.posted_at or now
        return now - self.posted_at < within_s

    def is_due(self, every_s: float, wall: float) -> bool:
        """Whether it is to be looked at closely now."""
        now = time.monotonic()
        if self.ends_in(wall) == 0.0 and not self.late:
            self.late = self.fresh = True
        due = self.fresh or now - self.checked_at >= every_s
        if due:
            self.fresh, self.checked_at = False, now
        return due

    def may_ask_ahead(self, after_s: float, shorts: Sequence[str]) -> bool:
        """Whether there is something to ask ahead of, and nobody whose money is counted."""
        idle = self.ahead is None or self.ahead.done()
        waited = time.monotonic() - self.since >= after_s
        free = not any(one.purse.limited or one.request.audit for one in self.members)
        news = sorted(shorts) != sorted(self.ahead_of)
        return bool(idle and waited and free and news and self.members) and not self.early.over

    def tell(self, members: Sequence[Member], posted: Posted, spent: Usage) -> None:
        """Answer ``members``; the first of them has what was spent."""
        self.stop(self.ahead)
        spent = spent + self.early.billed()
        serial = self.began.serial
        for member in members:
            self.members.remove(member)
            member.tell(
                Joined(name=member.entry.name, generation=serial, posted=posted, spent=spent)
            )
            spent = Usage()

    def fail(self, error: BaseException) -> None:
        """End everybody's waiting with an error."""
        for member in self.members:
            member.fail(error)
        self.members.clear()

    def close(self) -> None:
        """Nobody waits here any more."""
        self.stop(self.lead)
        self.stop(self.ahead)

    @staticmethod
    def stop(task: asyncio.Task[Any] | None) -> None:
        """End what runs, unless it is the one that asks."""
        if task is not None and task is not asyncio.current_task():
            task.cancel()
