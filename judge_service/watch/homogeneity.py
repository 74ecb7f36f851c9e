"""Whether failures fall on prompts as outcomes do: Pearson's chi-square over buckets of prompts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

BUCKETS = 16


class Homogeneity(NamedTuple):
    """The test's statistic, its degrees of freedom and p-value."""

    statistic: float
    df: int
    p_value: float


def homogeneity(failed: Sequence[int], judged: Sequence[int]) -> Homogeneity | None:
    """Pearson's test that both rows of counts are of one distribution; None where there is nothing
    to compare. The p-value is by Wilson and Hilferty (PNAS 17, 1931, 684).
    """
    rows = (sum(failed), sum(judged))
    total = sum(rows)
    columns = [a + b for a, b in zip(failed, judged, strict=True)]
    df = sum(column > 0 for column in columns) - 1
    if not all(rows) or df < 1:
        return None
    found = 0.0
    for row, counts in zip(rows, (failed, judged), strict=True):
        for count, column in zip(counts, columns, strict=True):
            if column:
                expected = row * column / total
                found += (count - expected) ** 2 / expected
    return Homogeneity(found, df, _upper_tail(found, df))


def _upper_tail(statistic: float, df: int) -> float:
    spread = 2.0 / (9.0 * df)
    z = ((statistic / df) ** (1.0 / 3.0) - (1.0 - spread)) / math.sqrt(spread)
    return 0.5 * math.erfc(z / math.sqrt(2.0))
