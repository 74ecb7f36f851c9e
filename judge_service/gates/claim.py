"""What a call takes beside a place in this process: one that all replicas share, and its rate.

A store that does not answer is done without: then each process keeps to its share of the limits.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal

from judge_service.gates.rate import WINDOW_S, Rates, Reserved
from judge_service.judges.judge import JudgeSpec
from judge_service.storage.store import Store

POLL_S = (0.005, 0.025)
"""How long to wait before the next look for a shared place: drawn between the two."""
NO_TIME_S = 0.0
DROP_AGAIN_S = (0.1, 0.3, 1.0, 3.0)
"""When to try again to give a place back to a store that did not answer."""
WANTED_S = 1.0
"""How long a replica's word that it waits for a place holds."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a call has taken; ``owner`` names its shared place."""

    owner: str | None = None
    reserved: Reserved | None = None


@dataclass(frozen=True, slots=True)
class Blocked:
    """Nothing was taken: what is used up, and when to try again."""

    by: Literal["rate", "place"]
    wait_s: float


NO_CLAIM = Claim()
"""Of a call that nothing is counted for with others."""


def shared_name(judge: JudgeSpec) -> str:
    """What replicas call a judge in the store: the same for the same id, model and address."""
    named = json.dumps([judge.id, judge.model, judge.api_base])
    return hashlib.sha256(named.encode()).hexdigest()[:16]


class Claims:
    """The shared limits of one judge. ``jitter`` draws from [0, 1), ``spawn`` runs work apart."""

    def __init__(
        self,
        judge: JudgeSpec,
        store: Store,
        *,
        jitter: Callable[[], float],
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        workers: int = 1,
        wall: Callable[[], float] = time.time,
        window_s: float = WINDOW_S,
    ) -> None:
        name = shared_name(judge)
        self.rates = Rates(
            name, rpm=judge.rpm, tpm=judge.tpm, store=store, workers=workers, wall=wall,
            window_s=window_s,
        )  # fmt: skip
        self._store = store
        self._jitter = jitter
        self._spawn = spawn
        self._places = judge.max_concurrency if store.shared else None
        self._share = None
        if judge.max_concurrency is not None:
            self._share = max(1, judge.max_concurrency // workers)
        self._place_key, self._wanted_key = f"jp:1:{name}", f"jw:1:{name}"
        self._me = secrets.token_hex(8)
        self._lost = not store.shared
        self._wanted_until = 0.0
        self._wall = wall

    @property
    def needed(self) -> bool:
        """Whether there is anything to take."""
        return self._places is not None or self.rates.limited

    @property
    def cap(self) -> int | None:
        """Calls that this process may run at once while it does not know of the others."""
        return self._share if self._lost else None

    async def take(self, tokens: int, hold_s: float, *, queued: bool) -> Claim | Blocked:
        """Take a place for ``hold_s`` seconds and the rate for ``tokens``, or nothing.

        ``queued`` calls let other replicas go first now and then.
        """
        owner = None
        if self._places is not None:
            owner = f"{self._me}{secrets.token_hex(8)}"
            if await self._place(owner, self._places, hold_s, queued=queued) is False:
                return Blocked("place", self._poll_s())
        taken = await self.rates.take(tokens) if self.rates.limited else None
        if not isinstance(taken, float):
            return Claim(owner, taken)
        await self._drop(owner)
        return Blocked("rate", taken)

    async def undo(self, claim: Claim) -> None:
        """The call was not sent."""
        await self._drop(claim.owner)
        if claim.reserved is not None:
            await self.rates.give_back(claim.reserved)

    async def settle(self, claim: Claim, used: int | None) -> None:
        """The call is over and used so many tokens, None when nobody knows."""
        await self._drop(claim.owner)
        if claim.reserved is not None and used is not None:
            await self.rates.correct(claim.reserved, used)

    async def _place(self, owner: str, limit: int, hold_s: float, *, queued: bool) -> bool | None:
        if queued and await self._others_wait():
            # Whoever gives a place back is first to know; without this nobody else would get it.
            await asyncio.sleep(self._poll_s())
        held = await self._store.hold(self._place_key, owner, limit, hold_s)
        self._lost = held is None
        now = self._wall()
        if held is False and not now < self._wanted_until <= now + WANTED_S:
            self._wanted_until = now + WANTED_S / 2
            await self._store.put(self._wanted_key, self._me.encode(), WANTED_S)
        return held

    async def _others_wait(self) -> bool:
        return await self._store.get(self._wanted_key) not in (None, self._me.encode())

    async def _drop(self, owner: str | None) -> None:
        if owner is not None and not await self._dropped(owner):
            self._spawn(self._drop_later(owner))

    async def _dropped(self, owner: str) -> bool:
        """Give a place back, and know whether it was: held for no time it is free."""
        limit = self._places or 1
        return await self._store.hold(self._place_key, owner, limit, NO_TIME_S) is not None

    async def _drop_later(self, owner: str) -> None:
        # A place that stays taken by mistake is missed by everybody until its time is over.
        for wait in DROP_AGAIN_S:
            await asyncio.sleep(wait)
            if await self._dropped(owner):
                return

    def _poll_s(self) -> float:
        shortest, longest = POLL_S
        return shortest + (longest - shortest) * self._jitter()
