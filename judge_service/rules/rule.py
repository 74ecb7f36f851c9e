"""What a rule is: what it is given, what it finds, and the base class of every rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from judge_service.types import ToolCall

MAX_DETAIL = 200
"""Longest ``detail`` in characters; longer ones are cut."""


class RuleConfigError(ValueError):
    """A ``[[rules]]`` table is wrong. The message starts with the place: ``rules[2].limit``."""


class RuleNeedsReference(ValueError):
    """A rule compares with a reference and the request brought none that it can use."""


class RuleError(RuntimeError):
    """A rule broke while checking: it raised, or its score was no number in [0, 1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleInput:
    """One candidate as the rules see it.

    ``text`` is the text as judged (reasoning already stripped where the rubric says so).
    ``prompt`` is what the candidate answered: for a conversation, the last user turn.
    """

    text: str
    prompt: str = ""
    reference: str | None = None
    finish_reason: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()


class Finding(NamedTuple):
    """What one check found. ``score`` is in [0, 1]; ``detail`` says why, for people."""

    passed: bool
    score: float
    detail: str | None = None


class RuleResult(NamedTuple):
    """A finding together with the rule that made it."""

    rule: str
    hard: bool
    weight: float
    passed: bool
    score: float
    detail: str | None


class Rule(BaseModel):
    """A deterministic check of one candidate, as configured by one ``[[rules]]`` table.

    A hard rule must pass, else the reward is 0 and no judge is asked. Any other rule enters
    the rule score by its ``weight``. A rule is one or the other. Subclasses add parameters as
    fields and override ``check``; they hold no state and never change what they are given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    rule: str
    hard: bool = False
    weight: float = Field(default=0.0, ge=0.0, le=1e6)

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if self.hard and self.weight > 0:
            raise ValueError("a hard rule has no weight: it stops, it does not count")
        if not self.hard and self.weight == 0:
            raise ValueError("does nothing: give it hard = true or a weight above 0")
        return self

    def check_reference(self, reference: str | None) -> None:
        """Raise RuleNeedsReference where ``check`` would, whatever the candidate."""

    def get_ready(self) -> None:
        """Load what ``check`` needs and takes long to load; in any thread, before the first check.
        Without it that one takes longer.
        """

    def check(self, given: RuleInput) -> Finding:
        """Judge one candidate. Must not depend on anything but ``given`` and the parameters."""
        raise NotImplementedError


PASSED = Finding(True, 1.0)


def failed(detail: str) -> Finding:
    """A finding that fails outright, with score 0."""
    return Finding(False, 0.0, detail)


def plain_or(passed: bool, detail: str) -> Finding:
    """``PASSED``, or failed with ``detail``."""
    return PASSED if passed else failed(detail)


def ramp(value: float, free: float, limit: float) -> float:
    """1.0 up to ``free``, then a straight fall to 0.0 at ``limit``: never a cliff."""
    if value <= free:
        return 1.0
    return max(0.0, (limit - value) / (limit - free)) if value < limit else 0.0


def _listed(value: object) -> object:
    """TOML and JSON have lists only; a lone text is a list of one."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


NonBlank = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"\S")]
Texts = Annotated[tuple[NonBlank, ...], BeforeValidator(_listed)]
"""A list of texts that are not blank, each of up to 200 characters; one text is a list of one."""
