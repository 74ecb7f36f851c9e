"""Stability: does a judge say the same of the same when it is asked again?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations

from judge_service.bias.figure import Resampled, Said, Unsaid, too_few
from judge_service.bias.record import PairRecord, PointRecord
from judge_service.statistics.bootstrap import ratio

NEVER_TWICE = "nothing was asked twice; a kept verdict given again says nothing"


def stability(
    pairs: Sequence[PairRecord], points: Sequence[PointRecord], resampled: Resampled
) -> dict[str, Said]:
    """Of all pairs of verdicts on one and the same question, the share that are equal.

    ``pairs`` and ``points`` are those of one judge, repeats included. What came from the cache is
    no second opinion and is left out. Intervals are over items.
    """
    choices: dict[tuple[str, Hashable], list[object]] = defaultdict(list)
    for pair in pairs:
        for order, choice in pair.fresh.items():
            choices[pair.item, order].append(choice)
    given: dict[tuple[str, Hashable], list[object]] = defaultdict(list)
    for point in points:
        for criterion, value in point.fresh.items():
            given[point.item, (point.rubric, criterion)].append(value)
    return {
        "choices": _agreement(choices, resampled),
        "points": _agreement(given, resampled),
    }


def _agreement(
    answers: Mapping[tuple[str, Hashable], Sequence[object]], resampled: Resampled
) -> Said:
    items, same, both = [], [], []
    for (item, _), repeats in answers.items():
        twos = list(combinations(repeats[:32], 2))
        if twos:
            items.append(item)
            # Every question weighs the same, however often it was asked.
            same.append(sum(a == b for a, b in twos) / len(twos))
            both.append(1.0)
    asked_again = len(set(items))
    if not asked_again:
        return Unsaid(NEVER_TWICE)
    short = too_few(asked_again, "items that were asked again")
    if short is not None:
        return short
    return resampled(ratio(same, both), len(items), NEVER_TWICE, n=asked_again, clusters=items)
