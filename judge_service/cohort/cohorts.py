"""Joining a cohort: waiting for the others, having the group judged, and one's own reward."""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from judge_service.cohort.gatherings import Gatherings
from judge_service.cohort.joined import Joined
from judge_service.cohort.member import NoLimit, Purse
from judge_service.cohort.request import JoinRequest
from judge_service.cohort.visit import Visit
from judge_service.deadline import Deadline
from judge_service.engine import Engine
from judge_service.errors import InvalidRequest
from judge_service.outcome import AssessOutcome
from judge_service.storage.secret import ServiceSecret
from judge_service.storage.store import Store

LEAVE_S, CLOSE_S = 0.1, 1.0
"""How long a request, and the end of the service, wait until it is known that members left."""
NOTE_S = 1.0
"""How long an answer that has time yet waits until it is known that its members have it."""
Start = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


class Held:
    """The members that one caller brings, which are there as long as it is. ``answered`` is set
    when it has been told all that it came for; one that goes before may come back for the rest.
    ``start`` begins what goes on when the request is over.
    """

    def __init__(self, gatherings: Gatherings, host: str, start: Start) -> None:
        self._gatherings = gatherings
        self._host = host
        self._start = start
        self._visits: list[Visit] = []
        self._noting: asyncio.Task[None] | None = None
        self.answered = False

    def visit(self, request: JoinRequest, purse: Purse, deadline: Deadline) -> Visit:
        """One more member, for a group of at least two."""
        visit = Visit(
            self._gatherings, request, purse, deadline,
            caller=secrets.token_hex(8), host=self._host,
        )  # fmt: skip
        self._visits.append(visit)
        return visit

    async def about_to_answer(self, left_s: float) -> None:
        """Note that the caller has all that it came for, before it can know: it may bring other
        members of the same names as soon as it does. They are told apart in this process from now
        on, and in others when this returns, unless the store takes the note only later: an answer
        that has ``left_s`` does not wait longer for that, and never longer than ``NOTE_S``.

        What is said of ``answered`` in the end holds all the same.
        """
        # Members that are alike are new ones unless their predecessor is known to be lost.
        if any(one.named for one in self._visits):
            self._noting = self._start(self._note())
            await asyncio.wait({self._noting}, timeout=min(NOTE_S, max(LEAVE_S, left_s)))

    async def leave(self) -> None:
        """The caller goes."""
        if self._noting is not None:
            await asyncio.wait({self._noting})
        await asyncio.gather(*(self._leave(one) for one in self._visits))

    async def _note(self) -> None:
        await asyncio.gather(*(one.leave(answered=True) for one in self._visits if one.named))

    async def _leave(self, visit: Visit) -> None:
        with visit:
            await visit.leave(answered=self.answered)


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
        self._gatherings = Gatherings(engine, store, secret, wall=wall)
        self._leaving: set[asyncio.Task[None]] = set()

    async def join(
        self, request: JoinRequest, purse: Purse | None = None, *, within_s: float = math.inf
    ) -> Joined | AssessOutcome:
        """Wait until the group is judged. A group of one is assessed.

        Raises RequestError for what can never be right. The wait ends ``timeout_s`` after the
        group's deadline at the latest, or when the caller has waited ``within_s``: its member stays
        for the others then, as that of one that hangs up.
        """
        patience = Deadline.after(within_s)
        if request.size == 1:
            return await self._engine.assess(request.alone())
        self.check(request)
        deadline = Deadline.after(request.deadline_s + request.timeout_s)
        purse = purse or NoLimit()
        with Visit(self._gatherings, request, purse, deadline, patience=patience) as visit:
            return await visit.judged()

    @asynccontextmanager
    async def held(self) -> AsyncIterator[Held]:
        """Bring held members, for as long as the block lasts."""
        async with self._gatherings.presence.shown() as host:
            held = Held(self._gatherings, host, self._start)
            try:
                yield held
            finally:
                # The others have to know, whether or not this request is cut off or goes on.
                await asyncio.wait({self._start(held.leave())}, timeout=LEAVE_S)

    async def aclose(self) -> None:
        """Let those who are about to leave do so."""
        if self._leaving:
            await asyncio.wait({*self._leaving}, timeout=CLOSE_S)
        for leaving in self._leaving:
            leaving.cancel()

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        leaving = asyncio.create_task(work)
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)
        return leaving

    def check(self, request: JoinRequest) -> None:
        """Find the caller's mistakes now, not when the group is complete. Raises RequestError."""
        if request.size == 1:
            self._engine.check(request.alone())
            return
        if request.at_least is not None and request.at_least > request.size:
            raise InvalidRequest(
                f"at_least {request.at_least} is more than the group's size", field="partial"
            )
        self._engine.check(request.ranking((request.candidate,) * request.size))
