"""Learning a correction of a judge's scale: what its points are worth in people's eyes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judge_service.drift.judgement import Judgement
from judge_service.drift.plan import Run
from judge_service.gold.item import GoldItem, GoldSet
from judge_service.rubric.rubric import Criterion, Rubric
from judge_service.statistics.bootstrap import Bootstrap, Floats, weighted_mean
from judge_service.statistics.estimate import Estimate, wire

MIN_ITEMS = 20
"""Fewer labelled items teach nothing that would hold."""
PRIOR = 0.5
"""Every point counts as half an observation of its own value, so that one that a judge never gave
stays near where it is.
"""
DIGITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """What the points of a criterion are worth, and what that does for items not learnt from.

    ``before`` and ``after`` are mean distances from the human value, in [0, 1], each item corrected
    by what the other groups teach; ``gain`` is how much nearer it comes (negative: farther).
    """

    criterion: str
    points: tuple[int, ...]
    values: tuple[float, ...]
    n: int
    anchors: int
    before: float
    after: float
    gain: Estimate | None

    @property
    def helps(self) -> bool:
        """Whether the gain is more than chance."""
        return self.gain is not None and self.gain.ci95 is not None and self.gain.ci95[0] > 0.0

    def wire(self) -> dict[str, Any]:
        """JSON."""
        return {
            "criterion": self.criterion,
            "points": list(self.points),
            "values": list(self.values),
            "n": self.n,
            "anchors": self.anchors,
            "error_before": self.before,
            "error_after": self.after,
            "gain": wire(self.gain),
            "helps": self.helps,
        }


def learn(gold: GoldSet, run: Run, rubric: Rubric) -> list[Learnt]:
    """What a run teaches, criterion by criterion; those with under 20 labelled items are left out.

    Each anchor of the rubric is one more observation, of its point at its own value. The values are
    those of isotonic regression (Barlow et al. 1972): they never fall from a point to a better one.
    """
    found = []
    for criterion in rubric.criteria:
        if criterion.scale is None:
            continue
        seen = [
            (item, judged)
            for item in gold.items
            if (judged := run.get(item.id)) is not None
            and criterion.name in judged.points
            and item.human(criterion.name) is not None
        ]
        if len(seen) >= MIN_ITEMS:
            found.append(_learnt(criterion, seen, rubric))
    return found


def _learnt(
    criterion: Criterion, seen: Sequence[tuple[GoldItem, Judgement]], rubric: Rubric
) -> Learnt:
    scale = criterion.points.values
    ranks = np.array([scale.index(judged.points[criterion.name]) for _, judged in seen])
    people = np.interp(
        [item.human(criterion.name) or 0.0 for item, _ in seen],
        scale,
        np.linspace(0.0, 1.0, len(scale)),
    )
    anchored = [scale.index(a.point) for a in rubric.anchors if a.criterion == criterion.name]
    values = _fit(ranks, people, anchored, len(scale))
    groups = [item.group for item, _ in seen]
    held_out = np.empty(len(seen))
    for group in dict.fromkeys(groups):
        out = np.array([g == group for g in groups])
        held_out[out] = _fit(ranks[~out], people[~out], anchored, len(scale))[ranks[out]]
    before = np.abs(ranks / (len(scale) - 1) - people)
    after = np.abs(held_out - people)
    return Learnt(
        criterion=criterion.name,
        points=scale,
        values=tuple(round(float(value), DIGITS) for value in values),
        n=len(seen),
        anchors=len(anchored),
        before=float(before.mean()),
        after=float(after.mean()),
        gain=Bootstrap(len(seen), clusters=groups).estimate(weighted_mean(before - after)),
    )


def _fit(ranks: Floats, people: Floats, anchored: Sequence[int], size: int) -> Floats:
    """The never falling values of ``size`` points, in [0, 1]."""
    from scipy.optimize import isotonic_regression

    own = np.linspace(0.0, 1.0, size)
    weights = np.bincount(ranks, minlength=size) + np.bincount(anchored, minlength=size) + PRIOR
    sums = np.bincount(ranks, weights=people, minlength=size)
    sums = sums + own * (np.bincount(anchored, minlength=size) + PRIOR)
    fitted = isotonic_regression(sums / weights, weights=weights).x
    return np.asarray(np.clip(fitted, 0.0, 1.0), dtype=np.float64)


def as_toml(rubric: Rubric, learnt: Sequence[Learnt]) -> str:
    """The table to put under the judge in ``judges.toml``."""
    lines = [f"[judges.correction.{rubric.id}]", f'rubric_hash = "{rubric.rubric_hash[:16]}"']
    for one in learnt:
        values = ", ".join(f"{value:g}" for value in one.values)
        lines.append(f"values.{one.criterion} = [{values}]")
    return "\n".join(lines) + "\n"
