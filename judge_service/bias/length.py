"""Length: does the longer answer win, and who wins once that is taken out?

The length-controlled share follows AlpacaEval's (Dubois et al., arXiv 2404.04475): a logistic
regression of the preference on the difference in length, squashed by tanh of its standard
deviations, read off at equal length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from judge_service.bias.figure import Figure, Resampled, Said, Unsaid, share, too_few
from judge_service.bias.ranks import correlation_of, ranks_within
from judge_service.bias.record import PairRecord, PointRecord
from judge_service.bias.regression import Coefficient, Floats, fit
from judge_service.statistics.bootstrap import weighted_mean

DECIDED = "decided pairs of known lengths"
TYPICAL = math.tanh(1.0)
"""A difference of one standard deviation, squashed."""


def length(
    pairs: Sequence[PairRecord], points: Sequence[PointRecord], resampled: Resampled
) -> dict[str, Said]:
    """All figures of length, by name. An inconsistent pair is nobody's win and has no part."""
    decided = [p for p in pairs if p.preference is not None and p.lengths is not None]
    raw, controlled, effect = _controlled(decided, resampled)
    return {
        "longer_won_share": _longer_won(decided),
        "correlation": _correlation(decided, resampled),
        "first_won_share": raw,
        "controlled_first_won_share": controlled,
        "effect": effect,
        "point_correlation": _point_correlation(points, resampled),
    }


def differences(decided: Sequence[PairRecord]) -> Floats:
    """First minus second in length, in [-1, 1]: tanh of standard deviations; zeros where all
    differences are one.
    """
    return squashed([float(a - b) for a, b in (p.lengths or (0, 0) for p in decided)])


def squashed(values: Sequence[float]) -> Floats:
    """Hyperbolic tangents of ``values`` in root mean squares, so that zero stays what it is."""
    column = np.asarray(values, dtype=np.float64)
    scale = float(np.sqrt(np.mean(column * column))) if len(column) else 0.0
    return np.tanh(column / scale) if scale > 0.0 else np.zeros(len(column))


def preferences(decided: Sequence[PairRecord]) -> Floats:
    """Preferences for the first, in [0, 1]; an inconsistent pair must not be among them."""
    return np.array([p.preference for p in decided], dtype=np.float64)


def chance(found: Coefficient, n: int, at: float = 1.0) -> Figure:
    """A coefficient as a chance of winning: 0.5 where its column does nothing."""
    value, low, high = found.chance(at)
    return Figure(value=value, ci95=(low, high), n=n, method="sandwich")


def _longer_won(decided: Sequence[PairRecord]) -> Said:
    won = []
    for pair in decided:
        first, second = pair.lengths or (0, 0)
        if pair.outcome in ("first", "second") and first != second:
            won.append((first > second) == (pair.outcome == "first"))
    return share(sum(won), len(won), "wins between answers of different length")


def _correlation(decided: Sequence[PairRecord], resampled: Resampled) -> Said:
    """Spearman's rho of preference and log ratio of lengths.

    Each pair counts from both sides, so that it does not matter which answer is called the first;
    it is one case all the same.
    """
    short = too_few(len(decided), DECIDED)
    if short is not None:
        return short
    ratios = [math.log((a + 1) / (b + 1)) for a, b in (p.lengths or (0, 0) for p in decided)]
    wins = preferences(decided)
    x = np.concatenate((ratios, np.negative(ratios)))
    y = np.concatenate((wins, 1.0 - wins))
    if np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return Unsaid("all lengths or all preferences are the same")
    return resampled(
        correlation_of(ranks_within(x), ranks_within(y)),
        len(x),
        "all lengths or all preferences are the same",
        n=len(decided),
        clusters=[*range(len(decided))] * 2,
    )


def _controlled(decided: Sequence[PairRecord], resampled: Resampled) -> tuple[Said, Said, Said]:
    """The first's share of wins as it is and at equal length, and what length does to it."""
    n = len(decided)
    short = too_few(n, DECIDED)
    if short is not None:
        return short, short, short
    wins, apart = preferences(decided), differences(decided)
    raw = resampled(weighted_mean(wins), n, "no decided pair")
    if not apart.any():
        same = Unsaid("all pairs are of equal length")
        return raw, same, same
    found = fit([np.ones(n), apart], wins)
    if found is None:
        alone = Unsaid("length, or which answer comes first, decides every pair by itself")
        return raw, alone, alone
    return raw, chance(found[0], n), chance(found[1], n, TYPICAL)


def _point_correlation(points: Sequence[PointRecord], resampled: Resampled) -> Said:
    """Spearman's rho of an answer's length and its score, ranks taken within each rubric."""
    short = too_few(len(points), "scored answers")
    if short is not None:
        return short
    rubrics = [p.rubric for p in points]
    x = ranks_within(np.array([p.chars for p in points], dtype=np.float64), rubrics)
    y = ranks_within(np.array([p.value for p in points], dtype=np.float64), rubrics)
    flat = "all lengths or all scores are the same"
    if np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return Unsaid(flat)
    return resampled(correlation_of(x, y), len(points), flat, clusters=[p.item for p in points])
