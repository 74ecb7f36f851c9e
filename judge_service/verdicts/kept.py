"""The verdicts that are kept: in the store, and for a while here, for a store that loses them."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from enum import Enum

from judge_service.asking.ask import Answer, Budget
from judge_service.envelope.envelope import Question
from judge_service.events import LookedUp, Observer
from judge_service.judges.judge import JudgeSpec
from judge_service.judges.served_model import Served, check_served
from judge_service.storage.store import UNKNOWN, Found, Store
from judge_service.usage import NOTHING
from judge_service.verdicts.recent import RecentVerdicts
from judge_service.verdicts.record import Seal, VerdictRecord, offered

MAX_BROUGHT_BACK = 2_000
"""How many verdicts are put back into a store that has lost them."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A verdict as a request wants it: by whom, on what, and with which tries, as in
    ``Asker.ask``.
    """

    judge: JudgeSpec
    question: Question
    budget: Budget | None
    keep: int
    single: bool


class NotKept(Enum):
    """Why there is no kept verdict."""

    MISS = "there is none that would be accepted today"
    REJECTED = "there was one that was forged, damaged or is not offered; it is gone now"
    UNKNOWN = "the store cannot say, and nobody here knows"


class KeptVerdicts:
    """The kept verdicts of one service, signed by ``seal``, for ``ttl_s`` seconds."""

    def __init__(self, store: Store, seal: Seal, *, ttl_s: float, observer: Observer) -> None:
        self._store = store
        self._seal = seal
        self._ttl_s = ttl_s
        self._observer = observer
        self._recent = RecentVerdicts()
        self._brought_back_at = 0.0
        self._tasks: set[asyncio.Task[None]] = set()

    async def find(self, key: str, wanted: Wanted) -> Answer | NotKept:
        """The verdict under the key, if it is ours and would be accepted today.

        The observer hears only of what is rejected; one look-up may look many times.
        """
        started = time.monotonic()
        found = await self._store.look_up(key)
        data = found if isinstance(found, bytes) else self._lost(key, found)
        if data is None:
            return NotKept.UNKNOWN if found is UNKNOWN else NotKept.MISS
        record = self._seal.open(key, data)
        reading = None if record is None else offered(record, wanted.question.form)
        if record is None or reading is None:
            self._observer(LookedUp("rejected"))
            self._recent.forget(key)
            await self._store.delete(key)
            return NotKept.REJECTED
        judge = wanted.judge
        served = check_served(
            requested=judge.model,
            served=record.model_served,
            families=judge.families,
            served_models=judge.served_models,
        )
        if served is Served.WRONG:
            return NotKept.MISS  # the operator's idea of the right model has changed since
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

    def sealed(self, key: str, answer: Answer) -> bytes:
        """The record of an answer, for ``put``."""
        return self._seal.close(
            key,
            VerdictRecord(
                value=answer.reading.value,
                reason=answer.reason,
                model_served=answer.model_served,
                probabilities=answer.reading.probabilities,
            ),
        )

    async def put(self, key: str, sealed: bytes) -> None:
        """Keep a record."""
        self._recent.put(key, sealed)
        await self._store.put_soon(key, sealed, self._ttl_s)

    async def aclose(self) -> None:
        """Wait for what is being put back."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

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
