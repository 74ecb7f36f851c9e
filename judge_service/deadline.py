"""One request's time: a fixed instant on the monotonic clock, passed down to every attempt."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from judge_service.errors import DeadlineExceeded

T = TypeVar("T")
# Few threads, as they take the interpreter from everybody else, and of their own, so that a queue
# of long texts does not stand before the judges' requests. Two queues: whom to ask about is found
# out in one, asking is prepared in the other, so that what has begun comes to its end first.
_LOOKING = ThreadPoolExecutor(max_workers=1, thread_name_prefix="long-text-looking")
_ASKING = ThreadPoolExecutor(max_workers=1, thread_name_prefix="long-text-asking")

MIN_ATTEMPT_S = 10.0
"""An attempt may take half of what is left, but at least this long."""


def beside(work: Callable[[], T], *, looking: bool = False) -> asyncio.Future[T]:
    """``work`` on a long text, done in a thread beside the event loop. ``looking`` is for the first
    work on a candidate, which waits only for its like.
    """
    return asyncio.get_running_loop().run_in_executor(_LOOKING if looking else _ASKING, work)


@dataclass(slots=True)
class Deadline:
    """The instant ``at`` (seconds of ``clock``) by which the answer must be there.

    It only moves where several requests wait for one verdict: to the latest of theirs.
    """

    at: float
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def after(cls, seconds: float, clock: Callable[[], float] = time.monotonic) -> Deadline:
        """The deadline ``seconds`` from now."""
        return cls(clock() + seconds, clock)

    def left(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at - self.clock())

    def copy(self) -> Deadline:
        """One that can be moved without moving this."""
        return Deadline(self.at, self.clock)

    def extend_to(self, other: Deadline) -> None:
        """Move to ``other`` if that is later."""
        self.at = max(self.at, other.at)

    def attempt_s(self, configured: float | None) -> float:
        """How long the next attempt may take as things are, in seconds: never past the deadline."""
        return min(self.patience_s(configured), self.left())

    def patience_s(self, configured: float | None) -> float:
        """How long the next attempt would be waited for if the deadline were far."""
        return configured if configured is not None else max(MIN_ATTEMPT_S, self.left() / 2)

    async def in_thread(self, work: Callable[[], T], what: str, *, looking: bool = False) -> T:
        """Run ``work`` on a long text ``beside`` the loop, so that it does not hold up others.

        Raises DeadlineExceeded when the time is up first; ``what`` says what was going on. Work
        that has begun then ends by itself, its result is not used.
        """
        try:
            return await asyncio.wait_for(beside(work, looking=looking), self.left())
        except TimeoutError:
            raise DeadlineExceeded(f"the request's time was up while {what}") from None
