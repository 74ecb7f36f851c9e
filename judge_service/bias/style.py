"""Style: do markup and emoji gain at equal length?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge_service.bias.figure import Resampled, Said, Unsaid, share, too_few
from judge_service.bias.length import TYPICAL, chance, differences, preferences, squashed
from judge_service.bias.ranks import partial_correlation_of, ranks_within
from judge_service.bias.record import PairRecord, PointRecord
from judge_service.bias.regression import fit


def style(
    pairs: Sequence[PairRecord], points: Sequence[PointRecord], resampled: Resampled
) -> dict[str, Said]:
    """All figures of style, by name; they need the answers' texts, or counts made of them."""
    known = [
        p
        for p in pairs
        if p.preference is not None and p.lengths is not None and p.marks is not None
    ]
    return {
        "more_markup_won_share": _more_won(known),
        "effect": _effect(known),
        "point_correlation": _partial(points, resampled),
    }


def density(marks: int, chars: int) -> float:
    """Marks per 1,000 characters; a short answer counts as one of 200, so it may be bold."""
    return 1000.0 * marks / max(chars, 200)


def _densities(pair: PairRecord) -> tuple[float, float]:
    (one, two), (first, second) = pair.marks or (0, 0), pair.lengths or (0, 0)
    return density(one, first), density(two, second)


def _more_won(known: Sequence[PairRecord]) -> Said:
    won = []
    for pair in known:
        first, second = _densities(pair)
        if pair.outcome in ("first", "second") and first != second:
            won.append((first > second) == (pair.outcome == "first"))
    return share(sum(won), len(won), "wins between answers of different markup")


def _effect(known: Sequence[PairRecord]) -> Said:
    """The chance of the answer with more markup (by one standard deviation) at equal length."""
    short = too_few(len(known), "decided pairs of known markup")
    if short is not None:
        return short
    apart = squashed([a - b for a, b in map(_densities, known)])
    if not apart.any():
        return Unsaid("all pairs have equal markup")
    columns = [np.ones(len(known)), apart]
    lengths = differences(known)
    if lengths.any():
        columns.append(lengths)
    found = fit(columns, preferences(known))
    if found is None:
        return Unsaid("markup, or length, decides every pair by itself, or goes with the other")
    return chance(found[1], len(known), TYPICAL)


def _partial(points: Sequence[PointRecord], resampled: Resampled) -> Said:
    """Spearman's partial rho of markup and score with length held fixed, within each rubric."""
    known = [p for p in points if p.marks is not None]
    short = too_few(len(known), "scored answers of known markup")
    if short is not None:
        return short
    rubrics = [p.rubric for p in known]
    x, y, z = (
        ranks_within(np.array(column, dtype=np.float64), rubrics)
        for column in (
            [density(p.marks or 0, p.chars) for p in known],
            [p.value for p in known],
            [p.chars for p in known],
        )
    )
    flat = "all markup, all scores, or all lengths are the same"
    if any(np.ptp(column) == 0.0 for column in (x, y, z)):
        return Unsaid(flat)
    statistic = partial_correlation_of(x, y, z)
    return resampled(statistic, len(known), flat, clusters=[p.item for p in known])
