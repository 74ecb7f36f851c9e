"""Where verdicts come from: the cache, another request that is asking already, or the judge.

Only verdicts are kept, never a failure. A request that joins another one's asking shares its
verdict or its failure; across processes a lease says who asks, and the others look for what comes
of it. Audits pass all this by.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace

from judge_service.asking.ask import Answer, Asker, Budget
from judge_service.case import Case
from judge_service.envelope.envelope import Question
from judge_service.errors import JudgingError
from judge_service.events import Joined, LookedUp, Observer, nobody
from judge_service.judges.judge import JudgeSpec
from judge_service.storage.store import Store
from judge_service.verdicts.flight import Flight
from judge_service.verdicts.kept import KeptVerdicts, NotKept, Wanted
from judge_service.verdicts.key import KEY_VERSION, PREFIX, key_in_time
from judge_service.verdicts.record import Seal
from judge_service.verdicts.renewing import Renewing
from judge_service.waiting import together

LEASE_PREFIX = f"jl:{KEY_VERSION}:"
LEASE_S = 3.0
"""A process that dies while it asks is waited for no longer than this."""
RENEW_S = 1.0
FIRST_LOOK_S, LAST_LOOK_S = 0.01, 0.1
"""How often to look for another process's verdict, at first and later on."""
PATIENCE = 0.5
"""The share of the time left that is spent on waiting for another process."""


class VerdictSource:
    """The verdicts of one service. ``shared`` lets all tenants use each other's."""

    def __init__(
        self,
        asker: Asker,
        store: Store,
        seal: Seal,
        *,
        ttl_s: float,
        shared: bool = False,
        observer: Observer = nobody,
    ) -> None:
        self.asker = asker
        self._store = store
        self._kept = KeptVerdicts(store, seal, ttl_s=ttl_s, observer=observer)
        self._shared = shared
        self._observer = observer
        self._flights: dict[str, Flight] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(
        self,
        case: Case,
        judge: JudgeSpec,
        question: Question,
        budget: Budget | None = None,
        *,
        keep: int = 0,
        single: bool = False,
    ) -> Answer:
        """A verdict on ``question`` by ``judge``, like ``Asker.ask``, for a request.

        Raises JudgingError.
        """
        if case.request.audit:
            return await self.asker.ask(
                judge, question, case.deadline, case.ledger, budget,
                keep=keep, single=single, admitted=case.admitted,
            )  # fmt: skip
        key = await key_in_time(
            judge,
            question,
            case.deadline,
            tenant=None if self._shared else case.request.tenant,
            embedded=judge.id in case.bench.trial,
        )
        budget = budget or Budget()
        tries = 1 if single else budget.left - budget.kept - keep
        while True:
            flight = self._flights.get(key)
            joined = flight is not None
            if flight is None:
                flight = self._flights[key] = Flight(key, case.deadline, self._land, tries=tries)
                wanted = Wanted(judge, question, budget, keep, single)
                task = flight.start(self._fly(flight, case, wanted))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            else:
                self._observer(Joined(judge.id))
            try:
                return await flight.wait(case.deadline, case.ledger)
            except JudgingError as error:
                # Whoever began it may have had fewer tries than this request has.
                short = joined and flight.tries < tries and error.retryable
                if not short or case.deadline.left() <= 0:
                    raise

    async def has(self, kept: Sequence[tuple[str, bytes]]) -> bool:
        """Whether the store has exactly these records under these keys, which were read from it
        before. Nobody is told of these look-ups.
        """
        found = await together([self._store.look_up(key) for key, _ in kept])
        return all(one == record for one, (_, record) in zip(found, kept, strict=True))

    async def aclose(self) -> None:
        """Wait for what is still being stored."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._kept.aclose()

    def _land(self, flight: Flight) -> None:
        if self._flights.get(flight.key) is flight:
            del self._flights[flight.key]

    async def _fly(self, flight: Flight, case: Case, wanted: Wanted) -> None:
        key, judge = flight.key, wanted.judge
        kept = await self._kept.find(key, wanted)
        if isinstance(kept, Answer):
            self._observer(LookedUp("hit"))
            flight.settle(kept)
            return
        if kept is not NotKept.REJECTED:
            self._observer(LookedUp("miss"))
        # A store that did not answer is not asked for the lease as well; one that nobody else uses
        # need not be. Whoever comes just now and asks the same asks once more; that costs a call.
        alone = kept is NotKept.UNKNOWN or self._store.alone
        async with nullcontext() if alone else self._turn(flight, wanted) as found:
            if found is not None:
                flight.settle(found)
                return
            if not case.admitted:
                # Turned away before the request has cost anything, or not at all.
                self.asker.gates.of(judge).look(flight.deadline, spare=wanted.keep > 0)
                case.admitted = True
            answer = await self._asked_or_found(flight, wanted)
            if answer.cached:
                flight.settle(answer)
                return
            sealed = self._kept.sealed(key, answer)
            flight.settle(replace(answer, kept=(key, sealed)))
            await self._kept.put(key, sealed)

    @asynccontextmanager
    async def _turn(self, flight: Flight, wanted: Wanted) -> AsyncIterator[Answer | None]:
        """Whose turn it is to ask, of all processes: gives another one's verdict, or None when it
        is this one's turn, which lasts as long as the block.
        """
        key = flight.key
        lease, owner = LEASE_PREFIX + key.removeprefix(PREFIX), secrets.token_hex(8)
        until = time.monotonic() + flight.deadline.left() * PATIENCE
        pause = FIRST_LOOK_S
        # None: the store cannot say, and nobody is waited for.
        while (mine := await self._store.hold(lease, owner, 1, LEASE_S)) is False:
            if time.monotonic() >= until:
                break
            await asyncio.sleep(pause)
            pause = min(LAST_LOOK_S, pause * 1.5)
            found = await self._kept.find(key, wanted)
            if isinstance(found, Answer):
                yield found
                return
        if mine is False:
            flight.elsewhere = True
            yield None
            return
        renewing = Renewing(lambda: self._renew(lease, owner), RENEW_S)
        try:
            # It may have come between the first look and the lease.
            late = await self._kept.find(key, wanted) if mine else None
            yield late if isinstance(late, Answer) else None
        finally:
            try:
                await renewing.end()
            finally:
                # A lease that was not confirmed may have been taken all the same.
                await self._store.drop(lease, owner)

    async def _asked_or_found(self, flight: Flight, wanted: Wanted) -> Answer:
        """The judge's answer; or another process's, where one has been asking for long and is done
        first.
        """
        asking = self.asker.ask(
            wanted.judge, wanted.question, flight.deadline, flight.ledger, wanted.budget,
            keep=wanted.keep, single=wanted.single, admitted=True,
        )  # fmt: skip
        if not flight.elsewhere:
            return await asking
        own = asyncio.create_task(asking)
        look = asyncio.create_task(self._appears(flight.key, wanted))
        try:
            await asyncio.wait({own, look}, return_when=asyncio.FIRST_COMPLETED)
            return look.result() if look.done() and not own.done() else await own
        finally:
            for task in (own, look):
                task.cancel()
            await asyncio.gather(own, look, return_exceptions=True)

    async def _appears(self, key: str, wanted: Wanted) -> Answer:
        while True:
            await asyncio.sleep(LAST_LOOK_S)
            found = await self._kept.find(key, wanted)
            if isinstance(found, Answer):
                return found

    async def _renew(self, lease: str, owner: str) -> None:
        while True:
            await self._store.hold(lease, owner, 1, LEASE_S)
            await asyncio.sleep(RENEW_S)
