"""From an outcome to observations: what a judge gave, how long the answers are, what rules say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from judge_service.candidate.inspection import Inspection
from judge_service.outcome import Assessed, Compared, CompareFailed, Outcome, Ranked, RankFailed
from judge_service.rubric.rubric import Rubric


class Scored(NamedTuple):
    """What one judge newly gave: ``score`` and ``rules`` in [0, 1], before length control and
    weights; ``rules`` is None where the rubric has none that count; ``chars`` of the answer.
    Of a group they are means over its members, with the ``correlation`` of reward and length in it
    where that says anything. ``at`` is when, in seconds since the epoch.
    """

    judge: str | None
    score: float
    rules: float | None
    chars: float
    at: float
    correlation: float | None = None


class Placed(NamedTuple):
    """Of the orders that one judge newly decided, the share in [0, 1] that the answer shown first
    won.
    """

    judge: str | None
    shown_first: float


def is_fresh(outcome: Outcome) -> bool:
    """Whether a judge was newly asked: kept verdicts tell nothing new."""
    if isinstance(outcome, (Ranked, RankFailed)):
        return any(count.cached < count.verdicts for count in outcome.judges)
    return any(not verdict.cached for verdict in outcome.verdicts)


def assessed(
    rubric: Rubric, inspection: Inspection, outcome: Assessed, at: float
) -> list[Scored] | None:
    """Of every judge that gave all points and did not only repeat kept ones; None where no judge
    was asked.
    """
    judge, fresh = "", False
    for verdict in outcome.verdicts:
        if judge not in ("", verdict.judge):
            return _of_panel(rubric, inspection, outcome, at)
        judge, fresh = verdict.judge, fresh or not verdict.cached
    if not fresh:
        return None
    if len(outcome.criteria) != len(rubric.criteria):
        return []
    total = weights = 0.0
    for result in outcome.criteria.values():
        total += result.weight * result.normalized
        weights += result.weight
    rules = inspection.report.score if rubric.weights.rule else None
    return [Scored(judge, total / weights, rules, len(inspection.shown.text), at)]


def _of_panel(
    rubric: Rubric, inspection: Inspection, outcome: Assessed, at: float
) -> list[Scored] | None:
    given: dict[str, dict[str, int]] = {}
    fresh: set[str] = set()
    for verdict in outcome.verdicts:
        if verdict.criterion is not None and verdict.point is not None:
            given.setdefault(verdict.judge, {})[verdict.criterion] = verdict.point
            if not verdict.cached:
                fresh.add(verdict.judge)
    if not fresh and all(verdict.cached for verdict in outcome.verdicts):
        return None
    rules = _rules(rubric, (inspection,))
    found = []
    for judge in sorted(fresh):
        points = given[judge]
        if len(points) < len(rubric.criteria):
            continue
        total = weights = 0.0
        for criterion in rubric.criteria:
            weight = criterion.weight or 0.0
            total += weight * criterion.points.normalized(points[criterion.name])
            weights += weight
        found.append(Scored(judge, total / weights, rules, inspection.shown.chars, at))
    return found


def ranked(
    rubric: Rubric, inspections: Sequence[Inspection], outcome: Ranked, at: float
) -> Scored | None:
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
        at=at,
        # The placeholder of what is not known is 0.0, which a correlation hardly ever is.
        correlation=correlation or None,
    )


def placed(outcome: Compared | CompareFailed | Ranked | RankFailed) -> Iterator[Placed]:
    """Of every judge of a pair that decided any order newly; of a group one for all its orders,
    which are of one prompt and alike. Also where nothing came of it: a judge that follows position
    leaves no outcome.
    """
    if isinstance(outcome, (Ranked, RankFailed)):
        share = outcome.pairs.first_position_share
        if share is not None:
            judges = {count.judge for count in outcome.judges}
            yield Placed(judges.pop() if len(judges) == 1 else None, share)
        return
    fresh = {verdict.judge for verdict in outcome.verdicts if not verdict.cached}
    for judge in sorted(fresh):
        chosen = {one.order: one.choice for one in outcome.orders if one.judge == judge}
        ab, ba = chosen.get("AB"), chosen.get("BA")
        if ab is None or ba is None:
            continue
        decided = (ab != "tie") + (ba != "tie")
        if decided:
            # In order AB the candidate shown first is the caller's first, in BA the second.
            yield Placed(judge, ((ab == "first") + (ba == "second")) / decided)


def _rules(rubric: Rubric, inspections: Sequence[Inspection]) -> float | None:
    """The mean rule score; None where no rule has a weight."""
    if rubric.weights.rule == 0.0:
        return None
    return sum(one.report.score for one in inspections) / len(inspections)


def mean_chars(inspections: Sequence[Inspection]) -> float:
    """Characters of an answer, the mean of several."""
    return sum(one.shown.chars for one in inspections) / max(1, len(inspections))
