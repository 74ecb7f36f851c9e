"""Where verdicts come from: the cache, another request that is asking already, or the judge.

Only verdicts are kept, never a failure. A request that joins another one's asking shares its
verdict or its failure; across processes a lease says who asks, and the others look for what comes
of it. Audits pass all this by.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from typing import Literal

from judge_service.asking.ask import Answer, Asker, Budget
from judge_service.envelope.envelope import Question
from judge_service.errors import JudgingError
from judge_service.events import Joined, LookedUp, Observer, nobody
from judge_service.judges.judge import JudgeSpec
from judge_service.judges.served_model import Served, check_served
from judge_service.judging.case import Case
from judge_service.storage.store import UNKNOWN, Found, Store, Unknown
from judge_service.usage import NOTHING
from judge_service.verdicts.flight import Flight
from judge_service.verdicts.key import KEY_VERSION, PREFIX, verdict_key
from judge_service.verdicts.recent import RecentVerdicts
from judge_service.verdicts.record import Seal, VerdictRecord, offered
from judge_service.verdicts.renewing import Renewing
from judge_service.waiting import together

LEASE_PREFIX = f"jl:{KEY_VERSION}:"
LEASE_S = 3.0
"""A process that dies while it asks is waited for no longer than this."""
RENEW_S = 1.0
FIRST_LOOK_S, LAST_LOOK_S = 0.01, 0.1
"""How often to look for another process's verdict, at first and later on."""
MAX_BROUGHT_BACK = 2_000
"""How many verdicts are put back into a store that has lost them."""
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
        self._seal = seal
        self._ttl_s = ttl_s
        self._shared = shared
        self._observer = observer
        self._flights: dict[str, Flight] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._recent = RecentVerdicts()
        self._brought_back_at = 0.0

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
        key = verdict_key(
            judge,
            question,
            tenant=None if self._shared else case.request.tenant,
            embedded=judge.id in case.bench.trial,
        )
        tries = 1 if single else (budget or Budget()).left - keep
        while True:
            flight = self._flights.get(key)
            joined = flight is not None
            if flight is None:
                flight = self._flights[key] = Flight(key, case.deadline, self._land, tries=tries)
                work = self._fly(flight, case, judge, question, budget, keep=keep, single=single)
                task = flight.start(work)
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

    def _land(self, flight: Flight) -> None:
        if self._flights.get(flight.key) is flight:
            del self._flights[flight.key]

    async def _fly(
        self,
        flight: Flight,
        case: Case,
        judge: JudgeSpec,
        question: Question,
        budget: Budget | None,
        *,
        keep: int,
        single: bool,
    ) -> None:
        key = flight.key
        kept = await self._kept(key, judge, question, count=True)
        if isinstance(kept, Answer):
            flight.settle(kept)
            return
        # A store that did not answer is not asked for the lease as well; one that nobody else uses
        # need not be. Whoever comes just now and asks the same asks once more; that costs a call.
        alone = kept is UNKNOWN or self._store.alone
        turn = nullcontext() if alone else self._turn(key, judge, question, flight)
        async with turn as found:
            if found is not None:
                flight.settle(found)
                return
            if not case.admitted:
                # Turned away before the request has cost anything, or not at all.
                self.asker.gates.of(judge).look(flight.deadline, spare=keep > 0)
                case.admitted = True
            answer = await self._asked_or_found(
                self.asker.ask(
                    judge, question, flight.deadline, flight.ledger, budget,
                    keep=keep, single=single, admitted=True,
                ),
                flight, judge, question,
            )  # fmt: skip
            if answer.cached:
                flight.settle(answer)
                return
            sealed = self._seal.close(key, _record_of(answer))
            flight.settle(replace(answer, kept=(key, sealed)))
            self._recent.put(key, sealed)
            await self._store.put_soon(key, sealed, self._ttl_s)

    @asynccontextmanager
    async def _turn(
        self, key: str, judge: JudgeSpec, question: Question, flight: Flight
    ) -> AsyncIterator[Answer | None]:
        """Whose turn it is to ask, of all processes: gives another one's verdict, or None when it
        is this one's turn, which lasts as long as the block.
        """
        lease, owner = LEASE_PREFIX + key.removeprefix(PREFIX), secrets.token_hex(8)
        until = time.monotonic() + flight.deadline.left() * PATIENCE
        pause = FIRST_LOOK_S
        # None: the store cannot say, and nobody is waited for.
        while (mine := await self._store.hold(lease, owner, 1, LEASE_S)) is False:
            if time.monotonic() >= until:
                break
            await asyncio.sleep(pause)
            pause = min(LAST_LOOK_S, pause * 1.5)
            found = await self._kept(key, judge, question)
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
            found = await self._kept(key, judge, question) if mine else None
            yield found if isinstance(found, Answer) else None
        finally:
            await renewing.end()
            # A lease that was not confirmed may have been taken all the same.
            await self._store.drop(lease, owner)

    async def _asked_or_found(
        self,
        asking: Coroutine[None, None, Answer],
        flight: Flight,
        judge: JudgeSpec,
        question: Question,
    ) -> Answer:
        """The judge's answer; or another process's, where one has been asking for long and is done
        first.
        """
        if not flight.elsewhere:
            return await asking
        own = asyncio.create_task(asking)
        look = asyncio.create_task(self._appears(flight.key, judge, question))
        try:
            await asyncio.wait({own, look}, return_when=asyncio.FIRST_COMPLETED)
            return look.result() if look.done() and not own.done() else await own
        finally:
            for task in (own, look):
                task.cancel()
            await asyncio.gather(own, look, return_exceptions=True)

    async def _appears(self, key: str, judge: JudgeSpec, question: Question) -> Answer:
        while True:
            await asyncio.sleep(LAST_LOOK_S)
            found = await self._kept(key, judge, question)
            if isinstance(found, Answer):
                return found

    async def _renew(self, lease: str, owner: str) -> None:
        while True:
            await self._store.hold(lease, owner, 1, LEASE_S)
            await asyncio.sleep(RENEW_S)

    def _lost(self, key: str, found: Found) -> bytes | None:
        """A record that the store had before it was lost, or has and cannot give just now."""
        recovered_at = self._store.recovered_at
        if recovered_at > self._brought_back_at:
            self._brought_back_at = recovered_at
            task = asyncio.create_task(self._bring_back(recovered_at))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        before = time.monotonic() if found is UNKNOWN else recovered_at
        return self._recent.get(key, before=before)

    async def _bring_back(self, recovered_at: float) -> None:
        """Put what the store has lost back into it. From then on the store is believed again."""
        for number, (key, value) in enumerate(self._recent.put_before(recovered_at)):
            if number < MAX_BROUGHT_BACK and await self._store.put(key, value, self._ttl_s):
                self._recent.put(key, value)
            else:
                self._recent.forget(key)

    async def _kept(
        self, key: str, judge: JudgeSpec, question: Question, *, count: bool = False
    ) -> Answer | Literal[Unknown.UNKNOWN] | None:
        """The verdict in the store, if it is ours and would be accepted today; UNKNOWN when neither
        the store nor anybody here can say.
        """
        started = time.monotonic()
        found = await self._store.look_up(key)
        data = found if isinstance(found, bytes) else self._lost(key, found)
        if data is None:
            if count:
                self._observer(LookedUp("miss"))
            return UNKNOWN if found is UNKNOWN else None
        record = self._seal.open(key, data)
        reading = None if record is None else offered(record, question.form)
        if record is None or reading is None:
            self._observer(LookedUp("rejected"))
            self._recent.forget(key)
            await self._store.delete(key)
            return None
        served = check_served(
            requested=judge.model,
            served=record.model_served,
            families=judge.families,
            served_models=judge.served_models,
        )
        if served is Served.WRONG:
            # The operator's idea of the right model has changed since.
            self._observer(LookedUp("miss"))
            return None
        self._observer(LookedUp("hit"))
        return Answer(
            judge=judge,
            reading=reading,
            reason=record.reason,
            model_served=record.model_served,
            unverified=served is Served.UNVERIFIED,
            attempts=0,
            latency_ms=(time.monotonic() - started) * 1000.0,
            usage=NOTHING,
            cached=True,
            kept=(key, data),
        )


def _record_of(answer: Answer) -> VerdictRecord:
    return VerdictRecord(
        value=answer.reading.value,
        reason=answer.reason,
        model_served=answer.model_served,
        probabilities=answer.reading.probabilities,
    )
