"""Time: one deadline for a whole call, and how long to wait before the next try."""

from __future__ import annotations

import random
import time

FIRST_WAIT_S = 0.25
LONGEST_WAIT_S = 10.0
MAX_GRANTED_S = 600.0
"""The longest time the service grants one request."""


class Deadline:
    """The end of a call."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def left(self) -> float:
        """The seconds left, negative when there are none."""
        return self._until - time.monotonic()


def service_time(left: float) -> float:
    """What the service gets of the time that is left, so that its answer is here before the end."""
    return left - min(0.75, 0.2 * left)


def wait_before(retry: int, told: float | None) -> float:
    """Seconds to wait before retry number ``retry`` (from 0): full jitter over a doubling bound, or
    what the service told and a little of the same jitter, so that not all come back at once.
    """
    bound = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(retry, 30))
    jitter = random.uniform(0.0, bound)  # noqa: S311 - jitter, no secret
    return jitter if told is None else told + min(jitter, 1.0)
