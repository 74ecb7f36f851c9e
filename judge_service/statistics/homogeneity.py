"""Whether two labellings of the same items give their labels equally often."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from judge_service.statistics.agreement import Label, confusion
from judge_service.statistics.bootstrap import Bootstrap, Floats, weighted_mean
from judge_service.statistics.estimate import Estimate, TestResult


def mcnemar(
    first: Sequence[Label],
    second: Sequence[Label],
    *,
    categories: tuple[Label, Label],
    clusters: Sequence[Hashable] | None = None,
    draws: Bootstrap | None = None,
) -> TestResult | None:
    """McNemar's test (Psychometrika 12, 1947, 153) for two labels; None where nothing differs.

    The p-value is the exact one of the binomial distribution; the statistic is chi-squared without
    correction. The effect is the change in the share of ``categories[1]``, in [-1, 1].
    """
    table = confusion(first, second, categories)
    gained, lost = int(table[0, 1]), int(table[1, 0])
    if not gained + lost:
        return None
    from scipy import stats

    draws = draws or Bootstrap(len(first), clusters=clusters)
    return TestResult(
        name="McNemar (exact)",
        statistic=(gained - lost) ** 2 / (gained + lost),
        p_value=float(stats.binomtest(gained, gained + lost).pvalue),
        n=len(first),
        df=1,
        effect_name=f"change in the share of {categories[1]}",
        effect=_change(first, second, categories[1], draws),
        detail={"discordant": [gained, lost]},
    )


def stuart_maxwell(
    first: Sequence[Label],
    second: Sequence[Label],
    *,
    categories: Sequence[Label] | None = None,
    clusters: Sequence[Hashable] | None = None,
    draws: Bootstrap | None = None,
) -> TestResult | None:
    """Stuart and Maxwell's test of marginal homogeneity (Biometrika 42, 1955, 412; Br. J.
    Psychiatry 116, 1970, 651); None where nothing differs.

    With two labels it is McNemar's chi-squared. Labels that nobody uses do not count; the degrees
    of freedom are the rank of what is left. The effect is the label whose share changed most, and
    by how much, in [-1, 1].
    """
    categories = sorted({*first, *second}, key=str) if categories is None else list(categories)
    table = confusion(first, second, categories).astype(np.float64)
    change = table.sum(axis=0) - table.sum(axis=1)
    covariance = -(table + table.T)
    np.fill_diagonal(covariance, 0.0)
    np.fill_diagonal(covariance, -covariance.sum(axis=1))
    rank = int(np.linalg.matrix_rank(covariance)) if table.size else 0
    if not rank:
        return None
    from scipy import stats

    # The changes sum to nothing, so the full matrix is singular; its pseudo-inverse gives what any
    # choice of all labels but one would.
    statistic = float(change @ np.linalg.pinv(covariance, hermitian=True) @ change)
    most = categories[int(np.argmax(np.abs(change)))]
    draws = draws or Bootstrap(len(first), clusters=clusters)
    return TestResult(
        name="Stuart-Maxwell",
        statistic=max(0.0, statistic),
        p_value=float(stats.chi2.sf(max(0.0, statistic), rank)),
        n=len(first),
        df=rank,
        effect_name=f"change in the share of {most}",
        effect=_change(first, second, most, draws),
    )


def _change(
    first: Sequence[Label], second: Sequence[Label], label: Label, draws: Bootstrap
) -> Estimate | None:
    moved: Floats = np.array(
        [float(b == label) - float(a == label) for a, b in zip(first, second, strict=True)]
    )
    return draws.estimate(weighted_mean(moved))
