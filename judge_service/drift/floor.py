"""The noise floor: how far the unchanged baseline agrees with itself, and what lies below that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from judge_service.statistics.agreement import (
    Label,
    agreement_of,
    cohen_kappa,
    exact_agreement,
    kappa_of,
)
from judge_service.statistics.bootstrap import MIN_MEANINGFUL, Bootstrap, Floats, Statistic
from judge_service.statistics.estimate import Estimate, wire

Measure = Literal["agreement", "kappa"]
MEASURES: tuple[Measure, Measure] = ("agreement", "kappa")
EXACT_LEVEL, NOISY_LEVEL = 0.05, 0.01
"""Below the floor is called at 5 % where the baseline repeats itself exactly (three changed items
are then below it, two are not), and at 1 % where it does not: with noise on both sides the two
measures and the test are three looks at one question.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """Whether the candidate lies below the floor in one measure.

    ``difference`` is the candidate's agreement with the baseline less the floor; ``p_value`` the
    share of bootstrap replicates in which it is not below. None where the measure has no meaning.
    """

    measure: Measure
    difference: Estimate | None
    p_value: float | None
    level: float

    def wire(self) -> dict[str, Any]:
        """JSON."""
        return {
            "difference": wire(self.difference),
            "p_value": self.p_value,
            "level": self.level,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloor:
    """Lowest agreement and kappa between any two of ``repeats`` runs of the baseline.

    Without a second run there is no floor: everything is None. ``exact`` is whether all runs gave
    the same labels.
    """

    repeats: int
    n: int
    agreement: Estimate | None
    kappa: Estimate | None
    exact: bool
    below: tuple[Below, ...]

    def wire(self) -> dict[str, Any]:
        """JSON."""
        return {
            "agreement": wire(self.agreement),
            "kappa": wire(self.kappa),
            "repeats": self.repeats,
            "n": self.n,
            "exact": self.exact,
            "below": {one.measure: one.wire() for one in self.below},
            "note": None if self.repeats > 1 else NO_FLOOR,
        }


NO_FLOOR = "one run of the baseline tells nothing about its noise, so there is no floor"


def noise_floor(
    runs: Sequence[Sequence[Label | None]],
    candidate: Sequence[Label | None],
    categories: Sequence[Label],
    *,
    seed: int,
) -> NoiseFloor:
    """The floor of the baseline's ``runs``, and where the candidate lies.

    All are labels of the same items, None without one. The candidate is compared with the first
    run; the difference is bootstrapped over the items that have a label in all runs, so that both
    sides of it are about the same items (a paired bootstrap).
    """
    if len(runs) < 2:
        return NoiseFloor(repeats=len(runs), n=0, agreement=None, kappa=None, exact=False, below=())
    agreements, kappas = [], []
    for first, second in combinations(runs, 2):
        a, b = _both(first, second)
        agreements.append(exact_agreement(a, b))
        kappas.append(cohen_kappa(a, b, categories=categories, draws=Bootstrap(len(a), seed=seed)))
    whole = [
        labels
        for labels in zip(*runs, candidate, strict=True)
        if all(x is not None for x in labels)
    ]
    columns: list[list[Label]] = [
        [row[place] for row in whole if row[place] is not None] for place in range(len(runs) + 1)
    ]
    exact = all(column == columns[0] for column in columns[:-1])
    level = EXACT_LEVEL if exact else NOISY_LEVEL
    draws = Bootstrap(len(whole), seed=seed)
    return NoiseFloor(
        repeats=len(runs),
        n=len(whole),
        agreement=_lowest(agreements),
        kappa=_lowest(kappas),
        exact=exact,
        below=tuple(
            _below(measure, columns[:-1], columns[-1], categories, draws, level)
            for measure in MEASURES
        ),
    )


def _below(
    measure: Measure,
    runs: Sequence[Sequence[Label]],
    candidate: Sequence[Label],
    categories: Sequence[Label],
    draws: Bootstrap,
    level: float,
) -> Below:
    floors = [_statistic(measure, a, b, categories) for a, b in combinations(runs, 2)]
    own = _statistic(measure, runs[0], candidate, categories)

    def difference(weights: Floats) -> Floats:
        return np.asarray(own(weights) - np.min([floor(weights) for floor in floors], axis=0))

    found = draws.estimate(difference)
    if found is None:
        return Below(measure=measure, difference=None, p_value=None, level=level)
    p_value = (
        _exact_p(runs[0], candidate)
        if level == EXACT_LEVEL
        else _share_not_below(draws.replicates(difference))
    )
    return Below(measure=measure, difference=found, p_value=p_value, level=level)


def _exact_p(baseline: Sequence[Label], candidate: Sequence[Label]) -> float:
    """The bootstrap's own probability where the floor is 1: that no changed item is drawn.

    For one or two changed items that of a large set, the largest there is: of three items two
    would lie below the floor otherwise.
    """
    changed = sum(a != b for a, b in zip(baseline, candidate, strict=True))
    if changed < 3:
        return math.exp(-changed)
    return float((1.0 - changed / len(baseline)) ** len(baseline))


def _share_not_below(replicates: Floats) -> float | None:
    good = replicates[np.isfinite(replicates)]
    if len(good) < MIN_MEANINGFUL * len(replicates):
        return None
    return float((good >= -1e-12).mean())


def _statistic(
    measure: Measure, a: Sequence[Label], b: Sequence[Label], categories: Sequence[Label]
) -> Statistic:
    return agreement_of(a, b) if measure == "agreement" else kappa_of(a, b, categories)


def _both(
    first: Sequence[Label | None], second: Sequence[Label | None]
) -> tuple[list[Label], list[Label]]:
    """The labels of the items that have one on both sides."""
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    return [a for a, _ in pairs], [b for _, b in pairs]


def _lowest(found: Sequence[Estimate | None]) -> Estimate | None:
    known = [one for one in found if one is not None]
    return min(known, key=lambda one: one.value) if known else None
