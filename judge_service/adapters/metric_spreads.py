"""Histograms of one process, counted in plain lists.

The client's own take a lock for each step. Where several processes share their figures, they are
needed all the same: they write to the processes' files.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

from judge_service.adapters.metric_table import Spread


class Series(NamedTuple):
    """What was seen under some labels: how many values up to each bound, the last one without a
    bound, and the sum of all.
    """

    labels: Mapping[str, str]
    up_to: tuple[float, ...]
    total: float


class Spreads:
    """``spreads`` by name. May be read while another thread counts."""

    def __init__(self, spreads: Mapping[str, Spread]) -> None:
        self._spreads = spreads
        self._seen: dict[str, dict[tuple[str, ...], list[float]]] = {n: {} for n in spreads}

    def observe(self, name: str, value: float, labels: tuple[str, ...]) -> None:
        """Count one value, which must be finite."""
        bounds, seen = self._spreads[name].bounds, self._seen[name]
        counts = seen.get(labels)
        if counts is None:
            # By bucket, the last one without a bound; then the sum.
            counts = seen[labels] = [0.0] * (len(bounds) + 2)
        counts[bisect_left(bounds, value)] += 1
        counts[-1] += value

    def series(self, name: str) -> list[Series]:
        """What was seen of one of them so far."""
        names, found = self._spreads[name].labels, []
        for values, counts in list(self._seen[name].items()):
            *buckets, total = list(counts)
            labels = dict(zip(names, values, strict=True))
            found.append(Series(labels, tuple(accumulate(buckets)), total))
        return found
