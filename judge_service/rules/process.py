"""The rules about how the answer came about: ``finished`` and ``tool_calls``."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from judge_service.finish import CUT_OFF, ending

from .rule import PASSED, Finding, Rule, RuleInput, Texts, failed


class Finished(Rule):
    """Fails when the policy ran into its own token limit; an unknown finish reason passes."""

    rule: Literal["finished"] = "finished"

    def check(self, given: RuleInput) -> Finding:
        """Compare the finish reason, however it is spelt."""
        if ending(given.finish_reason) in CUT_OFF:
            return failed("the answer was cut off at its token limit")
        return PASSED


class ToolCalls(Rule):
    """Fails when the turn has fewer than ``min`` or more than ``max`` tool calls, misses a
    ``required`` tool or calls a ``forbidden`` one.

    The score is the least of: calls / min, max / calls, the share of required tools called, and
    the share of calls that are not forbidden. With ``max = 0`` any call scores 0.
    """

    rule: Literal["tool_calls"] = "tool_calls"
    min: int | None = Field(default=None, ge=1)
    max: int | None = Field(default=None, ge=0)
    required: Texts = ()
    forbidden: Texts = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.min is None and self.max is None and not self.required and not self.forbidden:
            raise ValueError("give at least one of min, max, required, forbidden")
        least = max(self.min or 0, len(set(self.required)))
        if self.max is not None and self.max < least:
            raise ValueError(f"max is {self.max} but at least {least} calls are asked for")
        both = set(self.required) & set(self.forbidden)
        if both:
            raise ValueError(f"both required and forbidden: {sorted(both)[0]!r}")
        return self

    def check(self, given: RuleInput) -> Finding:
        """Count the calls by name; names are compared exactly."""
        names = [call.name for call in given.tool_calls]
        found = [*self._count(len(names)), *self._names(names)]
        return min(found, key=lambda finding: finding.score) if found else PASSED

    def _count(self, calls: int) -> list[Finding]:
        found: list[Finding] = []
        if self.min is not None and calls < self.min:
            found.append(Finding(False, calls / self.min, f"{calls} tool calls, min {self.min}"))
        if self.max is not None and calls > self.max:
            found.append(Finding(False, self.max / calls, f"{calls} tool calls, max {self.max}"))
        return found

    def _names(self, names: list[str]) -> list[Finding]:
        found: list[Finding] = []
        wanted = sorted(set(self.required))
        missing = [name for name in wanted if name not in names]
        if missing:
            share = 1.0 - len(missing) / len(wanted)
            found.append(Finding(False, share, f"tool not called: {missing[0]!r}"))
        banned = [name for name in names if name in self.forbidden]
        if banned:
            share = 1.0 - len(banned) / len(names)
            found.append(Finding(False, share, f"forbidden tool called: {banned[0][:60]!r}"))
        return found
