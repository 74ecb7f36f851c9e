"""One request's time: a fixed instant on the monotonic clock, passed down to every attempt."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

MIN_ATTEMPT_S = 10.0
"""An attempt may take half of what is left, but at least this long."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The instant ``at`` (seconds of ``clock``) by which the answer must be there."""

    at: float
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def after(cls, seconds: float, clock: Callable[[], float] = time.monotonic) -> Deadline:
        """The deadline ``seconds`` from now."""
        return cls(clock() + seconds, clock)

    def left(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at - self.clock())

    def attempt_s(self, configured: float | None) -> float:
        """How long the next attempt may take, in seconds: never past the deadline."""
        left = self.left()
        wanted = configured if configured is not None else max(MIN_ATTEMPT_S, left / 2)
        return min(wanted, left)
