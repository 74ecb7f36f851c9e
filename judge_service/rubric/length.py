"""Length control: how much of the model part of a reward is left for a long text."""

from __future__ import annotations

import math
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class LengthControl(BaseModel):
    """A smooth decay over the length of a text, in characters of the text as judged.

    Up to ``free_chars`` length has no effect; at ``zero_chars`` nothing is left. In between the
    factor falls along half a cosine period, flat at both ends: one more character never costs a
    visible step, so a policy finds no edge to sit on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    free_chars: Annotated[int, Field(strict=True, ge=0)]
    zero_chars: Annotated[int, Field(strict=True, gt=0)]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.free_chars >= self.zero_chars:
            raise ValueError(
                f"free_chars ({self.free_chars}) must be smaller than "
                f"zero_chars ({self.zero_chars})"
            )
        return self

    def factor(self, chars: int) -> float:
        """Return the share that is left for a text of ``chars`` characters, in [0, 1]."""
        if chars <= self.free_chars:
            return 1.0
        if chars >= self.zero_chars:
            return 0.0
        progress = (chars - self.free_chars) / (self.zero_chars - self.free_chars)
        return 0.5 * (1.0 + math.cos(math.pi * progress))
