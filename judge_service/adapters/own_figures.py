"""The figures of one process alone, which it keeps itself."""

from __future__ import annotations

import math
from typing import TypeAlias

from judge_service.adapters.metric_buckets import Buckets
from judge_service.adapters.metric_table import COUNTS, LEVELS, SPREADS, Count, Level, Spread

Labels: TypeAlias = tuple[str, ...]
"""The values of a metric's labels, in the table's order."""


class OwnFigures:
    """The figures of one process, in plain dicts: the client takes a lock for every step."""

    def __init__(self) -> None:
        self.counts: dict[Count, dict[Labels, float]] = {metric: {} for metric in COUNTS}
        self.levels: dict[Level, dict[Labels, float]] = {metric: {} for metric in LEVELS}
        self.spreads: dict[Spread, dict[Labels, Buckets]] = {metric: {} for metric in SPREADS}

    def count(self, metric: Count, *labels: str, by: float = 1) -> None:
        """Add to a counter."""
        if math.isfinite(by) and by >= 0:
            series = self.counts[metric]
            series[labels] = series.get(labels, 0.0) + by

    def set(self, metric: Level, value: float, *labels: str) -> None:
        """Set a gauge."""
        if math.isfinite(value):
            self.levels[metric][labels] = value

    def spread(self, metric: Spread, value: float, *labels: str) -> None:
        """Note a value in a histogram."""
        if math.isfinite(value):
            series = self.spreads[metric]
            buckets = series.get(labels)
            if buckets is None:
                buckets = series[labels] = Buckets(metric.bounds)
            buckets.add(value)
