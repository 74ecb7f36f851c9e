"""Where members stand after lists, and which pairs to ask of them then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from judge_service.ranking.schedule import Meeting

EQUAL = 1e-9
"""Scores in [0, 1] that are closer than this differ by rounding."""


def standardised(scores: Sequence[float]) -> tuple[float, ...]:
    """The same with mean 0 and standard deviation 1; all 0 where they are equal, rounding aside."""
    values = np.array(scores, dtype=np.float64)
    if np.ptp(values) < EQUAL:
        return (0.0,) * len(scores)
    return tuple(((values - values.mean()) / values.std()).tolist())


def near_first(standing: Sequence[float], calls: int) -> list[Meeting]:
    """The first ``calls`` meetings of members that stand at ``standing``, never more than there
    are.

    Neighbours first, which connects everybody; then each member with one half of the ranking away,
    so that a ranking of lists that is wrong from top to bottom is found out; then those two places
    apart, three, and so on. The better one is shown first in every other call, else who was shown
    first less often. At last come the same pairs the other way round.
    """
    ranked, calls = _ranked(standing), max(0, calls)
    places = islice(_pairs_of_places(len(ranked)), calls)
    once = _in_balance([(ranked[a], ranked[b]) for a, b in places])
    return once + [Meeting(second, first) for first, second in once[: calls - len(once)]]


def far_apart(standing: Sequence[float]) -> set[frozenset[int]]:
    """The pairs of members that are half of the ranking or more apart."""
    ranked = _ranked(standing)
    half = _half(len(ranked))
    return {
        frozenset((better, worse))
        for place, better in enumerate(ranked)
        for worse in ranked[place + half :]
    }


def _ranked(standing: Sequence[float]) -> list[int]:
    return sorted(range(len(standing)), key=lambda member: (-standing[member], member))


def _half(members: int) -> int:
    return (members + 1) // 2


def _pairs_of_places(members: int) -> Iterator[tuple[int, int]]:
    """All pairs of places of a ranking, the better one first, in the order they are asked in."""
    steps = dict.fromkeys([1, _half(members), *range(2, members)])
    return ((a, a + step) for step in steps for a in range(members - step))


def _in_balance(pairs: Sequence[tuple[int, int]]) -> list[Meeting]:
    shown = [0] * (1 + max((max(pair) for pair in pairs), default=0))
    """How much more often a member was shown first than second."""
    ahead, meetings = 0, []
    for better, worse in pairs:
        straight = ahead < 0 or (ahead == 0 and shown[better] <= shown[worse])
        first, second = (better, worse) if straight else (worse, better)
        ahead += 1 if straight else -1
        shown[first] += 1
        shown[second] -= 1
        meetings.append(Meeting(first, second))
    return meetings
