"""A correlation, one observation at a time.

The mean of the products of two standardised quantities is their correlation, so a chart of the
products is a chart of the correlation. Means and deviations follow slowly, so that a shift in one
of the quantities is not taken for one in how they hang together.
"""

from __future__ import annotations

import math

FOLLOW = 0.02
FIRST = 30
"""Observations before deviations are known well enough."""
FARTHEST = 3.0


class Following:
    """A mean and a variance that follow: plain ones at first, exponentially weighted later."""

    __slots__ = ("_mean", "_n", "_variance")

    def __init__(self) -> None:
        self._n = 0
        self._mean = self._variance = 0.0

    def z(self, value: float) -> float | None:
        """``value`` against what came before it; None where too little did or nothing varied."""
        away = value - self._mean
        known = self._n >= FIRST and self._variance > 1e-12
        found = away / math.sqrt(self._variance) if known else None
        self._n += 1
        share = max(FOLLOW, 1.0 / self._n)
        self._mean += share * away
        self._variance = (1.0 - share) * (self._variance + share * away * away)
        return found


class Products:
    """The products of two quantities."""

    __slots__ = ("_first", "_second")

    def __init__(self) -> None:
        self._first, self._second = Following(), Following()

    def add(self, first: float, second: float) -> float | None:
        """The product of one more pair, in [-9, 9]; None while there is none."""
        a, b = self._first.z(first), self._second.z(second)
        if a is None or b is None:
            return None
        return _bounded(a) * _bounded(b)


def _bounded(z: float) -> float:
    return min(FARTHEST, max(-FARTHEST, z))
