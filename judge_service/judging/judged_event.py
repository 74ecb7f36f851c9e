"""What is told of an outcome, once it is there."""

from __future__ import annotations

import time

from judge_service.case import Case
from judge_service.events import Judged, Kind, PairJudged
from judge_service.outcome import (
    Assessed,
    AssessFailed,
    AssessOutcome,
    Choice,
    Compared,
    CompareFailed,
    CompareOutcome,
    RankFailed,
    RankOutcome,
)
from judge_service.pairwise import pair_outcome
from judge_service.rules import RulesReport

_FAILED = (AssessFailed, CompareFailed, RankFailed)
SAME_TEXT = "same_text"
"""In place of a rule where two candidates are one, which is a tie without a judge."""


def judged(kind: Kind, case: Case, outcome: AssessOutcome | CompareOutcome | RankOutcome) -> Judged:
    """The event of an outcome that has just been reached."""
    error = outcome.error if isinstance(outcome, _FAILED) else None
    return Judged(
        kind=kind,
        rubric=case.rubric.id,
        code=None if error is None else error.code,
        reward=outcome.reward if isinstance(outcome, Assessed) else None,
        rule=_rule(outcome),
        seconds=time.monotonic() - case.started,
        family_unknown=any(flag.flag == "family_unknown" for flag in outcome.flags),
        audit=case.request.audit,
    )


def _rule(outcome: AssessOutcome | CompareOutcome | RankOutcome) -> str | None:
    """The hard rule that ended it, of the first candidate that broke one."""
    if not isinstance(outcome, (Assessed, Compared)) or not outcome.short_circuited:
        return None
    reports = (outcome.rules,) if isinstance(outcome.rules, RulesReport) else outcome.rules
    results = [result for report in reports for result in report.results]
    return next((r.rule for r in results if r.hard and not r.passed), SAME_TEXT)


def pair_judged(judge: str, ab: Choice, ba: Choice, rubric: str = "") -> PairJudged:
    """The event of a pair; ``ab`` and ``ba`` are in the caller's order."""
    return PairJudged(
        judge=judge,
        outcome=pair_outcome(ab, ba),
        # In order AB the candidate shown first is the caller's first, in BA the second.
        shown_first=(ab == "first") + (ba == "second"),
        decided=(ab != "tie") + (ba != "tie"),
        rubric=rubric,
    )
