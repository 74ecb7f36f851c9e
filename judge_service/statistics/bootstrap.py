"""The bootstrap: seeded weights of items, and intervals from what statistics make of them.

A replicate is a weight for every item: how often it was drawn with replacement (Efron, Ann.
Statist. 7, 1979, 1). Statistics take weights of shape (replicates, items), so that one set of
draws serves them all; what is computed from the same ``Bootstrap`` is paired.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from judge_service.statistics.estimate import Estimate, Interval, estimate

Floats = npt.NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Takes weights of shape (replicates, items), gives (replicates,); NaN where it has no meaning."""

DRAWS = 2000
SEED = 20_260_101
MIN_MEANINGFUL = 0.9
"""An interval is given only when the statistic has a meaning in this share of the replicates."""
_CHUNK = 4_000_000
"""How many weights are held at a time."""


class Bootstrap:
    """Resamples ``n`` items; the same arguments always give the same draws.

    ``clusters`` names for every item what it hangs together with (the prompt it shares, say);
    whole clusters are drawn then, and intervals are as wide as the dependence asks for.
    """

    def __init__(
        self,
        n: int,
        *,
        clusters: Sequence[Hashable] | None = None,
        draws: int = DRAWS,
        seed: int = SEED,
    ) -> None:
        if clusters is not None and len(clusters) != n:
            raise ValueError(f"{len(clusters)} cluster names for {n} items")
        self.n = n
        self.draws = draws
        self.seed = seed
        numbers: dict[Hashable, int] = {}
        of = range(n) if clusters is None else clusters
        self._cluster = np.array([numbers.setdefault(c, len(numbers)) for c in of], dtype=np.intp)
        self.clusters = len(numbers)
        self._kept: Floats | None = None

    def replicates(self, statistic: Statistic) -> Floats:
        """The statistic of every replicate, shape (draws,); the same draws at every call."""
        if not self.n:
            return np.full(self.draws, np.nan)
        return np.concatenate([statistic(weights) for weights in self._weights()])

    def _weights(self) -> Iterator[Floats]:
        """The weights of all replicates, a chunk at a time; kept where they are one chunk."""
        if self._kept is not None:
            yield self._kept
            return
        rng = np.random.default_rng(self.seed)
        step = max(1, _CHUNK // self.n)
        chances = np.full(self.clusters, 1.0 / self.clusters)
        for start in range(0, self.draws, step):
            size = min(step, self.draws - start)
            drawn = rng.multinomial(self.clusters, chances, size=size)
            weights: Floats = drawn[:, self._cluster].astype(np.float64)
            if size == self.draws:
                self._kept = weights
            yield weights

    def interval(self, statistic: Statistic) -> Interval | None:
        """The 95 % percentile interval; None with fewer than two clusters, or where the statistic
        has no meaning in too many replicates.
        """
        return None if self.clusters < 2 else percentile_interval(self.replicates(statistic))

    def estimate(self, statistic: Statistic) -> Estimate | None:
        """The statistic of the items as they are, with its interval; None without a meaning."""
        if not self.n:
            return None
        value = float(statistic(np.ones((1, self.n)))[0])
        return estimate(value, self.interval(statistic) if np.isfinite(value) else None)


def percentile_interval(replicates: Floats, level: float = 0.95) -> Interval | None:
    """The middle ``level`` of the replicates that have a meaning; None when too few have."""
    good = replicates[np.isfinite(replicates)]
    if len(good) < MIN_MEANINGFUL * len(replicates) or not len(good):
        return None
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(good, [tail, 1.0 - tail])
    return float(low), float(high)


def upper_bound(replicates: Floats, level: float = 0.95) -> float | None:
    """The one-sided upper confidence bound of the replicated statistic; None when too few have a
    meaning.
    """
    good = replicates[np.isfinite(replicates)]
    if len(good) < MIN_MEANINGFUL * len(replicates) or not len(good):
        return None
    return float(np.quantile(good, level))


def weighted_mean(values: npt.ArrayLike) -> Statistic:
    """The mean of ``values``, as a statistic."""
    column = np.asarray(values, dtype=np.float64)

    def mean(weights: Floats) -> Floats:
        return divide(weights @ column, weights.sum(axis=1))

    return mean


def ratio(above: npt.ArrayLike, below: npt.ArrayLike) -> Statistic:
    """Sum of ``above`` over sum of ``below``, as a statistic: a share over items of unlike size."""
    top = np.asarray(above, dtype=np.float64)
    base = np.asarray(below, dtype=np.float64)

    def share(weights: Floats) -> Floats:
        return divide(weights @ top, weights @ base)

    return share


def divide(above: Floats, below: Floats) -> Floats:
    """Element by element; NaN where the divisor is (numerically) nothing."""
    nothing = np.abs(below) < 1e-12
    return np.where(nothing, np.nan, above / np.where(nothing, 1.0, below))
