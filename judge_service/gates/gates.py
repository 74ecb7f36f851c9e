"""The gates of all judges, and what replicas tell each other about breakers.

When a judge's calls open its breaker here, a note in the store says until when; the others look for
it at most once a second while they call the judge. This process's own breaker decides; the note
only opens it earlier. Without a shared store there are no notes.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine
from typing import Any

from judge_service.events import BreakerChanged, Observer, nobody
from judge_service.gates.breaker import OPEN_S, SPREAD, WINDOW, Breaker
from judge_service.gates.claim import Claims, shared_name
from judge_service.gates.concurrency import AdaptiveLimit
from judge_service.gates.gate import Gate, GateHooks
from judge_service.gates.gate_state import GateState
from judge_service.gates.rate import WINDOW_S
from judge_service.gates.retry_budget import RetryBudget
from judge_service.judges.judge import JudgeSpec
from judge_service.settings import DEFAULT_MAX_QUEUE
from judge_service.storage.memory_store import MemoryStore
from judge_service.storage.store import Store

LOOK_S = 1.0
CLOSING_S = 1.0
NOTE_BYTES = 32


class Gates:
    """Makes and keeps each judge's gate. Belongs to one event loop.

    ``store`` carries what replicas share, ``workers`` processes divide the limits where it does
    not. ``max_queue`` calls may wait for a judge. ``clock`` never goes back, ``wall`` is the clock
    that replicas share, ``jitter`` draws from [0, 1).
    """

    def __init__(
        self,
        store: Store | None = None,
        *,
        max_queue: int = DEFAULT_MAX_QUEUE,
        workers: int = 1,
        observer: Observer = nobody,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        jitter: Callable[[], float] | None = None,
        open_s: float = OPEN_S,
        window_s: float = WINDOW_S,
        breaker_calls: int = WINDOW,
    ) -> None:
        self._store = MemoryStore() if store is None else store
        self._max_queue = max_queue
        self._workers = workers
        self._observer = observer
        self._clock = clock
        self._wall = wall
        self._jitter = jitter or secrets.SystemRandom().random
        self._open_s = open_s
        self._window_s = window_s
        self._breaker_calls = breaker_calls
        self._gates: dict[str, Gate] = {}
        self._looked: dict[str, float] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def of(self, judge: JudgeSpec) -> Gate:
        """The judge's gate. Asking for it also looks for the other replicas' note, now and then."""
        gate = self._gates.get(judge.id)
        if gate is None:
            gate = self._gates[judge.id] = self._made(judge)
        if self._store.shared:
            self._listen(gate)
        return gate

    def state(self, judge: JudgeSpec) -> GateState:
        """What a judge's gate is like now."""
        if judge.id not in self._gates:
            self._gates[judge.id] = self._made(judge)
        return self._gates[judge.id].state

    async def aclose(self) -> None:
        """Let what was begun in the background end, for a moment."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSING_S)

    def _made(self, judge: JudgeSpec) -> Gate:
        claims = Claims(
            judge, self._store, workers=self._workers, wall=self._wall, jitter=self._jitter,
            spawn=self._spawn, window_s=self._window_s,
        )  # fmt: skip
        breaker = Breaker(
            told=lambda state: self._observer(BreakerChanged(judge.id, state)),
            clock=self._clock,
            jitter=self._jitter,
            open_s=self._open_s,
            window=self._breaker_calls,
        )
        return Gate(
            judge,
            breaker=breaker,
            claims=claims,
            slots=AdaptiveLimit(judge.max_concurrency, clock=self._clock),
            retries=RetryBudget(workers=self._workers),
            max_queue=self._max_queue,
            hooks=GateHooks(
                spawn=self._spawn,
                opened=lambda for_s: self._publish(judge, for_s),
                observer=self._observer,
                clock=self._clock,
            ),
        )

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _publish(self, judge: JudgeSpec, for_s: float) -> None:
        if self._store.shared:
            until = f"{self._wall() + for_s:.3f}".encode()
            self._spawn(self._store.put(_note(judge), until, for_s))

    def _listen(self, gate: Gate) -> None:
        now = self._clock()
        if now - self._looked.get(gate.judge.id, now - LOOK_S) >= LOOK_S:
            self._looked[gate.judge.id] = now
            self._spawn(self._learn(gate))

    async def _learn(self, gate: Gate) -> None:
        note = await self._store.get(_note(gate.judge))
        for_s = _seconds(note, self._wall())
        if for_s > 0:
            # Whatever the note says, by mistake or malice: no longer than a breaker stays open.
            gate.trip(min(for_s, self._open_s * (1.0 + SPREAD)))


def _note(judge: JudgeSpec) -> str:
    return f"jb:1:{shared_name(judge)}"


def _seconds(note: bytes | None, now: float) -> float:
    """How long a note still holds; 0 for one that says nothing."""
    if note is None or len(note) > NOTE_BYTES or not note.replace(b".", b"", 1).isdigit():
        return 0.0
    return max(0.0, float(note) - now)
