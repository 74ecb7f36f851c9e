"""What is known of a candidate before any judge is asked: exhibit, rules, flags."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from judge_service.exhibit import Exhibit, exhibit
from judge_service.flags import Flag
from judge_service.injection import detect
from judge_service.request import Request
from judge_service.rubric import Rubric
from judge_service.rules import RuleResult, RulesReport, run_rules
from judge_service.types import Candidate

LONG_TEXT_CHARS = 20_000
"""From here on the checks run in a thread, so that one long text does not hold up the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """A candidate as it is judged, with what the rules say and what stands out in it."""

    shown: Exhibit
    rules: RulesReport
    flags: tuple[Flag, ...]

    @property
    def passed(self) -> bool:
        """No hard rule failed and there is an answer at all."""
        return self.rules.passed

    def failed(self, result: RuleResult) -> Inspection:
        """The same with one more hard rule failed."""
        rules = RulesReport(
            passed=False, score=self.rules.score, results=(*self.rules.results, result)
        )
        return replace(self, rules=rules)


async def inspect(
    candidates: Sequence[Candidate], rubric: Rubric, request: Request
) -> list[Inspection]:
    """Inspect every candidate of a request. Raises what a rule raises."""
    if sum(_size(c) for c in candidates) < LONG_TEXT_CHARS:
        return [_inspect(c, rubric, request) for c in candidates]
    return [await asyncio.to_thread(_inspect, c, rubric, request) for c in candidates]


def _size(candidate: Candidate) -> int:
    if candidate.messages is None:
        return len(candidate.text or "")
    return sum(len(message.text) for message in candidate.messages)


def _inspect(candidate: Candidate, rubric: Rubric, request: Request) -> Inspection:
    shown = exhibit(candidate, rubric)
    report = run_rules(rubric.rules, shown.rule_input(request.prompt, request.reference))
    if shown.empty and report.passed:
        empty = RuleResult(
            rule="non_empty", hard=True, weight=0.0, passed=False, score=0.0,
            detail="the answer is empty",
        )  # fmt: skip
        report = RulesReport(passed=False, score=report.score, results=(*report.results, empty))
    return Inspection(shown=shown, rules=report, flags=tuple(detect(shown.text)))
