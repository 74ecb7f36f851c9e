"""What one response has come to: a reward or a failure, and numbers whose names never change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judge_service.cohort.joined import Joined
from judge_service.cohort.wire import join_wire
from judge_service.errors import InternalError, JudgingError
from judge_service.judging.combine import reward as combined
from judge_service.judging.metrics import assess_metrics
from judge_service.outcome import Assessed, AssessOutcome
from judge_service.rubric.rubric import Rubric
from judge_service.rules import RulesReport

_GROUP = (
    "reward_mean", "reward_min", "reward_max", "zero_advantage", "near_duplicate_share",
    "length_correlation", "recent_length_correlation", "tie_rate", "pairs_asked",
    "pairs_inconsistent", "pairs_failed",
)  # fmt: skip
_CONSTANT = "constant_answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no reward, as the closed set of codes has it. ``tries`` is how often a group was
    judged in vain so far, 0 where nobody counted.
    """

    code: str
    message: str
    retryable: bool
    retry_after_s: float | None = None
    tries: int = 0

    @classmethod
    def of(cls, error: JudgingError) -> Failure:
        """The failure of an error."""
        return cls(
            code=error.code,
            message=str(error),
            retryable=error.retryable,
            retry_after_s=error.retry_after_s,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Exactly one of ``reward`` (in [0, 1]) and ``failure`` is set. ``rule_part`` is what rules
    gave of the reward. ``numbers`` have the same names for a rubric whatever happened.
    """

    reward: float | None = None
    failure: Failure | None = None
    rule_part: float = 0.0
    numbers: Mapping[str, float] = field(default_factory=dict)


def no_numbers(rubric: Rubric, *, group: bool) -> dict[str, float]:
    """All names that a rubric's answers have, each with 0.0."""
    if group:
        criteria = rubric.criteria if rubric.kind == "assess" else ()
        names = ["judge_failed", "too_long", "short_circuited", "cached", "rule_score", "wins",
                 "rank", "group/size", "group/members", f"group/{_CONSTANT}",
                 *(f"group/{name}" for name in _GROUP),
                 *(f"criterion/{c.name}" for c in criteria)]  # fmt: skip
    else:
        names = ["too_long", _CONSTANT, *assess_metrics(
            rubric, None, {}, (), chars=0, model_score=None, short_circuited=False
        )]  # fmt: skip
    return dict.fromkeys(names, 0.0)


def of_assessment(outcome: AssessOutcome, rubric: Rubric) -> Scored:
    """One response that was judged alone."""
    constant = {_CONSTANT: float(any(flag.flag == _CONSTANT for flag in outcome.flags))}
    numbers = no_numbers(rubric, group=False) | constant | dict(outcome.metrics)
    if not isinstance(outcome, Assessed):
        return Scored(failure=Failure.of(outcome.error), numbers=numbers)
    rules = outcome.rules
    return _rewarded(outcome.reward, rules.passed, rules.score, rubric, numbers)


def of_member(joined: Joined, rubric: Rubric) -> Scored:
    """One response that was judged as a member of its group."""
    wire = join_wire(joined)
    numbers = no_numbers(rubric, group=True) | _group_numbers(wire)
    if wire["reward"] is None:
        error = wire["error"]
        return Scored(
            failure=Failure(
                code=error["code"],
                message=error["message"],
                retryable=error["retryable"],
                retry_after_s=error["retry_after_s"],
                tries=joined.posted["tries"],
            ),
            numbers=numbers | {"judge_failed": 1.0},
        )
    rules = wire["rules"]
    return _rewarded(wire["reward"], rules["passed"], rules["score"], rubric, numbers)


def unjudged(rubric: Rubric, error: JudgingError) -> Scored:
    """One response that nobody was asked about."""
    numbers = no_numbers(rubric, group=False) | {"judge_failed": 1.0}
    return Scored(failure=Failure.of(error), numbers=numbers)


def too_long(rubric: Rubric, chars: int) -> Scored:
    """A response that is too long to be looked at: the caller's rule, no failure."""
    numbers = no_numbers(rubric, group=False)
    return Scored(
        reward=0.0,
        numbers=numbers | {"too_long": 1.0, "short_circuited": 1.0, "length_chars": float(chars)},
    )


def _rewarded(
    reward: float, passed: bool, rule_score: float, rubric: Rubric, numbers: dict[str, float]
) -> Scored:
    if not 0.0 <= reward <= 1.0 or not all(map(math.isfinite, numbers.values())):
        error = InternalError("a reward or a number of it is out of range")
        return Scored(
            failure=Failure.of(error),
            numbers=dict.fromkeys(numbers, 0.0) | {"judge_failed": 1.0},
        )
    report = RulesReport(passed=passed, score=rule_score, results=())
    return Scored(reward=float(reward), rule_part=combined(rubric, report, 0.0), numbers=numbers)


def _group_numbers(wire: Mapping[str, Any]) -> dict[str, float]:
    """What an answer to a member says in numbers."""
    group, rules = wire["group"], wire["rules"]
    metrics = group["metrics"]
    numbers = {
        "rank": float(wire["rank"] or 0),
        "wins": float(wire["wins"] or 0.0),
        "rule_score": 0.0 if rules is None else float(rules["score"]),
        "short_circuited": 0.0 if rules is None else float(not rules["passed"]),
        "cached": float(metrics.get("cached", 0.0)),
        "group/size": float(group["size"]),
        "group/members": float(group["members"] or 0),
        f"group/{_CONSTANT}": float(any(flag["flag"] == _CONSTANT for flag in wire["flags"])),
    }
    numbers |= {f"group/{name}": float(metrics.get(name, 0.0)) for name in _GROUP}
    for name, result in wire["criteria"].items():
        numbers[f"criterion/{name}"] = float(result["normalized"])
    return numbers
