"""What is known of a candidate before any judge is asked: exhibit, rules, flags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from judge_service.candidate.exhibit import Exhibit, exhibit, unread
from judge_service.deadline import Deadline
from judge_service.errors import DeadlineExceeded, InternalError, InvalidRequest, JudgingError
from judge_service.flags import Flag
from judge_service.injection.detect import detect
from judge_service.request import Request
from judge_service.rubric.rubric import Rubric
from judge_service.rules import (
    RuleError,
    RuleNeedsReference,
    RuleResult,
    RulesReport,
    run_rules,
)
from judge_service.types import Candidate

LONG_TEXT_CHARS = 20_000
"""From here on the checks run in a thread, so that one long text does not hold up the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """A candidate as it is judged, with what the rules say and what stands out in it.

    ``broken`` says why the rules could not be checked; nothing can be made of such a candidate.
    """

    shown: Exhibit
    rules: RulesReport
    flags: tuple[Flag, ...]
    broken: JudgingError | None = None

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
    candidates: Sequence[Candidate], rubric: Rubric, request: Request, deadline: Deadline
) -> list[Inspection]:
    """Inspect every candidate of a request.

    Raises InvalidRequest when a rule compares with a reference and there is none it can use.
    """
    if not rubric.ready:
        try:
            await deadline.in_thread(rubric.get_ready, "its rules were being loaded")
        except DeadlineExceeded as error:
            return [unseen(candidate, error) for candidate in candidates]
    if sum(_size(c) for c in candidates) < LONG_TEXT_CHARS:
        return [_inspect(c, rubric, request) for c in candidates]
    return [await _inspect_long(c, rubric, request, deadline) for c in candidates]


async def _inspect_long(
    candidate: Candidate, rubric: Rubric, request: Request, deadline: Deadline
) -> Inspection:
    try:
        return await deadline.in_thread(
            lambda: _inspect(candidate, rubric, request), "the rules were being checked"
        )
    except DeadlineExceeded as error:
        return unseen(candidate, error)


def unseen(candidate: Candidate, why: JudgingError) -> Inspection:
    """A candidate that nobody looked at; nothing can be made of it."""
    nothing = RulesReport(passed=True, score=0.0, results=())
    return Inspection(shown=unread(candidate), rules=nothing, flags=(), broken=why)


def _size(candidate: Candidate) -> int:
    if candidate.messages is None:
        return len(candidate.text or "")
    return sum(len(message.text) for message in candidate.messages)


def _inspect(candidate: Candidate, rubric: Rubric, request: Request) -> Inspection:
    shown = exhibit(candidate, rubric)
    given = shown.rule_input(request.prompt, request.reference)
    if shown.chars >= LONG_TEXT_CHARS:
        # A text that is over the limit is not worth seconds of checking what else is wrong with it.
        limits = [r for r in rubric.rules if r.hard and r.rule == "max_chars"]
        limited = run_rules(limits, given)
        if not limited.passed:
            return Inspection(shown=shown, rules=limited, flags=())
    broken: JudgingError | None = None
    try:
        report = run_rules(rubric.rules, given)
    except RuleNeedsReference as error:
        raise InvalidRequest(f"rubric {rubric.id!r}: {error}", field="reference") from None
    except RuleError as error:
        broken = InternalError(str(error))
        report = RulesReport(passed=True, score=0.0, results=())
    if shown.empty and report.passed:
        empty = RuleResult(
            rule="non_empty", hard=True, weight=0.0, passed=False, score=0.0,
            detail="the answer is empty",
        )  # fmt: skip
        report = RulesReport(passed=False, score=report.score, results=(*report.results, empty))
    return Inspection(shown=shown, rules=report, flags=tuple(detect(shown.text)), broken=broken)
