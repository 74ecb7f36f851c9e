"""What is known of a candidate before any judge is asked: exhibit, rules, flags."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from judge_service.candidate.exhibit import Exhibit, exhibit, unread
from judge_service.deadline import Deadline
from judge_service.errors import DeadlineExceeded, InternalError, InvalidRequest, JudgingError
from judge_service.flags import Flag
from judge_service.request import Request
from judge_service.rubric.rubric import Rubric
from judge_service.rules import (
    RuleError,
    RuleNeedsReference,
    RuleResult,
    RulesReport,
    run_rules,
)
from judge_service.text.size import LONG, size_of
from judge_service.types import Candidate

_EMPTY = RuleResult(
    rule="non_empty", hard=True, weight=0.0, passed=False, score=0.0, detail="the answer is empty"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """A candidate as it is judged, with what the rules say and what stands out in it.

    ``rules`` is None exactly where they were not run to their end, and ``broken`` then says why;
    nothing can be made of such a candidate.
    """

    shown: Exhibit
    rules: RulesReport | None
    flags: tuple[Flag, ...]
    broken: JudgingError | None = None

    @property
    def passed(self) -> bool:
        """No hard rule is known to have failed, and there is an answer at all."""
        return self.rules is None or self.rules.passed

    @property
    def report(self) -> RulesReport:
        """What the rules say of a candidate that is not ``broken``."""
        assert self.rules is not None  # noqa: S101 - a broken one ends before anybody asks
        return self.rules

    def failed(self, result: RuleResult) -> Inspection:
        """The same with one more hard rule failed."""
        return replace(self, rules=_with_failed(self.report, result))


async def inspect(
    candidates: Sequence[Candidate], rubric: Rubric, request: Request, deadline: Deadline
) -> list[Inspection]:
    """Inspect every candidate of a request.

    Raises InvalidRequest when a rule compares with a reference and there is none it can use.
    """
    if not (rubric.ready and _detect.cache_info().currsize):
        try:
            await deadline.in_thread(lambda: _get_ready(rubric), "its rules were being loaded")
        except DeadlineExceeded as error:
            return [unseen(candidate, error) for candidate in candidates]
    given = [c.text if c.messages is None else c.messages for c in candidates]
    if size_of(request.prompt, request.reference, *given) < LONG:
        return [_inspect(c, rubric, request) for c in candidates]
    return [await _inspect_long(c, rubric, request, deadline) for c in candidates]


@cache
def _detect() -> Callable[[str], tuple[Flag, ...]]:
    """What finds planted verdicts. Its patterns take a tenth of a second, once in a process."""
    from judge_service.injection.detect import detect

    return detect


def _get_ready(rubric: Rubric) -> None:
    _detect()
    rubric.get_ready()


async def _inspect_long(
    candidate: Candidate, rubric: Rubric, request: Request, deadline: Deadline
) -> Inspection:
    try:
        return await deadline.in_thread(
            lambda: _inspect(candidate, rubric, request),
            "the rules were being checked",
            looking=True,
        )
    except DeadlineExceeded as error:
        return unseen(candidate, error)


def unseen(candidate: Candidate, why: JudgingError) -> Inspection:
    """A candidate that nobody looked at; nothing can be made of it."""
    return Inspection(shown=unread(candidate), rules=None, flags=(), broken=why)


def _inspect(candidate: Candidate, rubric: Rubric, request: Request) -> Inspection:
    shown = exhibit(candidate, rubric)
    given = shown.rule_input(request.prompt, request.reference)
    if shown.chars >= LONG:
        # A text that is over the limit is not worth seconds of checking what else is wrong with it.
        limits = [r for r in rubric.rules if r.hard and r.rule == "max_chars"]
        limited = run_rules(limits, given)
        if not limited.passed:
            return Inspection(shown=shown, rules=limited, flags=())
    flags = _detect()(shown.text)
    try:
        report = run_rules(rubric.rules, given)
    except RuleNeedsReference as error:
        raise InvalidRequest(f"rubric {rubric.id!r}: {error}", field="reference") from None
    except RuleError as error:
        return Inspection(shown=shown, rules=None, flags=flags, broken=InternalError(str(error)))
    if shown.empty and report.passed:
        report = _with_failed(report, _EMPTY)
    return Inspection(shown=shown, rules=report, flags=flags)


def _with_failed(report: RulesReport, result: RuleResult) -> RulesReport:
    """The same report with one more hard rule failed."""
    return RulesReport(passed=False, score=report.score, results=(*report.results, result))
