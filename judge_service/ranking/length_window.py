"""Whether rewards have followed length lately, over the groups of each rubric.

One group says little of it. Over many, rewards and logarithms of lengths are compared as deviations
from their own group's mean, so that prompts that ask for more and prompts that are harder have no
part in it (the pooled correlation within groups).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

WINDOW = 50
"""How many groups are looked at, the latest ones."""
MIN_GROUPS = 10
MIN_MEMBERS = 40
"""For fewer groups, or fewer members in them, a correlation says nothing."""


class _Sums(NamedTuple):
    """Of one group's deviations: squares of the rewards, of the lengths, their product."""

    members: int
    rewards: float
    lengths: float
    both: float


@dataclass(slots=True)
class LengthWindow:
    """The last groups of every rubric, as sums; no texts are kept."""

    _groups: dict[str, deque[_Sums]] = field(default_factory=dict)

    def add(self, rubric: str, rewards: Sequence[float], chars: Sequence[int]) -> None:
        """Note a group; one in which nothing varies has nothing to say."""
        if len(set(rewards)) < 2 or len(set(chars)) < 2:
            return
        import numpy as np

        reward = np.array(rewards) - np.mean(rewards)
        length = np.log1p(np.array(chars, dtype=np.float64))
        length -= length.mean()
        sums = (float(a @ b) for a, b in ((reward, reward), (length, length), (reward, length)))
        groups = self._groups.setdefault(rubric, deque(maxlen=WINDOW))
        groups.append(_Sums(len(rewards), *sums))

    def correlation(self, rubric: str) -> float | None:
        """Pearson's r over the window, in [-1, 1]; None where there is too little to tell."""
        groups = self._groups.get(rubric, deque())
        if len(groups) < MIN_GROUPS or sum(one.members for one in groups) < MIN_MEMBERS:
            return None
        rewards, lengths, both = (sum(one[n] for one in groups) for n in (1, 2, 3))
        if rewards <= 0.0 or lengths <= 0.0:
            return None
        r = float(both / (math.sqrt(rewards) * math.sqrt(lengths)))
        # A rounding error beyond the ends is no correlation beyond 1.
        return min(1.0, max(-1.0, r)) if math.isfinite(r) else None
