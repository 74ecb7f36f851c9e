"""The ways to rank a simulated group, each with the service's own code where it has any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from benchmarks.rank_quality.judges import Floats, Group
from judge_service.asking.ask import Answer
from judge_service.judges.judge import JudgeSpec
from judge_service.ranking.after_lists import orders_before
from judge_service.ranking.bradley_terry import Shown, strengths, win_shares
from judge_service.ranking.by_list import orders
from judge_service.ranking.by_pairs import why_undecided
from judge_service.ranking.schedule import Meeting, all_orders, schedule
from judge_service.ranking.standing import near_first, standardised
from judge_service.ranking.table import Table
from judge_service.reply.reply import Reading
from judge_service.usage import Usage

Way = Callable[[Group], Floats]
Told = Literal["choice", "tie", "odds", "overconfident odds"]
"""What an answer tells: who is chosen, ties where it is close, or the odds of the choice."""
SPEC = JudgeSpec(id="judge", model="openai/judge", family="alpha", top_logprobs=20)


def round_robin(group: Group) -> Floats:
    """What all else is measured by: everybody against everybody in both orders, wins counted."""
    wins = np.zeros(group.size)
    for first, second in schedule(group.size, all_orders(group.size)):
        wins[first if group.first_wins(first, second) else second] += 1
    return wins


def by_pairs(calls: int, told: Told = "choice") -> Way:
    """The service's win shares for a number of calls. A group that it calls inconclusive, to which
    it gives no rewards at all, counts as equal rewards.
    """

    def rank(group: Group) -> Floats:
        return _played(group, schedule(group.size, calls), told)

    return rank


def after_lists(calls: int, told: Told = "tie") -> Way:
    """The same with points in lists first, of one criterion, where the calls have room for them."""

    def rank(group: Group) -> Floats:
        number = orders_before(group.size, calls, 1)
        if not number:
            return _played(group, schedule(group.size, calls), told)
        standing = standardised(list(by_list(number)(group)))
        return _played(group, near_first(standing, calls - number), told, standing)

    return rank


def by_graded_pairs(calls: int) -> Way:
    """Five-level answers in the service's schedule and fit; it asks no judge for such answers."""

    def rank(group: Group) -> Floats:
        shown = [Shown(*m, 0, group.grade(*m)) for m in schedule(group.size, calls)]
        return win_shares(strengths(shown, group.size, 1))

    return rank


def by_list(number: int) -> Way:
    """The mean points of several lists of all members."""

    def rank(group: Group) -> Floats:
        shuffled = group.draw.permutation(group.size)
        asked = [[int(shuffled[m]) for m in order] for order in orders(group.size, number)]
        total = sum((group.listed(order) for order in asked), np.zeros(group.size))
        return total / number

    return rank


def by_points(times: int, *, rounded: bool = True) -> Way:
    """The mean of one or several assessments."""

    def rank(group: Group) -> Floats:
        all_points = [group.points(rounded=rounded) for _ in range(times)]
        return sum(all_points, np.zeros(group.size)) / times

    return rank


def settled(group: Group) -> Floats:
    """Points, and pairs in both orders among those that have the same."""
    points = group.points()
    rewards = points.copy()
    for point in set(points.tolist()):
        tied = [int(member) for member in np.flatnonzero(points == point)]
        for member in tied if len(tied) > 1 else ():
            won = sum(
                (group.first_wins(member, other) + (not group.first_wins(other, member))) / 2
                for other in tied
                if other != member
            )
            rewards[member] += 0.9 * (won / (len(tied) - 1) - 0.5)
    return rewards


def _played(
    group: Group, meetings: list[Meeting], told: Told, standing: Sequence[float] | None = None
) -> Floats:
    table = Table(
        judges=(SPEC,),
        meetings=meetings,
        replies={(SPEC.id, meeting): _answer(group, meeting, told) for meeting in meetings},
        members=group.size,
        quorum=1,
        graded=told.endswith("odds"),
        standing=standing,
    )
    error, _ = why_undecided(table)
    return np.array(table.shares()) if error is None else np.full(group.size, 0.5)


def _answer(group: Group, meeting: Meeting, told: Told) -> Answer:
    if told == "choice":
        first = group.first_wins(*meeting)
        reading = Reading(value="candidate_1" if first else "candidate_2", reason="")
    elif told == "tie":
        reading = Reading(value=group.choice(*meeting), reason="")
    else:
        chance = group.odds(*meeting, overconfident=told == "overconfident odds")
        reading = Reading(
            value="candidate_1" if chance > 0.5 else "candidate_2",
            reason="",
            probabilities={"choice": (chance, 1.0 - chance, 0.0)},
        )
    return Answer(
        judge=SPEC, reading=reading, reason="", model_served=None, unverified=False, attempts=1,
        latency_ms=0.0, usage=Usage(),
    )  # fmt: skip
