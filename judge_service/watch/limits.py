"""The limits of all charts, made from the run length that an operator wants."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

SMOOTHING = 0.05
"""Of the EWMA: some forty observations count."""
CHARTS = 2
"""Each statistic has a CUSUM and an EWMA, and either may raise a false alarm."""
_SEARCHED: dict[tuple[float, float, int], tuple[float, float]] = {
    (20_000, 0.5, 0): (17.259254168951884, 4.00177341082599),
    (20_000, 0.5, 500): (22.617210923926905, 4.380084023927338),
}
"""Limits of CUSUM and EWMA by run length, shift and size of the baseline, as ``arl`` finds them for
the defaults. The search takes a while.
"""


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
            searched = _SEARCHED.get((self.run_length, self.shift, n))
            h, ewma = searched or limits_of(self.run_length, self.shift, n)
            k = self.shift / 2.0
            found = self._known[n] = Limit(k=k, h=h, ewma=ewma, run_length=self.run_length)
        return found


def limits_of(run_length: float, shift: float, n: int) -> tuple[float, float]:
    """The limits of CUSUM and EWMA for a baseline of ``n`` observations."""
    from judge_service.watch.arl import cusum_limit, ewma_limit

    k = shift / 2.0
    wrong = min(2.0 / math.sqrt(n), k / 2.0) if n else 0.0
    each = CHARTS * run_length
    return cusum_limit(k, each, wrong), ewma_limit(SMOOTHING, each, wrong)
