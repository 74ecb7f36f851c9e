"""Equal rewards of an assessed group, told apart by pairs as far as the budget goes."""

from __future__ import annotations

from collections.abc import Sequence

from judge_service.flags import Flag
from judge_service.judges.judge import JudgeSpec
from judge_service.judging.selection import Selection
from judge_service.outcome import PairCounts
from judge_service.ranking.by_pairs import play
from judge_service.ranking.group import Group
from judge_service.ranking.members import Distinct
from judge_service.ranking.schedule import default_calls, fewest
from judge_service.ranking.settling import Room, apart, room, smallest_step, tied
from judge_service.ranking.tournament import appeal_of, are_graded


async def settle(
    group: Group,
    selection: Selection,
    panel: Sequence[JudgeSpec],
    places: Sequence[int],
    left: int | None,
) -> None:
    """Tell equal rewards at ``places`` apart by pairs of the judges that gave them, for at most
    ``left`` verdicts.
    """
    case, counts = group.case, []
    graded = are_graded(case, panel)
    before = [state.reward for state in group.states if state.reward is not None]
    known = ((place, group.states[place].reward) for place in places)
    rewards = {place: reward for place, reward in known if reward is not None}
    for together in tied(rewards):
        answers = group.distinct(together, exact=False)
        step = min(smallest_step(case.rubric, group.chars(place)) for place in together)
        if len(answers) < 2 or step <= 0.0:
            continue
        calls = default_calls(len(answers), graded=graded)
        if left is not None:
            calls = min(calls, left // len(panel))
            if calls < fewest(len(answers)):
                case.flag(_unsettled(together, "max_calls leaves too few calls"))
                continue
            left -= calls * len(panel)
        appeal = appeal_of(case, selection, panel, left)
        played = await play(case, group.source, panel, answers, calls, group.history, appeal=appeal)
        if left is not None:
            left -= played.asked - calls * len(panel)
        group.answers += played.answers
        counts.append(played.counts)
        if played.error is not None:
            case.flag(_unsettled(together, str(played.error)))
        elif apart(played.shares):
            _move(group, answers, played.shares, room(rewards[together[0]], before, step))
    if counts:
        group.counts = _sum(counts)


def _move(group: Group, answers: Sequence[Distinct], shares: Sequence[float], room: Room) -> None:
    for answer, share in zip(answers, shares, strict=True):
        for place in answer.places:
            state = group.states[place]
            state.wins = share
            state.reward = room.at(share)


def _unsettled(places: Sequence[int], why: str) -> Flag:
    return Flag("unsettled_ties", f"candidates {', '.join(map(str, places))}: {why}"[:300])


def _sum(counts: Sequence[PairCounts]) -> PairCounts:
    """Several tables as one; the first-position share is the mean by pairs asked."""
    known = [c for c in counts if c.first_position_share is not None]
    asked = sum(c.asked for c in known)
    share = sum((c.first_position_share or 0.0) * c.asked for c in known) / asked if asked else None
    return PairCounts(
        asked=sum(c.asked for c in counts),
        consistent=sum(c.consistent for c in counts),
        tie=sum(c.tie for c in counts),
        inconsistent=sum(c.inconsistent for c in counts),
        failed=sum(c.failed for c in counts),
        single=sum(c.single for c in counts),
        first_position_share=share,
    )
