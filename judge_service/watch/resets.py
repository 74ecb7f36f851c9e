"""Resets, in the store: what was learnt before one counts nowhere any more.

They are one signed list under one key. Each process follows what it has not followed yet, and
whatever is kept says as of which reset it was learnt, so that what is older is void whenever and by
whomever it is read.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from judge_service.storage.signed import Signer
from judge_service.storage.store import Store

KEY = "jw:2:resets"
KEPT_S = 60 * 86_400.0
"""Longer than anything that a reset makes void."""
MOST = 128
"""Resets that are remembered, the latest ones."""
LOCK_S = 2.0
_TRIES, _EVERY_S = 40, 0.05


class Reset(NamedTuple):
    """What is learnt anew: of a judge, of a rubric, of both or, with neither, of all. Numbers grow,
    also when the store was emptied in between: they are milliseconds since the epoch, at least.
    """

    number: int
    judge: str | None
    rubric: str | None

    def is_about(self, judge: str | None, rubric: str | None) -> bool:
        """Whether a series of this judge and rubric (None: not about one alone) goes with it."""
        return self.judge in (None, judge) and self.rubric in (None, rubric)


@dataclass(slots=True)
class Resets:
    """Those of the service. ``seen`` is the number of the latest that was followed here."""

    store: Store
    signer: Signer
    wall: Callable[[], float] = time.time
    seen: int = 0
    _known: list[Reset] = field(default_factory=list)

    async def add(self, judge: str | None, rubric: str | None) -> bool:
        """One more, which is not followed here yet; whether the store has taken it."""
        owner = secrets.token_hex(8)
        for _ in range(_TRIES):
            mine = await self.store.hold(f"{KEY}:lock", owner, 1, LOCK_S)
            if mine is None:
                return False
            if mine:
                break
            await asyncio.sleep(_EVERY_S)
        else:
            return False
        try:
            known = await self._kept()
            number = max(
                int(self.wall() * 1000.0), self.seen + 1, *(one.number + 1 for one in known)
            )
            body = json.dumps([*known, Reset(number, judge, rubric)][-MOST:]).encode()
            return await self.store.put(KEY, self.signer.sign(KEY, body), KEPT_S)
        finally:
            await self.store.drop(f"{KEY}:lock", owner)

    async def read(self) -> list[Reset]:
        """Those that are to be followed, oldest first; none when the store cannot say."""
        self._known = await self._kept() or self._known
        new = [one for one in self._known if one.number > self.seen]
        if new:
            self.seen = new[-1].number
        return new

    async def _kept(self) -> list[Reset]:
        data = await self.store.get(KEY)
        body = None if data is None else self.signer.check(KEY, data)
        with suppress(ValueError, TypeError):  # another version's: as if there were none
            return [Reset(*one) for one in json.loads(body or b"[]")]
        return []

    def are_void(self, as_of: int, judge: str | None, rubric: str | None) -> bool:
        """Whether what was learnt of a series as of this reset has been reset since."""
        return any(one.number > as_of and one.is_about(judge, rubric) for one in self._known)
