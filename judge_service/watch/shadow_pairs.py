"""What a judge and its shadow said of the same questions, and how far they agree."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from judge_service.outcome import Assessed, Compared, Outcome
from judge_service.pairwise import PREFERENCE
from judge_service.rubric.rubric import Rubric
from judge_service.statistics.agreement import Label, cohen_kappa, exact_agreement, kappa_of
from judge_service.statistics.estimate import wire
from judge_service.statistics.shift import mean_shift

WINDOW = 500
CHOICES: tuple[Label, ...] = ("first", "second", "tie", "inconsistent")


class Pair(NamedTuple):
    """Two labels of one question, and what they are worth in [0, 1]."""

    live: Label
    shadow: Label
    live_value: float
    shadow_value: float


@dataclass(slots=True, kw_only=True)
class ShadowPairs:
    """The latest ``WINDOW`` pairs of labels on one criterion, or of choices."""

    categories: Sequence[Label]
    pairs: deque[Pair] = field(default_factory=lambda: deque(maxlen=WINDOW))

    def add(self, pair: Pair) -> None:
        """One more."""
        self.pairs.append(pair)

    def plain(self) -> tuple[float, float | None, float]:
        """Agreement, kappa (None where it has no meaning) and the mean of live less shadow."""
        live, shadow = self._labels()
        n = len(self.pairs)
        same = sum(a == b for a, b in zip(live, shadow, strict=True)) / n
        kappa = float(kappa_of(live, shadow, self.categories, self._weighting)(np.ones((1, n)))[0])
        shift = sum(pair.live_value - pair.shadow_value for pair in self.pairs) / n
        return same, kappa if np.isfinite(kappa) else None, shift

    @property
    def _weighting(self) -> Any:
        return "none" if self.categories == CHOICES else "quadratic"

    def _labels(self) -> tuple[list[Label], list[Label]]:
        return [pair.live for pair in self.pairs], [pair.shadow for pair in self.pairs]

    def wire(self) -> dict[str, Any]:
        """JSON, with intervals; takes some milliseconds."""
        live, shadow = self._labels()
        values = [pair.live_value for pair in self.pairs]
        others = [pair.shadow_value for pair in self.pairs]
        kappa = cohen_kappa(live, shadow, categories=self.categories, weighting=self._weighting)
        return {
            "n": len(self.pairs),
            "agreement": wire(exact_agreement(live, shadow)),
            "kappa": wire(kappa),
            # The judge's mean less the shadow's.
            "mean_shift": wire(mean_shift(others, values)),
        }


def points_of(outcome: Outcome, judge: str) -> dict[str, int]:
    """What one judge gave in an assessment, by criterion; empty in anything else."""
    if not isinstance(outcome, Assessed):
        return {}
    return {
        v.criterion: v.point
        for v in outcome.verdicts
        if v.judge == judge and v.criterion is not None and v.point is not None
    }


def choice_of(outcome: Outcome, judge: str) -> Label | None:
    """What one judge made of a pair; None where it has no verdict in both orders."""
    if not isinstance(outcome, Compared):
        return None
    orders = {o.order: o.choice for o in outcome.orders if o.judge == judge}
    first, second = orders.get("AB"), orders.get("BA")
    if first is None or second is None:
        return None
    return first if first == second else "inconsistent"


def choice_pair(live: Label, shadow: Label) -> Pair:
    """Two choices; an inconsistent one is worth nobody's win, which is half."""
    return Pair(live, shadow, _worth(live), _worth(shadow))


def _worth(choice: Label) -> float:
    preference = PREFERENCE[choice]  # type: ignore[index]  # a choice's label, no point's
    return 0.5 if preference is None else preference


def point_pairs(rubric: Rubric, live: dict[str, int], shadow: dict[str, int]) -> dict[str, Pair]:
    """Two judges' points by criterion, where both have one."""
    found = {}
    for criterion in rubric.criteria:
        a, b = live.get(criterion.name), shadow.get(criterion.name)
        if a is not None and b is not None:
            scale = criterion.points
            found[criterion.name] = Pair(a, b, scale.normalized(a), scale.normalized(b))
    return found
