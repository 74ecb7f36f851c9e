"""Roberts' exponentially weighted moving average of a mean."""

from __future__ import annotations

import math


class Ewma:
    """Roberts' chart (Technometrics 1, 1959, 239) of standardised observations.

    ``value = (1 - smoothing) value + smoothing z``; an alarm where it is further from zero than
    ``limit`` of its own deviations, ``sqrt(smoothing / (2 - smoothing))`` each, which is what they
    are in the long run (Lucas and Saccucci, Technometrics 32, 1990, 1).
    """

    __slots__ = ("bound", "limit", "smoothing", "value")

    def __init__(self, smoothing: float, limit: float) -> None:
        self.smoothing = smoothing
        self.limit = limit
        self.bound = limit * math.sqrt(smoothing / (2.0 - smoothing))
        self.value = 0.0

    def add(self, z: float) -> None:
        """One more observation."""
        self.value += self.smoothing * (z - self.value)

    @property
    def beyond(self) -> bool:
        """Whether the average has passed its limit."""
        return abs(self.value) > self.bound

    @property
    def at_rest(self) -> bool:
        """Whether it is back, well inside."""
        return abs(self.value) <= self.bound / 2.0

    def reset(self) -> None:
        """Begin anew."""
        self.value = 0.0
