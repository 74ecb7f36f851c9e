"""Position: does it pay to be shown first, or last?

Shares of a judge's pairs with a verdict in both orders. Words as in Shi et al., "Judging the
Judges: A Systematic Study of Position Bias in LLM-as-a-Judge" (arXiv 2406.07791): consistency,
primacy, recency, and the raw preference fairness, which is the share of recency minus that of
primacy.
"""

from __future__ import annotations

from collections.abc import Sequence

from judge_service.bias.figure import Resampled, Said, Unsaid, share
from judge_service.bias.record import PairRecord
from judge_service.statistics.bootstrap import weighted_mean

PAIRS = "pairs with a verdict in both orders"


def position(pairs: Sequence[PairRecord], resampled: Resampled) -> dict[str, Said]:
    """All figures of position, by name.

    ``first_position_share`` is of single orders with a winner: 0.5 without a bias, whatever the
    answers are. The orders of one pair are no independent cases, so its interval is that of as
    many pairs as there are.
    """
    judged = [pair for pair in pairs if pair.outcome is not None]
    n = len(judged)

    def of(count: int) -> Said:
        return share(count, n, PAIRS)

    return {
        "consistent": of(sum(pair.outcome != "inconsistent" for pair in judged)),
        "ties": of(sum(pair.outcome == "tie" for pair in judged)),
        "primacy": of(sum(pair.gain == "primacy" for pair in judged)),
        "recency": of(sum(pair.gain == "recency" for pair in judged)),
        "preference_fairness": _fairness(judged, resampled),
        "first_position_share": _first_share(judged),
    }


def _fairness(judged: Sequence[PairRecord], resampled: Resampled) -> Said:
    if not judged:
        return Unsaid(f"there are no {PAIRS}")
    gains = [float(p.gain == "recency") - float(p.gain == "primacy") for p in judged]
    return resampled(weighted_mean(gains), len(gains), f"there are no {PAIRS}")


def _first_share(judged: Sequence[PairRecord]) -> Said:
    decided = sum(pair.decided for pair in judged)
    pairs = sum(pair.decided > 0 for pair in judged)
    return share(
        sum(pair.first_won for pair in judged), decided, "orders with a winner",
        independent=min(decided / 2, pairs),
    )  # fmt: skip
