"""With how few calls each kind of answer reaches enough of what a round robin is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.rank_quality.judges import SimulatedJudge, mean_tau
from benchmarks.rank_quality.ways import Way, after_lists, by_graded_pairs, by_list, by_pairs
from judge_service.ranking.by_list import most_orders
from judge_service.ranking.schedule import all_orders

ENOUGH = 0.95
LOGPROBS, TIES = "logprobs", "choices, ties where close"
POINTS_AND_TIES = "points in lists, then choices with ties"


class Plan(NamedTuple):
    """One row: its name, its calls (None where the points decide), and the way."""

    name: str
    calls: int | None
    way: Way


class Reading(NamedTuple):
    """One kind of answer, the plans that use it with rising calls, and the goal for their share."""

    name: str
    plans: tuple[Plan, ...]
    goal: float | None


@dataclass(frozen=True, slots=True)
class Fewest:
    """``calls`` is None where enough is never reached. ``best`` is the most that is reached at all,
    ``within`` with no more calls than the goal allows; both are shares of a round robin's tau.
    """

    calls: int | None
    within: float
    best: float


def fewest(
    reading: Reading, judge: SimulatedJudge, size: int, whole: float, *, groups: int, seed: int
) -> Fewest:
    """The plan with fewest calls that reaches enough of ``whole``, the round robin's tau."""
    within, best = 0.0, 0.0
    for plan in reading.plans:
        found = mean_tau(judge, size, plan.way, groups=groups, seed=seed) / whole
        best, calls = max(best, found), plan.calls or 0
        if reading.goal is not None and calls <= reading.goal * all_orders(size):
            within = max(within, found)
        if found >= ENOUGH:
            return Fewest(calls, within, best)
    return Fewest(None, within, best)


def readings(size: int) -> Iterable[Reading]:
    """What an answer may tell, and the calls that are tried."""
    every = all_orders(size)
    some = [c for c in (16, 24, 28, 32, 36, 40, 48, 56, 64, 72, 80, 96, 108) if c < every // 2]
    pairs = [*some, every // 2, 160, 200, every]

    def of(name: str, way: Callable[[int], Way], calls: Iterable[int]) -> tuple[Plan, ...]:
        return tuple(Plan(f"{name} {number}", number, way(number)) for number in calls)

    yield Reading("choices", of("pairs", by_pairs, pairs), None)
    yield Reading(TIES, of("pairs", lambda n: by_pairs(n, "tie"), pairs), 0.3)
    yield Reading(POINTS_AND_TIES, of("lists, pairs", after_lists, pairs), 0.3)
    yield Reading(
        "points in lists, then choices",
        of("lists, pairs", lambda n: after_lists(n, "choice"), pairs),
        0.3,
    )
    yield Reading(LOGPROBS, of("odds", lambda n: by_pairs(n, "odds"), pairs), 0.15)
    yield Reading(
        "logprobs, overconfident",
        of("odds", lambda n: by_pairs(n, "overconfident odds"), pairs),
        0.15,
    )
    lists = [n for n in (1, 2, 4, 8, 12, 16, 24, 32) if n <= most_orders(size)]
    yield Reading("points in lists", of("lists", by_list, lists), 0.3)
    yield Reading("five-level pairs (not offered)", of("graded", by_graded_pairs, pairs[:-3]), 0.3)
