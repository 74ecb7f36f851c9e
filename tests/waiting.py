"""Who waits inside the services of this process, for tests that go on when somebody does."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from judge_service.asking.ask import Answer
from judge_service.cohort.joined import Joined
from judge_service.cohort.member import Member
from judge_service.cohort.placing import Placing
from judge_service.cohort.watch import Watch
from judge_service.deadline import Deadline
from judge_service.usage import Ledger
from judge_service.verdicts.flight import Flight


@dataclass(slots=True)
class Waiting:
    """How many requests wait for a verdict in the making, and how many have begun to."""

    now: int = 0
    begun: int = 0


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Waiting:
    """Of all services of this process."""
    noted, wait = Waiting(), Flight.wait

    async def counted(flight: Flight, deadline: Deadline, ledger: Ledger) -> Answer:
        noted.now += 1
        noted.begun += 1
        try:
            return await wait(flight, deadline, ledger)
        finally:
            noted.now -= 1

    monkeypatch.setattr(Flight, "wait", counted)
    return noted


@dataclass(slots=True)
class Seats:
    """How often members of groups have taken their places, and have been seen to leave. Who came
    before the test, and is told only now, does not count.
    """

    taken: int = 0
    left: int = 0
    members: list[Member] = field(default_factory=list)


@pytest.fixture
def seats(monkeypatch: pytest.MonkeyPatch) -> Seats:
    """Of all services of this process."""
    noted, enter, leave = Seats(), Watch.enter, Placing.leave

    async def entered(watch: Watch, member: Member) -> Joined | None:
        noted.members.append(member)
        told = await enter(watch, member)
        noted.taken += 1
        return told

    async def left(placing: Placing, member: Member, *, answered: bool) -> None:
        await leave(placing, member, answered=answered)
        noted.left += any(one is member for one in noted.members)

    monkeypatch.setattr(Watch, "enter", entered)
    monkeypatch.setattr(Placing, "leave", left)
    return noted
