"""The limits of all charts, made from the run length that an operator wants."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from judge_service.watch.arl import cusum_limit, ewma_limit

SMOOTHING = 0.05
"""Of the EWMA: some forty observations count."""
CHARTS = 2
"""Each statistic has a CUSUM and an EWMA, and either may raise a false alarm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """Limits of a CUSUM with reference value ``k`` and of an EWMA, and what they are made for.

    ``run_length`` is the mean number of observations until either raises a false alarm.
    """

    k: float
    h: float
    ewma: float
    run_length: float


@dataclass(slots=True, kw_only=True)
class Limits:
    """Limits by size of the baseline. ``shift`` is looked for, in deviations.

    A mean learnt from ``n`` observations is wrong by 1/sqrt(n) deviations or so, and a chart takes
    that for a shift. The run length is kept even where it is wrong by twice that; for fewer than
    ``64 / shift²`` observations only by a quarter of the shift, or a chart would be blind to what
    it is there for.
    """

    run_length: float
    shift: float
    _known: dict[int, Limit] = field(default_factory=dict)

    def of(self, n: int) -> Limit:
        """Those for a baseline of ``n`` observations; 0 is a baseline known beforehand."""
        found = self._known.get(n)
        if found is None:
            k = self.shift / 2.0
            wrong = min(2.0 / math.sqrt(n), k / 2.0) if n else 0.0
            each = CHARTS * self.run_length
            found = self._known[n] = Limit(
                k=k,
                h=cusum_limit(k, each, wrong),
                ewma=ewma_limit(SMOOTHING, each, wrong),
                run_length=self.run_length,
            )
        return found
