"""From points to a reward: median, weighted mean, and the formula.

reward = rule_pass × (w_rule · rule_score + w_model · model_score · length_factor)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judge_service.outcome import CriterionResult
from judge_service.reply.expectation import Expectation, middle
from judge_service.rubric.rubric import Criterion, Rubric
from judge_service.rules import RulesReport


def lower_median(points: Sequence[int]) -> int:
    """The middle point, of two the lower one: always a point that a judge gave."""
    return sorted(points)[(len(points) - 1) // 2]


def criterion_result(
    criterion: Criterion, points: Sequence[int], expected: Sequence[Expectation] | None = None
) -> CriterionResult:
    """A panel's points (at least one) on one criterion, made one; and what is expected of them,
    where the rubric wants that.
    """
    point = lower_median(points)
    return CriterionResult(
        point=point,
        normalized=criterion.points.normalized(point),
        weight=criterion.weight or 0.0,
        agreement=points.count(point) / len(points),
        votes=len(points),
        expected=None if expected is None else middle(expected),
    )


def model_score(rubric: Rubric, results: Mapping[str, CriterionResult], chars: int) -> float:
    """The judge's part in [0, 1]: criteria put together, times the length factor."""
    values = [(results[c.name].value, c.weight or 0.0) for c in rubric.criteria]
    if rubric.aggregate == "min":
        score = min(value for value, _ in values)
    else:
        total = sum(weight for _, weight in values)
        score = sum(value * weight for value, weight in values) / total
    return score * length_factor(rubric, chars)


def length_factor(rubric: Rubric, chars: int) -> float:
    """1.0 without length control or up to its free length, falling smoothly to 0.0."""
    return 1.0 if rubric.length is None else rubric.length.factor(chars)


def reward(rubric: Rubric, rules: RulesReport, model: float) -> float:
    """The number handed to a trainer, in [0, 1]."""
    if not rules.passed:
        return 0.0
    weights = rubric.weights
    # The weights sum to 1 within a tolerance; the best reward is 1 exactly.
    return (weights.rule * rules.score + weights.model * model) / (weights.rule + weights.model)
