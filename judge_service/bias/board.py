"""Lets the processes of one service see each other's histories, through the store they share.

Each posts what it remembers every few seconds while something is new, signed; whoever is asked
puts all of them together. A store that is not shared, or cannot say, leaves a process with its own.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ConfigDict, TypeAdapter, ValidationError

from judge_service.bias.history import Pair, PairHistory
from judge_service.bias.live import Score, ScoreHistory, Snapshot, live_report
from judge_service.storage.secret import ServiceSecret
from judge_service.storage.signed import Signer
from judge_service.storage.store import Store
from judge_service.waiting import call_off

if TYPE_CHECKING:
    from judge_service.bias.report import BiasReport

log = logging.getLogger("judge_service.bias")
PREFIX = "jh:1:"
_PROCESSES = f"{PREFIX}processes"
MAX_PROCESSES = 256
POST_EVERY_S = 5.0
"""How often a process looks whether it has something new to tell."""
KEPT_S = 120.0
"""A process that died is left out after so long."""
_RENEW_AFTER = 6
"""A process with nothing new says so often, in looks, that it is still there."""

_Pairs = dict[str, list[Pair]]
_Scores = dict[str, list[Score]]
_ON_USE = ConfigDict(defer_build=True)
_PAIRS: TypeAdapter[_Pairs] = TypeAdapter(_Pairs, config=_ON_USE)
_SCORES: TypeAdapter[_Scores] = TypeAdapter(_Scores, config=_ON_USE)


class Gathered(NamedTuple):
    """The histories of all processes, this one's first; ``note`` says what may be missing."""

    snapshots: list[Snapshot]
    note: str | None


class BiasBoard:
    """One process's histories and its view of the others'."""

    def __init__(
        self, store: Store, secret: ServiceSecret, pairs: PairHistory, scores: ScoreHistory
    ) -> None:
        self._store = store
        self._signer = Signer(secret, "bias board")
        self._pairs = pairs
        self._scores = scores
        self._me = secrets.token_hex(8)
        self._posted: bytes | None = None
        self._task: asyncio.Task[None] | None = None
        self._one_at_a_time = asyncio.Lock()

    def follow(self) -> None:
        """Post from now on, where anybody else could read it."""
        if self._store.shared:
            self._task = asyncio.create_task(self._run())

    async def post(self) -> None:
        """Tell the others what is new."""
        body = self._body()
        if body is None or body == self._posted:
            return
        key = self._key(self._me)
        stored = await self._store.put(key, self._signer.sign(key, body), KEPT_S)
        if stored and await self._store.hold(_PROCESSES, self._me, MAX_PROCESSES, KEPT_S):
            self._posted = body

    async def report(self, judges: Mapping[str, str]) -> BiasReport:
        """What all of them show of ``judges``, families by id. One report is made at a time, in a
        thread, for intervals are resampled.
        """
        async with self._one_at_a_time:
            gathered = await self.gather()
            notes = [] if gathered.note is None else [gathered.note]
            return await asyncio.to_thread(live_report, judges, gathered.snapshots, notes)

    async def gather(self) -> Gathered:
        """What all living processes remember."""
        own = self._own()
        if not self._store.shared:
            return Gathered(
                [own], "other processes, if there are any, share no store with this one"
            )
        others = await self._store.holders(_PROCESSES)
        keys = [self._key(name) for name in others or () if name != self._me]
        found = await self._store.find(*keys) if keys else {}
        if others is None or found is None:
            return Gathered([own], "the store cannot say what other processes have seen")
        bodies = [self._signer.check(key, data) for key, data in found.items()]
        read = [_snapshot(body) for body in bodies if body is not None]
        return Gathered([own, *(one for one in read if one is not None)], None)

    async def aclose(self) -> None:
        """Post no more, and take back what was posted."""
        if self._task is None:
            return
        await call_off(self._task)
        if self._posted is not None:
            await self._store.drop(_PROCESSES, self._me)
            await self._store.delete(self._key(self._me))

    async def _run(self) -> None:
        looks = 0
        while True:
            await asyncio.sleep(POST_EVERY_S)
            looks += 1
            if looks % _RENEW_AFTER == 0 and self._posted is not None:
                self._posted = b""
            try:
                await self.post()
            except Exception:
                # The others are told at the next look, and judging goes on without.
                log.exception("the histories could not be left in the store")

    def _own(self) -> Snapshot:
        return Snapshot(pairs=self._pairs.all(), scores=self._scores.scores())

    def _body(self) -> bytes | None:
        """What there is to tell; None before there is anything."""
        own = self._own()
        if not own.pairs and not own.scores:
            return None
        told = {"pairs": own.pairs, "scores": own.scores}
        return json.dumps(told, separators=(",", ":"), allow_nan=False).encode()

    @staticmethod
    def _key(name: str) -> str:
        return f"{PREFIX}{name}"


def _snapshot(body: bytes) -> Snapshot | None:
    """What another process posted; None where another version of the service did."""
    try:
        told = json.loads(body)
        return Snapshot(
            pairs=_PAIRS.validate_python(told["pairs"]),
            scores=_SCORES.validate_python(told["scores"]),
        )
    except (ValueError, KeyError, TypeError, ValidationError):
        log.warning("another process tells of its judges in a form that this version does not read")
        return None
