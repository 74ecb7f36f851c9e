"""Charts in the store: over restarts, and for the other processes of the service to see.

Each process has a numbered place there, for as long as it lives, and leaves its charts in it. One
that starts goes on with the charts of the first place that is free. Charts whose process died and
that nobody came for are taken over by one that lives. Without a shared store, charts end with the
process.
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
from judge_service.waiting import call_off
from judge_service.watch.desk import Desk
from judge_service.watch.keepsake import Keepsake
from judge_service.watch.names import without
from judge_service.watch.resets import Reset, Resets
from judge_service.watch.usual import Usual

log = logging.getLogger("judge_service.watch")
PREFIX = "jw:2:"
PROCESSES = 64
LIVES_S = 20.0
"""The place of a process that died is free after so long."""
EVERY_S = 5.0
KEPT_S = 30 * 86_400.0
WINDOWS_EVERY = 12
"""What is large is left once in so many times."""
RENEW_EVERY = 4_320
"""What is usual is renewed once in so many times: four times a day."""
ABANDONED = 6
"""Charts that nobody came for so many times in a row are taken over."""
Sleep = Callable[[float], Awaitable[None]]


@dataclass(slots=True)
class WatchBoard:
    """One process's place in the store. ``keepsakes``: what else goes over a restart."""

    store: Store
    secret: ServiceSecret
    desk: Desk
    alarms: Callable[[], list[dict[str, Any]]]
    keepsakes: dict[str, Keepsake] = field(default_factory=dict)
    sleep: Sleep = asyncio.sleep
    resets: Resets = field(init=False)
    _usual: Usual = field(init=False)
    _signer: Signer = field(init=False)
    _me: str = field(default_factory=lambda: secrets.token_hex(8))
    _place: int | None = None
    _left: dict[str, bytes] = field(default_factory=dict)
    _abandoned: dict[int, int] = field(default_factory=dict)
    _times: int = 0
    _task: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self._signer = Signer(self.secret, "watch board")
        self.resets = Resets(self.store, self._signer, self.desk.wall)
        self._usual = Usual(self.store, self._signer, self.desk, self.resets)

    async def follow(self) -> None:
        """Take a place, go on with the charts in it, and keep both from now on."""
        if not self.store.shared:
            return
        await self.resets.read()
        await self._take_place()
        await self._usual.share()
        await self._usual.share_names()
        self._task = asyncio.create_task(self._run())

    async def _take_place(self) -> None:
        for number in range(PROCESSES):
            mine = await self._hold(number)
            if mine is None:
                return  # the store cannot say just now
            if mine:
                self._place = number
                await self._take_over(number)
                windows = await self._read(_windows(number))
                if isinstance(windows, dict):
                    self._go_on(windows)
                return

    async def _hold(self, number: int) -> bool | None:
        return await self.store.hold(_lives(number), self._me, 1, LIVES_S)

    async def _take_over(self, number: int) -> None:
        state = await self._read(_state(number))
        if isinstance(state, dict) and isinstance(state.get("desk"), dict):
            self.desk.take_over(self._valid(state["desk"], state.get("as_of")))

    def _valid(self, desk: dict[str, Any], as_of: Any) -> dict[str, Any]:
        """A state without what was reset since it was left."""
        number = as_of if isinstance(as_of, int) else 0
        return without(desk, lambda *subject: self.resets.are_void(number, *subject))

    def _go_on(self, windows: dict[str, Any]) -> None:
        number = windows.pop("as_of", 0)
        desk = self._valid({"charts": windows.pop("failures", {})}, number)
        self.desk.take_windows(desk["charts"])
        for name, keepsake in self.keepsakes.items():
            try:
                keepsake.restore(
                    windows.get(name),
                    lambda *subject: self.resets.are_void(int(number), *subject),
                )
            except (ValueError, KeyError, TypeError, AttributeError):
                log.warning("what was kept of the %s is not in a form that is read here", name)

    async def _run(self) -> None:
        while True:
            await self.sleep(EVERY_S)
            try:
                await self._once()
            except Exception:
                # Charts go on without their place in the store.
                log.exception("the charts could not be left in the store")

    async def _once(self) -> None:
        await self.catch_up()
        if self._place is None:
            await self._take_place()
        elif await self._hold(self._place) is False:
            # Asleep for too long: somebody else has the place, and the charts in it.
            self._place = None
            await self._take_place()
        if self._place is None:
            return
        self._times += 1
        await self._look_after_others()
        await self._usual.share()
        await self._usual.share_names()
        if self._times % RENEW_EVERY == 0:
            await self._usual.renew()
            self._left.clear()  # a state that does not change is renewed, too
        await self.post(windows=self._times % WINDOWS_EVERY == 0)

    async def catch_up(self) -> None:
        """Follow the resets that came since the last time."""
        if self.store.shared:
            for reset in await self.resets.read():
                self.forget(reset)

    def forget(self, reset: Reset) -> None:
        """Begin anew here."""
        self.desk.reset(judge=reset.judge, rubric=reset.rubric)
        for keepsake in self.keepsakes.values():
            keepsake.forget(reset.judge, reset.rubric)

    async def post(self, *, windows: bool = False) -> None:
        """Leave the charts as they are now; ``windows``: what is large, too."""
        if self._place is None:
            return
        told = {"as_of": self.resets.seen, "desk": self.desk.state(), "alarms": self.alarms()}
        await self._leave(_state(self._place), told)
        if windows:
            large = {
                "as_of": self.resets.seen, "failures": self.desk.windows(),
                **{name: keepsake.state() for name, keepsake in self.keepsakes.items()},
            }  # fmt: skip
            await self._leave(_windows(self._place), large)

    async def _leave(self, key: str, told: dict[str, Any]) -> None:
        body = json.dumps(told, separators=(",", ":"), allow_nan=False).encode()
        if body == self._left.get(key):
            return
        if await self.store.put(key, self._signer.sign(key, body), KEPT_S):
            self._left[key] = body

    async def _states(self) -> dict[int, dict[str, Any]] | None:
        """What the other places hold, by number; None when the store cannot say."""
        numbers = {_state(n): n for n in range(PROCESSES) if n != self._place}
        found = await self.store.find(*numbers)
        if found is None:
            return None
        read = {numbers[key]: self._opened(key, data) for key, data in found.items()}
        return {number: state for number, state in read.items() if isinstance(state, dict)}

    async def _look_after_others(self) -> None:
        """Take over the charts of processes that died, once it is clear that nobody else does."""
        left = {}
        for number in await self._states() or {}:
            if await self.store.holders(_lives(number)) == []:
                left[number] = self._abandoned.get(number, 0) + 1
        self._abandoned = left
        for number in [number for number, times in left.items() if times >= ABANDONED]:
            if await self._hold(number):
                await self._take_over(number)
                await self.post()
                await self.store.delete(_state(number), _windows(number))
                await self.store.drop(_lives(number), self._me)

    async def others(self) -> tuple[int, list[dict[str, Any]]] | None:
        """How many other processes live, and the alarms in all other places, those of processes
        that died included; None when the store cannot say. (0, []) where nothing is shared.
        """
        if not self.store.shared:
            return 0, []
        states = await self._states()
        if states is None:
            return None
        living, found = 0, []
        for number, state in states.items():
            living += bool(await self.store.holders(_lives(number)))
            as_of = state.get("as_of", 0)
            alarms = [
                alarm
                for alarm in state.get("alarms", ())
                if not self.resets.are_void(as_of, alarm["judge"], alarm["rubric"])
            ]
            found.append({"alarms": alarms})
        return living, found

    async def _read(self, key: str) -> Any:
        data = await self.store.get(key)
        return None if data is None else self._opened(key, data)

    def _opened(self, key: str, data: bytes) -> Any:
        body = self._signer.check(key, data)
        with suppress(ValueError):  # another version's: as if there were none
            return None if body is None else json.loads(body)
        return None

    async def aclose(self) -> None:
        """Leave the charts, and the place free for the next process."""
        if self._task is None:
            return
        await call_off(self._task)
        await self._usual.share()
        await self._usual.share_names()
        await self.post(windows=True)
        if self._place is not None:
            await self.store.drop(_lives(self._place), self._me)


def _lives(number: int) -> str:
    return f"{PREFIX}lives:{number}"


def _state(number: int) -> str:
    return f"{PREFIX}state:{number}"


def _windows(number: int) -> str:
    return f"{PREFIX}windows:{number}"
