"""Simulated judges and the groups they see.

Candidates have a true quality q ~ N(0, 1). A judge that sees i first and j second has

    x = sharpness · (q_i - q_j) + position bias + a whim of the pair + noise of the call

and chooses i with a chance of 1 / (1 + exp(-x)). The five judges differ in sharpness, bias and
noise; the numbers are assumptions, not fitted to any model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
OVERCONFIDENCE = 4.0
CLOSE = 1.0
"""Up to which |x| a judge that knows ties calls a tie."""
GRADES = ((-2.0, 0.05), (-0.5, 0.27), (0.5, 0.5), (2.0, 0.73), (np.inf, 0.95))
"""Up to which x a five-level answer (A>>B … B>>A) is which, and what it is worth for the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedJudge:
    """``bias`` is mean and spread of the position bias over groups, ``whim`` the spread of a pair's
    lasting quirk, ``noise`` that of a single call; ``repeats`` gives the same answer each time.
    ``point`` is the lasting and the passing error of a point on a scale, ``listed`` the error and
    the pull of the place in a list.
    """

    sharpness: float
    bias: tuple[float, float]
    whim: float
    noise: float
    point: tuple[float, float]
    listed: tuple[float, float]
    repeats: bool = False


JUDGES = {
    "ordinary": SimulatedJudge(
        sharpness=2.0, bias=(0.5, 0.5), whim=0.7, noise=0.5, point=(0.5, 0.6), listed=(0.55, 0.4)
    ),
    "sharp": SimulatedJudge(
        sharpness=4.0, bias=(0.3, 0.3), whim=0.7, noise=0.5, point=(0.35, 0.35), listed=(0.35, 0.25)
    ),
    "biased": SimulatedJudge(
        sharpness=2.0, bias=(1.5, 1.0), whim=0.7, noise=0.5, point=(0.5, 0.6), listed=(0.55, 1.0)
    ),
    "temperature 0": SimulatedJudge(
        sharpness=3.0, bias=(1.0, 1.0), whim=1.5, noise=0.3, point=(0.8, 0.2), listed=(0.4, 0.5),
        repeats=True,
    ),
    "noisy": SimulatedJudge(
        sharpness=1.0, bias=(0.5, 0.5), whim=0.7, noise=0.7, point=(0.8, 1.0), listed=(0.9, 0.4)
    ),
}  # fmt: skip
_ORDINARY = JUDGES["ordinary"]
WORSE_LISTS = {
    "errors as assumed": _ORDINARY,
    "errors twice as large": replace(_ORDINARY, listed=(1.1, 0.4), point=(1.0, 0.6)),
    "errors three times as large": replace(_ORDINARY, listed=(1.65, 0.4), point=(1.5, 0.6)),
    "nothing but noise": replace(_ORDINARY, listed=(25.0, 0.4), point=(0.0, 0.6)),
}
"""The ordinary judge in pairs, whose lists are worse: passing and lasting errors alike."""


class Group:
    """One group of candidates in front of one judge."""

    def __init__(self, judge: SimulatedJudge, size: int, draw: np.random.Generator) -> None:
        self.size = size
        self.judge = judge
        self.draw = draw
        self.quality = draw.normal(size=size)
        self._bias = draw.normal(*judge.bias)
        whim = np.triu(draw.normal(0.0, judge.whim, (size, size)), 1)
        self._whim = whim - whim.T
        self._lasting = draw.normal(0.0, judge.point[0], size)
        self._in_lists = draw.normal(0.0, judge.point[0] * 0.7, size)

    def first_wins(self, first: int, second: int) -> bool:
        """One call: whether the one shown first is chosen."""
        return self._decided(first, second) > 0

    def odds(self, first: int, second: int, *, overconfident: bool) -> float:
        """One call: the probability of the first, as the judge's tokens tell it."""
        x = self._felt(first, second)
        if overconfident:
            return float(np.clip(_logistic(OVERCONFIDENCE * x), 0.01, 0.99))
        return _logistic(x)

    def grade(self, first: int, second: int) -> float:
        """One call: a five-level answer, with the noise of a choice."""
        x = self._decided(first, second)
        return next(worth for limit, worth in GRADES if x < limit)

    def choice(self, first: int, second: int) -> str:
        """One call: a choice of a judge that calls what is close a tie."""
        x = self._decided(first, second)
        return "tie" if abs(x) < CLOSE else "candidate_1" if x > 0 else "candidate_2"

    def points(self, *, rounded: bool = True) -> Floats:
        """One point from 1 to 5 for each; judges are a little lenient. Not ``rounded`` it is the
        expected score of a judge that hesitates between two points.
        """
        felt = self.quality + self._lasting + self.draw.normal(0, self.judge.point[1], self.size)
        points: Floats = np.clip(np.rint(3.3 + felt) if rounded else 3.3 + felt, 1, 5)
        return points

    def listed(self, order: list[int]) -> Floats:
        """The points from one list, by member."""
        error, pull = self.judge.listed
        place = np.empty(self.size)
        place[order] = np.linspace(-1.0, 1.0, self.size)
        felt = self.quality + self._in_lists - pull * place
        felt += self.draw.normal(0.0, error * np.sqrt(1 + self.size / 8), self.size)
        points: Floats = np.clip(np.rint(3.3 + felt), 1, 5)
        return points

    def _decided(self, first: int, second: int) -> float:
        """What the choice is made of, with its chance in it: above 0 the first is chosen."""
        x = self._felt(first, second)
        if self.judge.repeats:
            return x
        chance = self.draw.random()
        return x + float(np.log(chance / (1.0 - chance)))

    def _felt(self, first: int, second: int) -> float:
        return float(
            self.judge.sharpness * (self.quality[first] - self.quality[second])
            + self._bias
            + self._whim[first, second]
            + self.draw.normal(0.0, self.judge.noise)
        )


def tau(rewards: Floats, quality: Floats) -> float:
    """Kendall's tau-a of two rankings: a pair of equal rewards counts as nothing."""
    upper = np.triu_indices(len(quality), 1)
    signs = [np.sign(v[:, None] - v[None, :])[upper] for v in (rewards, quality)]
    return float((signs[0] * signs[1]).mean())


def mean_tau(
    judge: SimulatedJudge, size: int, way: Callable[[Group], Floats], *, groups: int, seed: int
) -> float:
    """The mean over groups, which are the same for every way."""
    draws = np.random.default_rng([seed, size]).integers(2**63, size=groups)
    values = []
    for draw in draws:
        group = Group(judge, size, np.random.default_rng(draw))
        values.append(tau(way(group), group.quality))
    return float(np.mean(values))


def _logistic(x: float) -> float:
    return float(0.5 * (1.0 + np.tanh(0.5 * x)))
