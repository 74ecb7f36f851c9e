"""From an outcome to observations: what a judge gave, how long the answers are, what rules say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge_service.candidate.inspection import Inspection
from judge_service.outcome import Assessed, Outcome, Ranked
from judge_service.rubric.rubric import Rubric


@dataclass(frozen=True, slots=True)
class Scored:
    """What one judge newly gave: ``score`` and ``rules`` in [0, 1], before length control and
    weights; ``rules`` is None where the rubric has none that count; ``chars`` of the answer.
    Of a group they are means over its members, with the ``correlation`` of reward and length in it
    where that says anything.
    """

    judge: str | None
    score: float
    rules: float | None
    chars: float
    correlation: float | None = None


def is_fresh(outcome: Outcome) -> bool:
    """Whether a judge was newly asked: kept verdicts tell nothing new."""
    if isinstance(outcome, Ranked):
        return any(count.cached < count.verdicts for count in outcome.judges)
    return any(not verdict.cached for verdict in outcome.verdicts)


def assessed(rubric: Rubric, inspection: Inspection, outcome: Assessed) -> list[Scored]:
    """Of every judge that gave all points and did not only repeat kept ones."""
    given: dict[str, dict[str, int]] = {}
    fresh: set[str] = set()
    for verdict in outcome.verdicts:
        if verdict.criterion is not None and verdict.point is not None:
            given.setdefault(verdict.judge, {})[verdict.criterion] = verdict.point
            if not verdict.cached:
                fresh.add(verdict.judge)
    criteria = rubric.criteria
    rules = _rules(rubric, (inspection,))
    if len(given) == 1 and len(outcome.criteria) == len(criteria):
        results = outcome.criteria.values()
        weights = sum(result.weight for result in results)
        score = sum(result.weight * result.normalized for result in results) / weights
        return [Scored(judge, score, rules, inspection.shown.chars) for judge in fresh]
    found = []
    for judge in fresh:
        points = given[judge]
        if len(points) < len(criteria):
            continue
        total = weights = 0.0
        for criterion in criteria:
            weight = criterion.weight or 0.0
            total += weight * criterion.points.normalized(points[criterion.name])
            weights += weight
        found.append(Scored(judge, total / weights, rules, inspection.shown.chars))
    return found


def ranked(rubric: Rubric, inspections: Sequence[Inspection], outcome: Ranked) -> Scored | None:
    """Of a group whose members have points; None of one that was only compared."""
    judges = {count.judge for count in outcome.judges}
    members = [
        (member, one)
        for member, one in zip(outcome.members, inspections, strict=True)
        if member.criteria
    ]
    if not members:
        return None
    scores = []
    for member, _ in members:
        results = member.criteria.values()
        weights = sum(result.weight for result in results)
        scores.append(sum(result.weight * result.normalized for result in results) / weights)
    shown = [one for _, one in members]
    correlation = outcome.metrics.get("length_correlation", 0.0)
    return Scored(
        judge=judges.pop() if len(judges) == 1 else None,
        score=sum(scores) / len(scores),
        rules=_rules(rubric, shown),
        chars=mean_chars(shown),
        # The placeholder of what is not known is 0.0, which a correlation hardly ever is.
        correlation=correlation or None,
    )


def _rules(rubric: Rubric, inspections: Sequence[Inspection]) -> float | None:
    """The mean rule score; None where no rule has a weight."""
    if rubric.weights.rule == 0.0:
        return None
    return sum(one.rules.score for one in inspections) / len(inspections)


def mean_chars(inspections: Sequence[Inspection]) -> float:
    """Characters of an answer, the mean of several."""
    return sum(one.shown.chars for one in inspections) / max(1, len(inspections))
