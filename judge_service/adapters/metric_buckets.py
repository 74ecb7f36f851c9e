"""What a histogram holds under some labels, counted in a plain list.

The client's own takes a lock for each step. Where several processes share their figures, it is
needed all the same: it writes to the processes' files.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate


class Buckets:
    """How many values lie up to each of the ``bounds``, and the sum of all.

    May be read while another thread counts.
    """

    __slots__ = ("_bounds", "_counts")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        # By bucket, the last one without a bound; then the sum.
        self._counts = [0.0] * (len(bounds) + 2)

    def add(self, value: float) -> None:
        """Count one value, which must be finite."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._counts[-1] += value

    def read(self) -> tuple[tuple[float, ...], float]:
        """How many values lie up to each bound, at last without a bound; and the sum."""
        *counts, total = self._counts.copy()
        return tuple(accumulate(counts)), total
