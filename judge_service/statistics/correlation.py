"""Correlation of two columns of numbers over the same items."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from judge_service.statistics.bootstrap import Bootstrap, Floats, Statistic, divide
from judge_service.statistics.estimate import Estimate, estimate

Kind = Literal["spearman", "kendall", "pearson"]
MAX_KENDALL_CELLS = 2_000
"""Kendall's interval needs every pair of distinct points; above this there is none."""


def spearman(
    x: Sequence[float], y: Sequence[float], *, clusters: Sequence[Hashable] | None = None,
    draws: Bootstrap | None = None,
) -> Estimate | None:  # fmt: skip
    """Spearman's rho with mean ranks for ties, in [-1, 1]; None with fewer than two items or a
    column that never changes.
    """
    return _correlation("spearman", x, y, clusters, draws)


def kendall(
    x: Sequence[float], y: Sequence[float], *, clusters: Sequence[Hashable] | None = None,
    draws: Bootstrap | None = None,
) -> Estimate | None:  # fmt: skip
    """Kendall's tau-b, in the same way."""
    return _correlation("kendall", x, y, clusters, draws)


def pearson(
    x: Sequence[float], y: Sequence[float], *, clusters: Sequence[Hashable] | None = None,
    draws: Bootstrap | None = None,
) -> Estimate | None:  # fmt: skip
    """Pearson's r, in the same way."""
    return _correlation("pearson", x, y, clusters, draws)


def _correlation(
    kind: Kind,
    x: Sequence[float],
    y: Sequence[float],
    clusters: Sequence[Hashable] | None,
    draws: Bootstrap | None,
) -> Estimate | None:
    first, second = _column(x), _column(y)
    if len(first) != len(second):
        raise ValueError(f"{len(first)} numbers beside {len(second)}")
    if len(first) < 2 or np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        return None
    draws = draws or Bootstrap(len(first), clusters=clusters)
    return estimate(_value(kind, first, second), draws.interval(correlation_of(kind, x, y)))


def _value(kind: Kind, x: Floats, y: Floats) -> float:
    from scipy import stats

    compute = {"spearman": stats.spearmanr, "kendall": stats.kendalltau, "pearson": stats.pearsonr}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a nearly constant column: the value is NaN and says so
        return float(compute[kind](x, y).statistic)


def correlation_of(kind: Kind, x: Sequence[float], y: Sequence[float]) -> Statistic:
    """A correlation as a statistic of weights."""
    first, second = _column(x), _column(y)
    if kind == "pearson":
        return lambda weights: _pearson(weights, first, second)
    if kind == "spearman":
        rank_x, rank_y = _Ranks(first), _Ranks(second)
        return lambda weights: _pearson(weights, rank_x(weights), rank_y(weights))
    return _kendall_of(first, second)


def _pearson(weights: Floats, x: Floats, y: Floats) -> Floats:
    """Weighted correlation by row; ``x`` and ``y`` are (items,) or (replicates, items)."""
    total = weights.sum(axis=1, keepdims=True)
    dx = x - (weights * x).sum(axis=1, keepdims=True) / total
    dy = y - (weights * y).sum(axis=1, keepdims=True) / total
    xx, yy = (weights * dx * dx).sum(axis=1), (weights * dy * dy).sum(axis=1)
    scale = np.sqrt(xx * yy)
    # What is left of a column that never changes in a replicate is rounding.
    flat = scale <= 1e-12 * np.maximum(1.0, (weights * x * x).sum(axis=1))
    return np.where(flat, np.nan, divide((weights * dx * dy).sum(axis=1), scale))


class _Ranks:
    """Mean ranks of a column under weights: shape (replicates, items)."""

    def __init__(self, column: Floats) -> None:
        self._order = np.argsort(column, kind="stable")
        ordered = column[self._order]
        new = np.concatenate(([True], ordered[1:] != ordered[:-1]))
        self._starts = np.flatnonzero(new)
        self._group = np.empty(len(column), dtype=np.intp)
        self._group[self._order] = np.cumsum(new) - 1

    def __call__(self, weights: Floats) -> Floats:
        sizes = np.add.reduceat(weights[:, self._order], self._starts, axis=1)
        middle = np.cumsum(sizes, axis=1) - sizes / 2.0
        ranks: Floats = middle[:, self._group]
        return ranks


def _kendall_of(x: Floats, y: Floats) -> Statistic:
    cells, index = np.unique(np.column_stack((x, y)), axis=0, return_inverse=True)
    index = index.reshape(-1)
    if len(cells) > MAX_KENDALL_CELLS:
        return lambda weights: np.full(len(weights), np.nan)
    order = np.argsort(index, kind="stable")
    starts = np.searchsorted(index[order], np.arange(len(cells)))
    sign_x = np.sign(cells[:, None, 0] - cells[None, :, 0])
    sign_y = np.sign(cells[:, None, 1] - cells[None, :, 1])
    both, apart_x, apart_y = sign_x * sign_y, np.abs(sign_x), np.abs(sign_y)

    def tau(weights: Floats) -> Floats:
        sums = np.add.reduceat(weights[:, order], starts, axis=1)

        def over_pairs(signs: Floats) -> Floats:
            return np.asarray(((sums @ signs) * sums).sum(axis=1), dtype=np.float64)

        return divide(over_pairs(both), np.sqrt(over_pairs(apart_x) * over_pairs(apart_y)))

    return tau


def _column(values: npt.ArrayLike) -> Floats:
    column = np.asarray(values, dtype=np.float64)
    if not np.isfinite(column).all():
        raise ValueError("a column holds something that is not a finite number")
    return column
