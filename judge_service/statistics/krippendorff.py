"""Agreement of any number of annotators who need not all have labelled every item."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np

from judge_service.statistics.bootstrap import Bootstrap, Floats, Statistic, divide
from judge_service.statistics.estimate import Estimate

Metric = Literal["nominal", "ordinal", "interval"]
MAX_VALUES = 64
"""How many different labels there may be."""


def krippendorff_alpha(
    units: Sequence[Sequence[float | str]],
    *,
    metric: Metric = "nominal",
    clusters: Sequence[Hashable] | None = None,
    draws: Bootstrap | None = None,
) -> Estimate | None:
    """Krippendorff's alpha (Content Analysis, ch. 11), at most 1, with a bootstrapped interval.

    ``units`` are the labels of each item, one per annotator; items with fewer than two labels tell
    nothing and are left out. None where no two labels can be compared, or all are the same.
    Labels are ordered by value for ``ordinal`` and are numbers for ``interval``. Raises ValueError
    for more than 64 different labels.
    """
    kept = [(n, labels) for n, labels in enumerate(units) if len(labels) > 1]
    if not kept:
        return None
    if draws is None:
        names = None if clusters is None else [clusters[n] for n, _ in kept]
        draws = Bootstrap(len(kept), clusters=names)
    return draws.estimate(_alpha_of([labels for _, labels in kept], metric))


def _alpha_of(units: Sequence[Sequence[float | str]], metric: Metric) -> Statistic:
    values = sorted({label for labels in units for label in labels}, key=_place)
    if len(values) > MAX_VALUES:
        raise ValueError(f"more than {MAX_VALUES} different labels")
    size = len(values)
    rank = {value: number for number, value in enumerate(values)}
    pairs = np.zeros((len(units), size, size))
    for unit, labels in enumerate(units):
        found = np.bincount([rank[label] for label in labels], minlength=size).astype(np.float64)
        pairs[unit] = (np.outer(found, found) - np.diag(found)) / (len(labels) - 1)
    flat = pairs.reshape(len(units), size * size)
    fixed = None if metric == "ordinal" else _distance(values, metric)

    def alpha(weights: Floats) -> Floats:
        seen = (weights @ flat).reshape(len(weights), size, size)
        totals = seen.sum(axis=2)
        apart = _ordinal(totals) if fixed is None else fixed
        observed = (seen * apart).sum(axis=(1, 2))
        expected = (totals[:, :, None] * totals[:, None, :] * apart).sum(axis=(1, 2))
        return 1.0 - divide((totals.sum(axis=1) - 1.0) * observed, expected)

    return alpha


def _place(value: float | str) -> tuple[bool, float | str]:
    return isinstance(value, str), value


def _distance(values: Sequence[float | str], metric: Metric) -> Floats:
    if metric == "nominal":
        return 1.0 - np.eye(len(values))
    numbers = np.array([float(value) for value in values])
    return np.asarray((numbers[:, None] - numbers[None, :]) ** 2)


def _ordinal(totals: Floats) -> Floats:
    """Squared distances of ranks: how many labels lie between two values, half of each included."""
    middle = np.cumsum(totals, axis=1) - totals / 2.0
    return np.asarray((middle[:, :, None] - middle[:, None, :]) ** 2)
