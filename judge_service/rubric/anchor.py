"""Anchors: worked examples that fix what one point of a scale means."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, StrictInt


class Anchor(BaseModel):
    """One line of an anchors file. Trusted text of the operator, shown to judges."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    criterion: str = Field(min_length=1)
    point: StrictInt
    prompt: str = Field(pattern=r"\S", max_length=20_000)
    candidate: str = Field(max_length=20_000)
    reference: str | None = Field(default=None, max_length=20_000)
    reason: str = Field(pattern=r"\S", max_length=4_000)
