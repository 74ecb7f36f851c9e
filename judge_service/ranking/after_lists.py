"""Lists before pairs: how many to ask, and where the members stand by them.

A list shows all members at once, so that one call tells something of each; yet a judge's lasting
error about an answer is in all of its lists. A pair tells little, but its errors are its own. So a
part of the calls goes to lists, and the pairs then ask above all who is better of two that came out
close, where the answer is least foreseen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge_service.asking.ask import Answer
from judge_service.case import Case
from judge_service.errors import JudgingError
from judge_service.judges.judge import JudgeSpec
from judge_service.judging.combine import model_score
from judge_service.ranking.by_list import most_orders, score_lists
from judge_service.ranking.members import Distinct
from judge_service.ranking.schedule import all_orders, fewest
from judge_service.ranking.standing import standardised
from judge_service.verdicts.source import VerdictSource

CALLS_PER_LIST_CALL = 5
"""One call in so many is a list."""


def orders_before(members: int, calls: int, criteria: int) -> int:
    """In how many orders a judge is asked lists of ``members``, out of ``calls`` for lists (one
    for each of ``criteria`` in each order) and pairs together.

    An even number, for every other order is the one before turned round. 0 where the calls have no
    room for two and the fewest pairs, and where they are enough for all pairs in both orders.
    """
    if calls >= all_orders(members):
        return 0
    room = min(calls // CALLS_PER_LIST_CALL, calls - fewest(members)) // criteria
    orders = min(room, most_orders(members))
    return max(0, orders - orders % 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What lists say: where each member stands, ``standardised``, or an ``error``; neither where no
    list was asked. ``asked`` is for how many verdicts was asked.
    """

    answers: tuple[Answer, ...] = ()
    asked: int = 0
    standing: tuple[float, ...] | None = None
    error: JudgingError | None = None


NOT_LOOKED = Looked()


async def look(
    case: Case,
    source: VerdictSource,
    judges: Sequence[JudgeSpec],
    answers: Sequence[Distinct],
    orders: int,
) -> Looked:
    """Ask every judge for lists of the answers in so many orders. Length has no part in where they
    stand, for it has its part in the reward later.
    """
    rubric = case.rubric
    listed = await score_lists(case, source, judges, answers, orders)
    scores = [model_score(rubric, results, 0) for results in listed.results]
    return Looked(
        answers=listed.answers,
        asked=orders * len(rubric.criteria) * len(judges),
        standing=standardised(scores) if listed.error is None else None,
        error=listed.error,
    )
