"""Histograms of one process: counted in plain lists, made the client's when somebody looks.

The client's own take a lock for each step. Where several processes share their figures, they are
needed all the same: they write to the processes' files.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from itertools import accumulate

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from judge_service.adapters.metric_table import Spread


class Spreads(Collector):
    """``spreads`` by name, told behind ``prefix``. May be read while another thread counts."""

    def __init__(self, spreads: Mapping[str, Spread], prefix: str) -> None:
        self._spreads = spreads
        self._prefix = prefix
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

    def collect(self) -> Iterable[Metric]:
        """One family per name."""
        for name, spread in self._spreads.items():
            whole = self._prefix + name
            family = Metric(whole, spread.text, "histogram")
            ends = [*map(floatToGoString, spread.bounds), "+Inf"]
            for values, counts in list(self._seen[name].items()):
                labels = dict(zip(spread.labels, values, strict=True))
                *buckets, total = list(counts)
                for end, count in zip(ends, accumulate(buckets), strict=True):
                    family.add_sample(f"{whole}_bucket", {**labels, "le": end}, count)
                family.add_sample(f"{whole}_count", labels, sum(buckets))
                # A sum that can fall is none to Prometheus.
                if spread.bounds[0] >= 0:
                    family.add_sample(f"{whole}_sum", labels, total)
            yield family
