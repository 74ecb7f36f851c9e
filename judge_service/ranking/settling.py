"""Where pairs settle equal rewards: which members are tied, and how far they may move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from judge_service.judging.combine import length_factor
from judge_service.rubric.rubric import Rubric

REACH = 0.45
"""The share of a step by which a reward moves at most; half a step would reach the next one."""
LEAST_WAY = 1e-9
"""Rewards that are closer than this leave no room between them."""


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


class Room(NamedTuple):
    """Where tied rewards may go."""

    lowest: float
    highest: float

    def at(self, share: float) -> float:
        """The reward for a win share, in [0, 1], among those it is tied with."""
        return min(self.highest, self.lowest + share * (self.highest - self.lowest))


def room(reward: float, rewards: Iterable[float], step: float) -> Room:
    """How far members tied at ``reward`` may move in a group with these ``rewards``.

    Less than half of ``step``, on each side less than half of the way to the next different reward,
    so that no order among unequal rewards is overturned, and within [0, 1]: at an end of the range
    all of the way goes to the other side.
    """
    others = [other for other in rewards if other != reward]
    below = min([step, *(reward - other for other in others if other < reward)])
    above = min([step, *(other - reward for other in others if other > reward)])
    return Room(lowest=max(0.0, reward - _reach(below)), highest=min(1.0, reward + _reach(above)))


def _reach(way: float) -> float:
    return REACH * way if way > LEAST_WAY else 0.0


def apart(shares: Sequence[float]) -> bool:
    """Whether win shares tell anybody apart."""
    return len(set(shares)) > 1
