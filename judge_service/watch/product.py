"""A correlation, one observation at a time.

The mean of the products of two standardised quantities is their correlation, so a chart of the
products is a chart of the correlation. Means and deviations follow slowly, so that a shift in one
of the quantities is not taken for one in how they hang together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

FOLLOW = 0.02
FIRST = 30
"""Observations before deviations are known well enough."""
FARTHEST = 3.0
_PLAIN = 1.0 / FOLLOW


class Following:
    """A mean and a variance that follow: plain ones at first, exponentially weighted later."""

    __slots__ = ("_mean", "_n", "_variance")

    def __init__(self) -> None:
        self._n = 0
        self._mean = self._variance = 0.0

    def zs(self, values: Sequence[float]) -> list[float | None]:
        """Values, in their order, against what came before each of them, in [-3, 3]; None where
        too little did or nothing varied.
        """
        n, mean, variance = self._n, self._mean, self._variance
        found: list[float | None] = []
        for value in values:
            away = value - mean
            if n >= FIRST and variance > 1e-12:
                z = away / math.sqrt(variance)
                found.append(-FARTHEST if z < -FARTHEST else FARTHEST if z > FARTHEST else z)
            else:
                found.append(None)
            n += 1
            share = 1.0 / n if n < _PLAIN else FOLLOW
            mean += share * away
            variance = (1.0 - share) * (variance + share * away * away)
        self._n, self._mean, self._variance = n, mean, variance
        return found


class Products:
    """The products of two quantities."""

    __slots__ = ("_first", "_second")

    def __init__(self) -> None:
        self._first, self._second = Following(), Following()

    def of(self, first: Sequence[float], second: Sequence[float]) -> list[float | None]:
        """The products of more pairs, in [-9, 9]; None while there is none."""
        pairs = zip(self._first.zs(first), self._second.zs(second), strict=True)
        return [None if a is None or b is None else a * b for a, b in pairs]
