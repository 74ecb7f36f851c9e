"""The same statistics once more, from their definitions: plain loops, no arrays, no library."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any


def seeded(seed: int) -> random.Random:
    """Repeatable draws."""
    return random.Random(seed)  # noqa: S311 - no secret


def agreement(x: Sequence[Any], y: Sequence[Any]) -> Fraction:
    """The share of equal pairs."""
    return Fraction(sum(a == b for a, b in zip(x, y, strict=True)), len(x))


def kappa(x: Sequence[Any], y: Sequence[Any], scale: Sequence[Any], power: int) -> float:
    """1 less seen over expected distance: rank differences to ``power``, or 0 and 1 for power 0."""

    def apart(a: Any, b: Any) -> int:
        steps = abs(scale.index(a) - scale.index(b))
        return int(steps > 0) if power == 0 else steps**power

    seen = Fraction(sum(apart(a, b) for a, b in zip(x, y, strict=True)), len(x))
    expected = Fraction(sum(apart(a, b) for a, b in product(x, y)), len(x) ** 2)
    return math.nan if expected == 0 else float(1 - seen / expected)


def ranks(values: Sequence[float]) -> list[Fraction]:
    """Mean ranks, by counting."""
    return [
        Fraction(2 * sum(other < value for other in values) + values.count(value) + 1, 2)
        for value in values
    ]


def pearson(x: Sequence[Any], y: Sequence[Any]) -> float:
    """Covariance over the root of both variances."""
    n = len(x)
    mx, my = sum(x) / Fraction(n), sum(y) / Fraction(n)
    xy = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    xx, yy = sum((a - mx) ** 2 for a in x), sum((b - my) ** 2 for b in y)
    return math.nan if 0 in (xx, yy) else float(xy) / math.sqrt(float(xx) * float(yy))


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Pearson's r of the ranks."""
    return pearson(ranks(x), ranks(y))


def kendall(x: Sequence[float], y: Sequence[float]) -> float:
    """tau-b, pair by pair."""
    both = x_apart = y_apart = 0
    for i, j in combinations(range(len(x)), 2):
        dx, dy = (x[i] > x[j]) - (x[i] < x[j]), (y[i] > y[j]) - (y[i] < y[j])
        both += dx * dy
        x_apart += abs(dx)
        y_apart += abs(dy)
    return math.nan if 0 in (x_apart, y_apart) else both / math.sqrt(x_apart * y_apart)


def wilson(count: int, n: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """The shares p at which the seen one is exactly z standard errors away, by bisection."""
    seen = count / n

    def edge(low: float, high: float, *, below: bool) -> float:
        for _ in range(200):
            middle = (low + high) / 2
            far = abs(seen - middle) > z * math.sqrt(middle * (1 - middle) / n)
            if far == below:
                low = middle
            else:
                high = middle
        return (low + high) / 2

    return edge(0.0, seen, below=True), edge(seen, 1.0, below=False)


def binomial_two_sided(count: int, n: int) -> float:
    """The chance of a result at most as likely as ``count`` of ``n`` fair coins."""
    chances = [Fraction(math.comb(n, k), 2**n) for k in range(n + 1)]
    return float(sum(c for c in chances if c <= chances[count]))


def wilcoxon_exact(differences: Sequence[float]) -> float:
    """Two-sided p over all signs of the ranks of what differs."""
    moved = [d for d in differences if d != 0]
    weights = ranks([abs(d) for d in moved])
    total = sum(weights, Fraction(0))
    up = sum((w for w, d in zip(weights, moved, strict=True) if d > 0), Fraction(0))
    extreme = min(up, total - up)
    sums = [
        sum((w for w, sign in zip(weights, signs, strict=True) if sign), Fraction(0))
        for signs in product((0, 1), repeat=len(moved))
    ]
    tail = Fraction(sum(s <= extreme for s in sums), len(sums))
    return float(min(Fraction(1), 2 * tail))


def stuart_maxwell_three(table: Sequence[Sequence[int]]) -> float:
    """The statistic for three labels, by the closed form of Fleiss and Everitt."""
    d = [sum(table[i]) - sum(row[i] for row in table) for i in range(3)]
    n12, n13, n23 = (Fraction(table[i][j] + table[j][i], 2) for i, j in ((0, 1), (0, 2), (1, 2)))
    above = n23 * d[0] ** 2 + n13 * d[1] ** 2 + n12 * d[2] ** 2
    return float(above / (2 * (n12 * n23 + n12 * n13 + n13 * n23)))


def krippendorff(units: Sequence[Sequence[float]], metric: str) -> float:
    """Alpha from the pairs inside units and the pairs of all values, one by one."""
    kept = [unit for unit in units if len(unit) > 1]
    values = [v for unit in kept for v in unit]
    counts = Counter(values)

    def apart(a: float, b: float) -> float:
        if metric == "nominal":
            return float(a != b)
        if metric == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(n for v, n in counts.items() if low <= v <= high)
        return (between - (counts[a] + counts[b]) / 2) ** 2 if a != b else 0.0

    seen = sum(
        apart(a, b) / (len(unit) - 1)
        for unit in kept
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    ) / len(values)
    n = len(values)
    expected = sum(apart(values[i], values[j]) for i in range(n) for j in range(n) if i != j) / (
        n * (n - 1)
    )
    return math.nan if expected == 0 else 1 - seen / expected


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p: the largest of (m - rank + 1) times p among those not larger."""
    m = len(p_values)
    order = sorted(range(m), key=lambda i: p_values[i])
    return [
        max(min(1.0, (m - place) * p_values[order[place]]) for place in range(order.index(i) + 1))
        for i in range(m)
    ]
