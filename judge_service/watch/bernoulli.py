"""The cumulative sum of a share: of failures among outcomes."""

from __future__ import annotations

import math

from judge_service.statistics.interval import wilson
from judge_service.watch.cusum import CAP

LEAST_RISE = 0.05
"""A rise that is looked for: to twice the share, and by this at least."""


class ShareCusum:
    """Reynolds and Stoumbos' Bernoulli CUSUM (Journal of Quality Technology 31, 1999, 87).

    In units of one case: a case adds ``1 - r``, anything else takes ``r`` away, never below zero;
    an alarm above ``h``. It tells the share of the baseline from one that has risen as described
    above. What is no case is counted by its number only, so that it costs nothing.
    """

    __slots__ = ("_seen", "before", "began", "h", "r", "value")

    def __init__(self, cases: int, n: int, run_length: float) -> None:
        """``cases`` of ``n`` outcomes in the baseline. ``run_length`` outcomes pass on average
        until a false alarm, also where the share is that of the upper end of its 95 % interval
        (``before``).
        """
        before = self.before = min(wilson(cases / n, n)[1], 0.9)
        after = min(before + max(before, LEAST_RISE), 0.5 + before / 2.0)
        down = -math.log((1.0 - after) / (1.0 - before))
        up = math.log(after * (1.0 - before) / (before * (1.0 - after)))
        self.r = down / up
        self.h = _limit(before, down, up, run_length)
        self.value = 0.0
        self.began = 0
        self._seen = n

    def case(self, number: int) -> None:
        """Outcome ``number`` (they are counted from 1) is a case."""
        left = self.level(number - 1)
        if left == 0.0:
            self.began = number
        self.value = min(max(0.0, left + 1.0 - self.r), CAP * self.h)
        self._seen = number

    def level(self, number: int) -> float:
        """The sum after outcome ``number`` when there was no case since the last one."""
        return max(0.0, self.value - self.r * max(0, number - self._seen))

    def state(self) -> list[float]:
        """What ``restore`` takes."""
        return [self.value, self.began, self._seen]

    def restore(self, value: float, began: float, seen: float) -> None:
        """Go on where another process has stopped."""
        self.value = min(max(0.0, value), CAP * self.h)
        self.began, self._seen = int(began), int(seen)


def _limit(before: float, down: float, up: float, run_length: float) -> float:
    """The limit, by the corrected diffusion of the paper: that of a continuous sum, less what a sum
    that moves in steps passes it by.
    """
    # The run length of a limit x in log likelihoods is (exp(x) - x - 1) / |up · before - down|.
    wanted = run_length * abs(up * before - down)
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2.0
        if math.expm1(middle) - middle < wanted:
            low = middle
        else:
            high = middle
    return max(1.0, high / up - _overshoot(before) * math.sqrt(before * (1.0 - before)))


def _overshoot(p: float) -> float:
    """The paper's fitted correction, for shares of 0.01 to 0.5."""
    x = math.log(min(max(p, 0.01), 0.5))
    return 0.410 - 0.0842 * x - 0.0391 * x**2 - 0.00376 * x**3 - 0.000008 * x**7
