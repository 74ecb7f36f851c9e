"""Discrete scales: ordered integer points with a described meaning, worst to best."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from pydantic import BaseModel, ConfigDict, Field, StrictInt, field_validator


class Point(BaseModel):
    """One value of a scale and what it means."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    point: StrictInt = Field(ge=-1000, le=1000)
    means: str = Field(min_length=1, max_length=2000)

    @field_validator("means")
    @classmethod
    def _described(cls, means: str) -> str:
        if not means.strip():
            raise ValueError("every point needs a described meaning")
        return means.strip()


def check_scale(points: Sequence[Point]) -> None:
    """Raise ValueError unless there are 2 to 10 points in strictly rising order."""
    if not 2 <= len(points) <= 10:
        raise ValueError(f"a scale has 2 to 10 points, not {len(points)}")
    values = [p.point for p in points]
    if any(b <= a for a, b in pairwise(values)):
        raise ValueError(f"points go from worst to best, each larger than the last: {values}")


class Scale:
    """The points of one criterion.

    ``normalized(point)`` is the point's rank from worst (0.0) to best (1.0), evenly spaced: a scale
    of 0, 1, 5 gives 0.0, 0.5, 1.0.
    """

    def __init__(self, points: Sequence[Point]) -> None:
        check_scale(points)
        self.points = tuple(points)

    @cached_property
    def values(self) -> tuple[int, ...]:
        """The integers, worst to best."""
        return tuple(p.point for p in self.points)

    @property
    def middle(self) -> int:
        """The point in the middle, the lower one of two."""
        return self.values[(len(self.values) - 1) // 2]

    def normalized(self, point: int) -> float:
        """Rank of ``point`` in [0, 1]. Raises ValueError for a value that is not on the scale."""
        return self.values.index(point) / (len(self.values) - 1)
