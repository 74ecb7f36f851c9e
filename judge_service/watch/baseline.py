"""What was so when watching began: mean and deviation of the first observations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """Mean and standard deviation over ``n`` observations; ``n`` is 0 where both are known before
    anything is observed.
    """

    mean: float
    sd: float
    n: int

    def z(self, value: float) -> float:
        """A value in deviations from the mean."""
        return (value - self.mean) / self.sd


class Learning:
    """A baseline in the making (Welford, Technometrics 4, 1962, 419)."""

    __slots__ = ("_mean", "_squares", "n")

    def __init__(self, n: int = 0, mean: float = 0.0, squares: float = 0.0) -> None:
        self.n, self._mean, self._squares = n, mean, squares

    def add(self, value: float) -> None:
        """One more observation."""
        self.n += 1
        away = value - self._mean
        self._mean += away / self.n
        self._squares += away * (value - self._mean)

    def done(self, least_sd: float) -> Baseline:
        """The baseline of what was observed, at least two of them.

        A deviation below ``least_sd`` is taken to be that: a judge that was always of one mind may
        change it once without being another judge.
        """
        sd = math.sqrt(self._squares / (self.n - 1))
        return Baseline(mean=self._mean, sd=max(sd, least_sd), n=self.n)

    def state(self) -> list[float]:
        """What ``Learning`` takes."""
        return [self.n, self._mean, self._squares]


def number_of(told: Any) -> float:
    """A number that was kept. Raises ValueError or TypeError for what is none."""
    number = float(told)
    if not math.isfinite(number):
        raise ValueError("not a number")
    return number


def baseline_of(told: Any) -> Baseline:
    """A baseline that was kept as a list. Raises ValueError or TypeError for what is none."""
    mean, sd, n = map(number_of, told)
    if sd <= 0.0:
        raise ValueError("a baseline without deviation")
    return Baseline(mean=mean, sd=sd, n=int(n))
