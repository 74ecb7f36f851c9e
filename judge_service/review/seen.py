"""An item with what judges made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge_service.drift.judgement import Judgement
from judge_service.drift.review import change_of
from judge_service.gold.item import GoldItem, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one judge (or one panel) said of an item in one run."""

    judge: str
    judgement: Judgement

    def wire(self) -> dict[str, Any]:
        """JSON."""
        found = self.judgement
        common = {"judge": self.judge, "reasons": dict(found.reasons)}
        if found.outcome is not None:
            return {**common, "outcome": found.outcome, "orders": dict(found.orders)}
        return {**common, "points": dict(found.points), "reward": found.reward}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """An item and its judgements, the older side first; all of them have a label.

    ``unsteady`` in [0, 1] is how far verdicts that should be the same are apart: 1 for a pair whose
    orders disagree; of points, the widest distance between runs of one judge or members of a panel.
    """

    item: GoldItem
    said: tuple[Said, ...]
    unsteady: float = 0.0

    @property
    def reward(self) -> float | None:
        """What the latest side would have a trainer get; None for pairs."""
        return self.said[-1].judgement.reward

    @property
    def change(self) -> float:
        """In [-1, 1], from the first side to the last; 0 with one side."""
        if len(self.said) < 2:
            return 0.0
        return change_of(self.said[0].judgement, self.said[-1].judgement)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """All items that can be chosen from, of one kind and rubric.

    ``scales`` are the points of each criterion, worst to best; empty for pairs.
    """

    name: str
    kind: Kind
    rubric: str
    rubric_hash: str
    scales: Mapping[str, tuple[int, ...]]
    seen: tuple[Seen, ...]
    left_out: int = 0


def spread(values: Sequence[float]) -> float:
    """The distance of the highest and the lowest; 0 with fewer than two."""
    return max(values) - min(values) if len(values) > 1 else 0.0
