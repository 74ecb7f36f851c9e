"""Where one value stands among others: whether failures are a random part of the data.

Under chance alone the rank of a failed sample among judged ones is even on [0, 1], so a chart of
these ranks has a baseline that needs no learning. Their mean is the Mann-Whitney statistic (Ann.
Math. Stat. 18, 1947, 50) by the number of pairs.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from judge_service.watch.baseline import Baseline, number_of

EVEN = Baseline(mean=0.5, sd=math.sqrt(1.0 / 12.0), n=0)
"""What ranks are like under chance alone."""
AMONG = 500
"""Judged samples that a failed one is compared with, the latest ones."""
LEAST = 50
"""With fewer of them nothing is compared."""
SHOWN = 200
"""Failed samples that the figures are made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankFigures:
    """Of the last ``n`` failed samples: the rank-biserial correlation in [-1, 1] (above zero where
    theirs are the larger values), and z and two-sided p-value of their mean rank.
    """

    n: int
    rank_biserial: float
    z: float
    p_value: float

    def wire(self) -> dict[str, Any]:
        """JSON."""
        return {
            "failed": self.n, "rank_biserial": self.rank_biserial,
            "z": self.z, "p_value": self.p_value,
        }  # fmt: skip


class Ranks:
    """The values of judged samples, and where those of failed ones stand among them."""

    __slots__ = ("_judged", "_ranks", "judged")

    def __init__(self) -> None:
        self._judged: deque[float] = deque(maxlen=AMONG)
        self._ranks: deque[float] = deque(maxlen=SHOWN)
        self.judged: Callable[[float], None] = self._judged.append
        """Takes note of a sample that was judged."""

    def failed(self, value: float) -> float | None:
        """The rank in [0, 1] of one that failed, the middle one of equals; None among too few.

        Failures are few, so they do the counting and judged samples cost next to nothing.
        """
        n, value = len(self._judged), float(value)
        if n < LEAST:
            return None
        below, equal = sum(map(value.__gt__, self._judged)), self._judged.count(value)
        rank = (below + (equal + 1) / 2.0) / (n + 1)
        self._ranks.append(rank)
        return rank

    def figures(self) -> RankFigures | None:
        """Of the last failed samples; None without any."""
        n = len(self._ranks)
        if not n:
            return None
        away = sum(self._ranks) / n - EVEN.mean
        z = away / EVEN.sd * math.sqrt(n)
        return RankFigures(
            n=n, rank_biserial=2.0 * away, z=z, p_value=math.erfc(abs(z) / math.sqrt(2.0))
        )

    def state(self) -> list[list[float]]:
        """What ``restore`` takes."""
        return [[round(value, 4) for value in values] for values in (self._judged, self._ranks)]

    def restore(self, state: Any) -> None:
        """Go on where another process has stopped. Raises ValueError or TypeError."""
        judged, ranks = ([number_of(value) for value in values] for values in state)
        self._judged.extend(judged)
        self._ranks.extend(ranks)
