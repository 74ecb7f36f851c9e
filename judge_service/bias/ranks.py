"""Rank correlations: mean ranks, within groups whose numbers cannot be compared with each other's,
and the correlation of such ranks as a statistic for the bootstrap.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from judge_service.statistics.bootstrap import Floats, Statistic, divide


def ranks_within(column: Floats, groups: Sequence[Hashable] | None = None) -> Floats:
    """Mean ranks around 0, in shares of the group: shape and order as ``column``.

    With one group, Pearson's r of two such columns is Spearman's rho of the originals; with several
    it is the part of it that lies within them.
    """
    ranks = np.zeros(len(column))
    members: dict[Hashable, list[int]] = {}
    for place, group in enumerate([0] * len(column) if groups is None else groups):
        members.setdefault(group, []).append(place)
    for places in members.values():
        ranks[places] = _centred(column[places])
    return ranks


def correlation_of(x: Floats, y: Floats) -> Statistic:
    """Pearson's r of two columns, as a statistic; by their moments, which is quick enough for live
    traffic. NaN where a column never changes.
    """
    moments = np.column_stack((np.ones(len(x)), x, y, x * x, y * y, x * y))

    def r(weights: Floats) -> Floats:
        n, sx, sy, sxx, syy, sxy = (weights @ moments).T
        spread = np.maximum(0.0, n * sxx - sx * sx) * np.maximum(0.0, n * syy - sy * sy)
        # What is left of a column that never changes in a replicate is rounding.
        flat = spread <= 1e-18 * n**4
        return np.where(flat, np.nan, divide(n * sxy - sx * sy, np.sqrt(spread)))

    return r


def partial_correlation_of(x: Floats, y: Floats, fixed: Floats) -> Statistic:
    """The same with ``fixed`` held fixed."""
    of_xy, of_xz, of_yz = (correlation_of(*two) for two in ((x, y), (x, fixed), (y, fixed)))

    def partial(weights: Floats) -> Floats:
        xy, xz, yz = of_xy(weights), of_xz(weights), of_yz(weights)
        left = np.sqrt(np.maximum(0.0, (1.0 - xz * xz) * (1.0 - yz * yz)))
        return divide(xy - xz * yz, left)

    return partial


def _centred(column: Floats) -> Floats:
    _, index, counts = np.unique(column, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2.0
    return np.asarray(middle[index.reshape(-1)] / len(column) - 0.5, dtype=np.float64)
