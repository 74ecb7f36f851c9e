"""A swapped pair: what two orders of one judge, and the pairs of a panel, come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from judge_service.outcome import Choice, Order, PairOutcome

PREFERENCE: dict[PairOutcome, float | None] = {
    "first": 1.0,
    "second": 0.0,
    "tie": 0.5,
    "inconsistent": None,
}
Gain = Literal["primacy", "recency"]


def mapped_back(label: str, order: Order) -> Choice:
    """A choice among the slots as shown, in the caller's order."""
    if label == "tie":
        return "tie"
    shown_first = label == "candidate_1"
    return "first" if shown_first == (order == "AB") else "second"


def pair_outcome(ab: Choice, ba: Choice) -> PairOutcome:
    """Both orders agree, or nobody has won. A tie in one order only is a disagreement too."""
    return ab if ab == ba else "inconsistent"


def gained(ab: Choice, ba: Choice) -> Gain | None:
    """Which position gained from the disagreement of the two orders; None when they agree."""
    if ab == ba:
        return None
    return "primacy" if ab == "first" or ba == "second" else "recency"


def panel_outcome(outcomes: Sequence[PairOutcome], asked: int) -> PairOutcome:
    """The strict majority of the ``asked`` judges, else inconsistent.

    ``outcomes`` are the pairs of those that answered; an inconsistent pair is no vote.
    """
    votes = Counter(outcome for outcome in outcomes if outcome != "inconsistent")
    if not votes:
        return "inconsistent"
    (winner, count), *_ = votes.most_common(1)
    return winner if 2 * count > asked else "inconsistent"
