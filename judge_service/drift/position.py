"""Position bias of a judge of pairs: what the two orders of each pair come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from judge_service.outcome import Choice
from judge_service.pairwise import gained
from judge_service.statistics.estimate import Estimate, wire
from judge_service.statistics.interval import wilson
from judge_service.statistics.rates import rate

Orders = tuple[Choice | None, Choice | None]
"""The choices of a pair asked as AB and as BA, both mapped back; None is no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionCounts:
    """Counts over ``n`` pairs: ``n`` = consistent + primacy + recency + error.

    ``consistent`` pairs had the same outcome in both orders, ``consistent_tie`` of them were ties.
    In a pair counted under ``primacy`` (``recency``) the answer shown first (second) gained.
    ``flip_full`` went from one winner to the other, ``flip_tie`` between a winner and a tie. Of an
    ``error`` at least one order has no verdict. ``first_won`` and ``decided`` count single orders.
    """

    n: int
    consistent: int
    consistent_tie: int
    primacy: int
    recency: int
    flip_full: int
    flip_tie: int
    error: int
    first_won: int
    decided: int

    @property
    def answered(self) -> int:
        """Pairs with a verdict in both orders."""
        return self.n - self.error

    @property
    def first_position_share(self) -> Estimate | None:
        """Of single orders with a winner, the share that the answer shown first won.

        0.5 without a bias, whatever the answers are. The two orders of one pair are no independent
        cases, so the interval counts pairs.
        """
        if not self.decided:
            return None
        share = self.first_won / self.decided
        return Estimate(share, wilson(share, self.decided / 2))

    @property
    def preference_fairness(self) -> float | None:
        """Recency less primacy as a share of the answered pairs, in [-1, 1]; 0 is fair."""
        return (self.recency - self.primacy) / self.answered if self.answered else None

    def wire(self) -> dict[str, Any]:
        """JSON."""
        return {
            "n": self.n,
            "error": self.error,
            "consistency": wire(rate(self.consistent, self.answered)),
            "ties": wire(rate(self.consistent_tie, self.answered)),
            "primacy": wire(rate(self.primacy, self.answered)),
            "recency": wire(rate(self.recency, self.answered)),
            "first_position_share": wire(self.first_position_share),
            "preference_fairness": self.preference_fairness,
        }


def position_counts(pairs: Iterable[Orders]) -> PositionCounts:
    """Count pairs by what their two orders come to."""
    counts: Counter[str] = Counter()
    for ab, ba in pairs:
        counts["n"] += 1
        if ab is None or ba is None:
            counts["error"] += 1
            continue
        counts["decided"] += (ab != "tie") + (ba != "tie")
        counts["first_won"] += (ab == "first") + (ba == "second")
        gain = gained(ab, ba)
        if gain is None:
            counts["consistent"] += 1
            counts["consistent_tie"] += ab == "tie"
            continue
        counts[gain] += 1
        counts["flip_tie" if "tie" in (ab, ba) else "flip_full"] += 1
    return PositionCounts(**{n: counts[n] for n in PositionCounts.__dataclass_fields__})
