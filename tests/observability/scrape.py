"""Reading ``/metrics`` as Prometheus does."""

from __future__ import annotations

import math
from dataclasses import dataclass

import httpx
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

PREFIX = "judge_service_"


@dataclass(frozen=True, slots=True)
class Scrape:
    """All samples of one scrape."""

    samples: tuple[Sample, ...]

    def of(self, name: str, **labels: str) -> float:
        """The sum of the samples of a name, given without its prefix, that have these labels."""
        return sum(
            s.value
            for s in self.samples
            if s.name.removeprefix(PREFIX) == name and labels.items() <= s.labels.items()
        )

    def labels(self, name: str) -> set[str]:
        """Every value that a label of this name has anywhere."""
        return {s.labels[name] for s in self.samples if name in s.labels}

    def values(self) -> set[str]:
        """Every value of every label."""
        return {value for s in self.samples for value in s.labels.values()}


def scrape(http: httpx.Client, headers: dict[str, str] | None = None) -> Scrape:
    """What ``/metrics`` says now."""
    answer = http.get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.text[:300]
    return read(answer.text)


def read(text: str) -> Scrape:
    """The samples of a text in Prometheus' format; every value must be finite."""
    families = text_string_to_metric_families(text)
    samples = tuple(sample for family in families for sample in family.samples)
    assert all(math.isfinite(sample.value) for sample in samples)
    return Scrape(samples)
