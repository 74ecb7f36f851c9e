"""A time that passes only when everybody waits, a store that replicas share, and gates on both."""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from judge_service.deadline import Deadline
from judge_service.events import Event
from judge_service.gates.gate import Gate
from judge_service.gates.gates import Gates
from judge_service.gates.passage import Fate, Passage
from judge_service.judges.judge import JudgeSpec
from judge_service.storage.memory_store import MemoryStore
from judge_service.usage import Usage

T = TypeVar("T")
FAR_S = 3600.0


class _Jump(selectors.DefaultSelector):
    """Instead of waiting, sets the clock forward; sometimes a little less or more than asked."""

    def __init__(self, sloppy: random.Random | None) -> None:
        super().__init__()
        self.now = 1000.0
        self._sloppy = sloppy

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Whatever is ready, after a jump."""
        if timeout is None:
            raise AssertionError("everybody waits and nothing is going to happen")
        if timeout > 0 and self._sloppy is not None:
            timeout *= self._sloppy.choice((0.999, 1.0, 1.5))
        self.now += timeout
        return super().select(0)


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop whose time jumps to the next thing that is planned."""

    def __init__(self, sloppy: random.Random | None = None) -> None:
        self.jump = _Jump(sloppy)
        super().__init__(self.jump)

    def time(self) -> float:
        """The jumping clock."""
        return self.jump.now


def run(work: Coroutine[Any, Any, T], sloppy: random.Random | None = None) -> T:
    """Run a coroutine on a jumping loop; ``sloppy`` makes its timers early and late."""
    with asyncio.Runner(loop_factory=lambda: JumpingLoop(sloppy)) as runner:
        return runner.run(work)


def now() -> float:
    """The running loop's time."""
    return asyncio.get_running_loop().time()


def within(seconds: float = FAR_S) -> Deadline:
    """A deadline on the running loop's clock."""
    return Deadline.after(seconds, now)


class SharedStore(MemoryStore):
    """A memory store that stands for one that replicas share; it can be lost for a while.

    Every answer takes ``delay_s``.
    """

    def __init__(self, delay_s: float = 0.001) -> None:
        super().__init__(clock=now)
        self.lost = False
        self.delay_s = delay_s

    @property
    def shared(self) -> bool:
        """It is."""
        return True

    async def get(self, key: str) -> bytes | None:
        """The value, after a while."""
        await asyncio.sleep(self.delay_s)
        return None if self.lost else await super().get(key)

    async def put(self, key: str, value: bytes, ttl_s: float) -> bool:
        """Store, after a while."""
        await asyncio.sleep(self.delay_s)
        return not self.lost and await super().put(key, value, ttl_s)

    async def add(self, key: str, amount: int, ttl_s: float) -> int | None:
        """Count, after a while."""
        await asyncio.sleep(self.delay_s)
        return None if self.lost else await super().add(key, amount, ttl_s)

    async def hold(self, key: str, owner: str, limit: int, ttl_s: float) -> bool | None:
        """Take a place, after a while."""
        await asyncio.sleep(self.delay_s)
        return None if self.lost else await super().hold(key, owner, limit, ttl_s)

    async def drop(self, key: str, owner: str) -> None:
        """Give a place back, after a while."""
        await asyncio.sleep(self.delay_s)
        if not self.lost:
            await super().drop(key, owner)


class Crowd:
    """Counts who is with a judge at once, over all gates it is used for."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.order: list[int] = []

    async def visit(
        self,
        gate: Gate,
        number: int = 0,
        *,
        seconds: float = 1.0,
        fate: Fate = Fate.ANSWERED,
        deadline: Deadline | None = None,
        tokens: int = 10,
        usage: Usage | None = None,
        **more: bool,
    ) -> None:
        """One call that takes ``seconds`` and ends with ``fate``."""
        passage = await gate.enter(tokens=tokens, deadline=deadline or within(), **more)
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.order.append(number)
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            passage.leave(Fate.UNKNOWN)
            raise
        finally:
            self.inside -= 1
        passage.leave(fate, usage, seconds)


def spec(**fields: Any) -> JudgeSpec:
    """A judge with limits."""
    return JudgeSpec(id="judge-a", model="openai/judge-a", family="alpha", **fields)


def gates(store: MemoryStore | None = None, **more: Any) -> Gates:
    """Gates on the running loop's clock."""
    known: dict[str, Any] = {"clock": now, "wall": now, "jitter": lambda: 0.5}
    return Gates(store or MemoryStore(clock=now), **{**known, **more})


def entered(gate: Gate) -> Passage:
    """A passage that is to be had without waiting."""
    entering = gate.enter(tokens=10, deadline=within())
    try:
        entering.send(None)
    except StopIteration as stop:
        passage: Passage = stop.value
        return passage
    entering.close()
    raise AssertionError("the call had to wait")


def fail(gate: Gate, times: int = 20) -> None:
    """So many calls that end in transport failures."""
    for passage in [entered(gate) for _ in range(times)]:
        passage.leave(Fate.FAILED)


async def settled() -> None:
    """Let everything go on that can without time passing."""
    for _ in range(20):
        await asyncio.sleep(0)


class Events(list[Event]):
    """An observer that keeps what it is told."""

    def __call__(self, event: Event) -> None:
        """Keep it."""
        self.append(event)

    def of(self, kind: type[T]) -> list[T]:
        """The events of one kind."""
        return [event for event in self if isinstance(event, kind)]
