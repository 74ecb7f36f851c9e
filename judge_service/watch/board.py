"""Charts in the store: over restarts, and for the other processes of the service to see.

Each process has a numbered place there, for as long as it lives, and leaves its charts in it. One
that starts goes on with the charts of the first place that is free. What is usual is shared apart,
so that a new replica need not learn it anew. Without a shared store, charts end with the process.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from judge_service.storage.secret import ServiceSecret
from judge_service.storage.signed import Signer
from judge_service.storage.store import Store
from judge_service.watch.baseline import Baseline
from judge_service.watch.desk import Desk

log = logging.getLogger("judge_service.watch")
PREFIX = "jw:1:"
PROCESSES = 64
LIVES_S = 30.0
"""The place of a process that died is free after so long."""
EVERY_S = 5.0
KEPT_S = 30 * 86_400.0
Sleep = Callable[[float], Awaitable[None]]


@dataclass(slots=True)
class WatchBoard:
    """One process's place in the store."""

    store: Store
    secret: ServiceSecret
    desk: Desk
    alarms: Callable[[], list[dict[str, Any]]]
    sleep: Sleep = asyncio.sleep
    _signer: Signer = field(init=False)
    _me: str = field(default_factory=lambda: secrets.token_hex(8))
    _place: int | None = None
    _left: bytes = b""
    _task: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self._signer = Signer(self.secret, "watch board")

    async def follow(self) -> None:
        """Take a place, go on with the charts in it, and keep both from now on."""
        if not self.store.shared:
            return
        await self._take_place()
        self._task = asyncio.create_task(self._run())

    async def _take_place(self) -> None:
        for number in range(PROCESSES):
            mine = await self.store.put_new(_lives(number), self._me.encode(), LIVES_S)
            if mine is None:
                return  # the store cannot say just now
            if mine:
                self._place = number
                state = await self._read(_state(number))
                # Whoever has charts of its own by now does not give them up for others'.
                if isinstance(state, dict) and self.desk.is_empty:
                    self.desk.restore(state.get("desk") or {})
                return

    async def _run(self) -> None:
        while True:
            await self.sleep(EVERY_S)
            if self._place is None:
                await self._take_place()
            if self._place is None:
                continue
            await self.store.put(_lives(self._place), self._me.encode(), LIVES_S)
            try:
                await self.post()
            except Exception:
                # Charts go on without their place in the store.
                log.exception("the charts could not be left in the store")

    async def post(self) -> None:
        """Leave the charts as they are now, and share what is usual."""
        if self._place is None:
            return
        await self._share_baselines()
        told = {"desk": self.desk.state(), "alarms": self.alarms()}
        body = json.dumps(told, separators=(",", ":"), allow_nan=False).encode()
        if body != self._left:
            key = _state(self._place)
            if await self.store.put(key, self._signer.sign(key, body), KEPT_S):
                self._left = body

    async def _share_baselines(self) -> None:
        """Put what was learnt here into the store, and take from it what others have learnt."""
        learning = []
        for name, chart in self.desk.learnt:
            if chart.baseline is None:
                learning.append((name, chart))
                continue
            key, known = _usual(name), chart.baseline
            told = json.dumps([known.mean, known.sd, known.n]).encode()
            await self.store.put_new(key, self._signer.sign(key, told), KEPT_S)
        self.desk.learnt = learning
        if not learning:
            return
        found = await self.store.find(*(_usual(name) for name, _ in learning)) or {}
        for name, _ in learning:
            key = _usual(name)
            read = self._opened(key, found[key]) if key in found else None
            if isinstance(read, list) and len(read) == 3:
                mean, sd, n = read
                self.desk.adopt(name, Baseline(mean=float(mean), sd=float(sd), n=int(n)))

    async def forget(self, names: list[str]) -> None:
        """Take what is usual of these charts out of the store."""
        if names:
            await self.store.delete(*(_usual(name) for name in names))

    async def others(self) -> list[dict[str, Any]] | None:
        """The alarms of the other living processes; None when the store cannot say, and an empty
        list where there are none or they share no store with this one.
        """
        if not self.store.shared:
            return []
        living = await self.store.find(*(_lives(number) for number in range(PROCESSES)))
        if living is None:
            return None
        mine = _lives(self._place) if self._place is not None else ""
        keys = [key.replace("lives", "state") for key in living if key != mine]
        found = await self.store.find(*keys) if keys else {}
        if found is None:
            return None
        read = (self._opened(key, data) for key, data in found.items())
        return [{"alarms": one["alarms"]} for one in read if isinstance(one, dict)]

    async def _read(self, key: str) -> Any:
        data = await self.store.get(key)
        return None if data is None else self._opened(key, data)

    def _opened(self, key: str, data: bytes) -> Any:
        body = self._signer.check(key, data)
        with suppress(ValueError):
            return None if body is None else json.loads(body)
        return None

    async def aclose(self) -> None:
        """Leave the charts, and the place free for the next process."""
        if self._task is None:
            return
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        await self.post()
        if self._place is not None:
            await self.store.delete(_lives(self._place))


def _usual(name: str) -> str:
    return f"{PREFIX}usual:{name}"


def _lives(number: int) -> str:
    return f"{PREFIX}lives:{number}"


def _state(number: int) -> str:
    return f"{PREFIX}state:{number}"
