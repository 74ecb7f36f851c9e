"""What a judge's verdict on a gold item is worth: its value, and whether people agree."""

from __future__ import annotations

from judge_service.drift.judgement import Judgement
from judge_service.gold.item import GoldItem
from judge_service.pairwise import PREFERENCE
from judge_service.rubric.rubric import Rubric

CLOSE = 0.5
"""A point agrees with people when it is no farther than this, in points, from their mean."""
_NEITHER = 0.5


def value_of(judgement: Judgement, rubric: Rubric) -> float | None:
    """The verdict in [0, 1]: points by weight, or the preference for the first (0.5 where it is
    inconsistent); None where there is none.
    """
    if judgement.status != "judged":
        return None
    if judgement.points:
        worth = [
            (c.points.normalized(judgement.points[c.name]), c.weight or 0.0)
            for c in rubric.criteria
            if c.name in judgement.points
        ]
        total = sum(weight for _, weight in worth)
        return sum(value * weight for value, weight in worth) / total if total else None
    if judgement.outcome is None:
        return None
    preference = PREFERENCE[judgement.outcome]
    return _NEITHER if preference is None else preference


def agreement_of(judgement: Judgement, item: GoldItem) -> float | None:
    """The share of labelled criteria that agree with people, or 1.0 and 0.0 of a choice; None where
    there is nothing to agree with.
    """
    if judgement.status != "judged":
        return None
    if judgement.points:
        close = [
            abs(point - human) <= CLOSE
            for name, point in judgement.points.items()
            if (human := item.human(name)) is not None
        ]
        return sum(close) / len(close) if close else None
    if item.human_choice is None or judgement.outcome is None:
        return None
    return float(judgement.outcome == item.human_choice)
