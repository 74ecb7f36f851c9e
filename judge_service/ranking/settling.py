"""Where pairs settle equal rewards: which members are tied, and how far they may move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judge_service.combine import length_factor
from judge_service.rubric import Rubric

REACH = 0.45
"""The share of a step by which a reward moves at most; half a step would reach the next one."""


def smallest_step(rubric: Rubric, chars: int) -> float:
    """The least by which one point on one criterion can change the reward of a text of ``chars``
    characters; 0 where the judge has no part in the reward.
    """
    steps = []
    for criterion in rubric.criteria:
        share = 1.0 if rubric.aggregate == "min" else criterion.weight or 0.0
        if share > 0.0:
            steps.append(share / (len(criterion.points.values) - 1))
    weights = rubric.weights
    model = weights.model / (weights.rule + weights.model)
    return model * min(steps, default=0.0) * length_factor(rubric, chars)


def tied(rewards: Mapping[int, float]) -> list[list[int]]:
    """Members with equal rewards, the best first; only where there are at least two."""
    groups: dict[float, list[int]] = {}
    for member, reward in rewards.items():
        groups.setdefault(reward, []).append(member)
    return [groups[reward] for reward in sorted(groups, reverse=True) if len(groups[reward]) > 1]


def moved(reward: float, share: float, step: float) -> float:
    """A tied reward with the win share among those it is tied with, in [0, 1], told apart.

    It moves by less than half of ``step`` and stays in [0, 1]: at an end of the range all of the
    way goes to the other side.
    """
    lowest, highest = max(0.0, reward - REACH * step), min(1.0, reward + REACH * step)
    return lowest + share * (highest - lowest)


def apart(shares: Sequence[float]) -> bool:
    """Whether win shares tell anybody apart."""
    return len(set(shares)) > 1
