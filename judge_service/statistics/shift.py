"""Whether numbers moved between two labellings of the same items, and how far."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from judge_service.statistics.bootstrap import Bootstrap, Floats, divide, weighted_mean
from judge_service.statistics.estimate import Estimate, TestResult


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

    Equal pairs are left out. The effect is the matched-pairs rank-biserial correlation in [-1, 1]:
    the share of rank sums for a rise minus the one for a fall (Kerby, Compr. Psychol. 3, 2014).
    """
    moved = np.array([b - a for a, b in zip(first, second, strict=True)], dtype=np.float64)
    if not moved.any():
        return None
    from scipy import stats

    differing = moved[moved != 0.0]
    found = stats.wilcoxon(differing, zero_method="wilcox", correction=False)
    if not math.isfinite(found.pvalue):
        return None
    ranks = np.zeros(len(moved))
    ranks[moved != 0.0] = stats.rankdata(np.abs(differing))
    draws = draws or Bootstrap(len(moved), clusters=clusters)
    return TestResult(
        name="Wilcoxon signed-rank",
        statistic=float(found.statistic),
        p_value=float(found.pvalue),
        n=len(moved),
        effect_name="rank-biserial correlation",
        effect=draws.estimate(lambda weights: _biserial(weights, moved, ranks)),
        detail={"differing": len(differing)},
    )


def _biserial(weights: Floats, moved: Floats, ranks: Floats) -> Floats:
    """Ranks stay those of the sample: a replicate reweighs them."""
    return divide(weights @ (ranks * np.sign(moved)), weights @ ranks)
