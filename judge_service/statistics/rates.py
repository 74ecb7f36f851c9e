"""Shares with Wilson's interval."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from judge_service.statistics.bootstrap import Bootstrap, weighted_mean
from judge_service.statistics.estimate import Estimate
from judge_service.statistics.interval import wilson


def rate(count: int, n: int) -> Estimate | None:
    """``count`` of ``n`` independent cases as a share in [0, 1]; None without a case.

    Raises ValueError when ``count`` is not between 0 and ``n``.
    """
    if not 0 <= count <= n:
        raise ValueError(f"{count} of {n} is no share")
    return Estimate(count / n, wilson(count / n, n)) if n else None


def paired_difference(
    first: Sequence[bool],
    second: Sequence[bool],
    *,
    clusters: Sequence[Hashable] | None = None,
    seed: int | None = None,
) -> Estimate | None:
    """Share of ``second`` minus share of ``first`` over the same items, in [-1, 1], bootstrapped;
    None without an item.
    """
    differences = [float(b) - float(a) for a, b in zip(first, second, strict=True)]
    draws = Bootstrap(
        len(differences), clusters=clusters, **({} if seed is None else {"seed": seed})
    )
    return draws.estimate(weighted_mean(differences))
