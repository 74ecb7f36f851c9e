"""Agreement of two labellings of the same items: exact, and beyond chance.

Labels are strings or integers, items are paired by position. The order of ``categories`` matters
for weighted kappa, where the distance of two labels is the distance of their ranks.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from judge_service.statistics.bootstrap import Bootstrap, Floats, Statistic, divide
from judge_service.statistics.estimate import Estimate
from judge_service.statistics.rates import rate

Label = str | int
Weighting = Literal["none", "linear", "quadratic"]

PARADOX_AGREEMENT, PARADOX_KAPPA = 0.8, 0.4
"""High raw agreement beside low kappa: possible only where one label is most of them."""


def codes(labels: Sequence[Label], categories: Sequence[Label]) -> npt.NDArray[np.intp]:
    """Ranks of ``labels`` in ``categories``. Raises KeyError for a label that is none of them."""
    rank = {label: number for number, label in enumerate(categories)}
    return np.array([rank[label] for label in labels], dtype=np.intp)


def confusion(
    first: Sequence[Label], second: Sequence[Label], categories: Sequence[Label]
) -> npt.NDArray[np.int64]:
    """Counts by label of the first (rows) and of the second (columns), in the order given."""
    _same_length(first, second)
    table = np.zeros((len(categories), len(categories)), dtype=np.int64)
    np.add.at(table, (codes(first, categories), codes(second, categories)), 1)
    return table


def agreement_of(first: Sequence[Label], second: Sequence[Label]) -> Statistic:
    """The share of equal labels in [0, 1], as a statistic of weights."""
    _same_length(first, second)
    same = np.array([a == b for a, b in zip(first, second, strict=True)], dtype=np.float64)

    def share(weights: Floats) -> Floats:
        return divide(weights @ same, weights.sum(axis=1))

    return share


def kappa_of(
    first: Sequence[Label],
    second: Sequence[Label],
    categories: Sequence[Label],
    weighting: Weighting = "none",
) -> Statistic:
    """Cohen's kappa in [-1, 1] as a statistic of weights; NaN where chance alone agrees always
    (each side has one label, and the same one).
    """
    _same_length(first, second)
    size = len(categories)
    rows, columns = codes(first, categories), codes(second, categories)
    distance = _distance(size, weighting)
    apart = distance[rows, columns]
    one_hot = np.eye(size)
    row_hot, column_hot = one_hot[rows], one_hot[columns]

    def kappa(weights: Floats) -> Floats:
        total = weights.sum(axis=1)
        seen = divide(weights @ apart, total)
        margins = ((weights @ row_hot) @ distance * (weights @ column_hot)).sum(axis=1)
        return 1.0 - divide(seen, divide(margins, total * total))

    return kappa


def exact_agreement(first: Sequence[Label], second: Sequence[Label]) -> Estimate | None:
    """The share of equal labels with Wilson's interval; None without an item."""
    _same_length(first, second)
    return rate(sum(a == b for a, b in zip(first, second, strict=True)), len(first))


def cohen_kappa(
    first: Sequence[Label],
    second: Sequence[Label],
    *,
    categories: Sequence[Label] | None = None,
    weighting: Weighting = "none",
    clusters: Sequence[Hashable] | None = None,
    draws: Bootstrap | None = None,
) -> Estimate | None:
    """Cohen's kappa (Educ. Psychol. Meas. 20, 1960, 37; weighted: Psychol. Bull. 70, 1968, 213)
    with a bootstrapped interval; None where it has no meaning.

    ``categories`` are all labels there can be, worst to best where they have an order; without
    them those seen, sorted. A weighted kappa takes the ranks in ``categories`` as equally far
    apart, so a scale must be given whole.
    """
    if categories is None:
        categories = sorted({*first, *second}, key=lambda label: (isinstance(label, str), label))
    draws = draws or Bootstrap(len(first), clusters=clusters)
    return draws.estimate(kappa_of(first, second, categories, weighting))


def kappa_paradox(first: Sequence[Label], second: Sequence[Label]) -> str | None:
    """Why kappa is low although agreement is high, one sentence; None where it is not so.

    Feinstein and Cicchetti, J. Clin. Epidemiol. 43, 1990, 543: where nearly all items have the
    same label, chance alone agrees nearly always and few disagreements bring kappa down.
    """
    _same_length(first, second)
    n = len(first)
    if not n:
        return None
    same = sum(a == b for a, b in zip(first, second, strict=True)) / n
    if same < PARADOX_AGREEMENT:
        return None
    labels = list(dict.fromkeys([*first, *second]))
    kappa = float(kappa_of(first, second, labels)(np.ones((1, n)))[0])
    if not kappa < PARADOX_KAPPA:
        return None  # also where kappa has no meaning, since there is one label only
    share, label = max(
        ((first.count(label) + second.count(label)) / (2 * n), str(label)) for label in labels
    )
    chance = (same - kappa) / (1.0 - kappa)
    return (
        f"agreement is {same:.2f} and kappa only {kappa:.2f} because {share:.0%} of the labels are "
        f"{label!r}: chance alone would agree in {chance:.2f}; read both, and balance the gold set"
    )


def _distance(size: int, weighting: Weighting) -> Floats:
    ranks = np.arange(size, dtype=np.float64)
    apart = np.abs(ranks[:, None] - ranks[None, :])
    if weighting == "none":
        return (apart > 0).astype(np.float64)
    return apart if weighting == "linear" else apart * apart


def _same_length(first: Sequence[object], second: Sequence[object]) -> None:
    if len(first) != len(second):
        raise ValueError(f"{len(first)} labels beside {len(second)}")
