"""A correction of a judge's scale: what its points are worth under one version of a rubric."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, Strict, StringConstraints, field_validator

if TYPE_CHECKING:
    from judge_service.rubric.rubric import Rubric

Value = Annotated[float, Strict(), Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class Correction(BaseModel):
    """``values`` has for each criterion what its points are worth, worst to best, never falling.

    It counts under the rubric whose hash begins with ``rubric_hash`` and under no other version.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rubric_hash: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8,64}$")]
    values: dict[str, Annotated[tuple[Value, ...], Field(min_length=2, max_length=10)]] = Field(
        min_length=1
    )

    @field_validator("values")
    @classmethod
    def _never_falling(cls, values: dict[str, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
        for name, worth in values.items():
            if any(b < a for a, b in pairwise(worth)):
                raise ValueError(f"{name}: a better point must not be worth less: {list(worth)}")
            if worth[0] == worth[-1]:
                raise ValueError(f"{name}: all points are worth the same")
        return values

    def counts_for(self, rubric: Rubric) -> bool:
        """Whether it was learnt under this very rubric."""
        return rubric.rubric_hash.startswith(self.rubric_hash)

    def worth(self, criterion: str, value: float) -> float:
        """What ``value`` in [0, 1] (a point's rank, or between two) is worth, in [0, 1]."""
        worth = self.values.get(criterion)
        if worth is None:
            return value
        place = value * (len(worth) - 1)
        below = min(int(place), len(worth) - 2)
        return worth[below] + (place - below) * (worth[below + 1] - worth[below])
