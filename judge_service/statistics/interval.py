"""Confidence intervals of shares."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

Z95 = NormalDist().inv_cdf(0.975)


def wilson(share: float, n: float) -> tuple[float, float]:
    """The 95 % score interval of a share in [0, 1] seen in ``n`` > 0 independent cases (Wilson,
    J. Am. Stat. Assoc. 22, 1927, 209): inside [0, 1], and useful for few cases and extreme shares.
    """
    square = Z95 * Z95
    middle = (share + square / (2.0 * n)) / (1.0 + square / n)
    spread = Z95 * sqrt(share * (1.0 - share) / n + square / (4.0 * n * n)) / (1.0 + square / n)
    # Rounding must not put a share of 0 or 1 outside of its own interval.
    return max(0.0, min(share, middle - spread)), min(1.0, max(share, middle + spread))
