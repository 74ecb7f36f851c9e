"""Whether numbers moved between two labellings of the same items, and how far."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from judge_service.statistics.bootstrap import Bootstrap, Floats, divide, weighted_mean
from judge_service.statistics.estimate import Estimate, TestResult

MAX_EXACT = 400
"""Up to so many differing pairs the signed-rank test is exact."""


def mean_shift(
    first: Sequence[float],
    second: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    draws: Bootstrap | None = None,
) -> Estimate | None:
    """Mean of ``second`` minus mean of ``first`` over the same items, in their unit, bootstrapped;
    None without an item.
    """
    differences = [b - a for a, b in zip(first, second, strict=True)]
    draws = draws or Bootstrap(len(differences), clusters=clusters)
    return draws.estimate(weighted_mean(differences))


def mean(
    values: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    draws: Bootstrap | None = None,
) -> Estimate | None:
    """A mean with a bootstrapped interval; None without an item."""
    draws = draws or Bootstrap(len(values), clusters=clusters)
    return draws.estimate(weighted_mean(values))


def wilcoxon(
    first: Sequence[float],
    second: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    draws: Bootstrap | None = None,
) -> TestResult | None:
    """Wilcoxon's signed-rank test (Biometrics Bulletin 1, 1945, 80) that ``second`` is neither
    higher nor lower; None where nothing differs.

    Equal pairs are left out. The p-value is exact for up to 400 differing pairs, ties included:
    over all ways the signs could have fallen. Points tie often, and the usual normal approximation
    rejects too easily then. The effect is the matched-pairs rank-biserial correlation in [-1, 1]:
    the share of rank sums for a rise minus the one for a fall (Kerby, Compr. Psychol. 3, 2014).
    """
    moved = np.array([b - a for a, b in zip(first, second, strict=True)], dtype=np.float64)
    if not moved.any():
        return None
    from scipy import stats

    differing = moved[moved != 0.0]
    own = stats.rankdata(np.abs(differing))
    up, down = float(own[differing > 0].sum()), float(own[differing < 0].sum())
    p_value = (
        _exact_p(own, up)
        if len(differing) <= MAX_EXACT
        else float(stats.wilcoxon(differing, zero_method="wilcox", correction=True).pvalue)
    )
    ranks = np.zeros(len(moved))
    ranks[moved != 0.0] = own
    draws = draws or Bootstrap(len(moved), clusters=clusters)
    return TestResult(
        name="Wilcoxon signed-rank",
        statistic=min(up, down),
        p_value=p_value,
        n=len(moved),
        effect_name="rank-biserial correlation",
        effect=draws.estimate(lambda weights: _biserial(weights, moved, ranks)),
        detail={"differing": len(differing)},
    )


def _exact_p(ranks: Floats, up: float) -> float:
    """Two-sided: twice the chance of a rank sum at least as far from the middle on its side."""
    doubled = np.rint(2.0 * ranks).astype(np.int64)  # mean ranks are halves
    chances = np.zeros(int(doubled.sum()) + 1)
    chances[0] = 1.0
    for rank in doubled:
        kept = chances.copy()
        chances[rank:] += kept[:-rank]
        chances /= 2.0
    place = round(2.0 * up)
    tail = min(chances[: place + 1].sum(), chances[place:].sum())
    return float(min(1.0, 2.0 * tail))


def _biserial(weights: Floats, moved: Floats, ranks: Floats) -> Floats:
    """Ranks stay those of the sample: a replicate reweighs them."""
    return divide(weights @ (ranks * np.sign(moved)), weights @ ranks)
