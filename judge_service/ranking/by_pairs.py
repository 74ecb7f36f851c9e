"""The members of a group against each other, pair by pair, all by the same judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge_service.ask import Answer
from judge_service.case import Case
from judge_service.envelope import Question, compare_question
from judge_service.errors import Inconclusive, JudgingError
from judge_service.history import PairHistory
from judge_service.judge import JudgeSpec
from judge_service.judged_event import pair_judged
from judge_service.outcome import PairCounts
from judge_service.ranking.asking import Ask, ask_all
from judge_service.ranking.members import Distinct
from judge_service.ranking.schedule import Meeting, schedule
from judge_service.ranking.table import Table
from judge_service.verdicts.source import VerdictSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What the pairs of a group came to: ``shares`` in the order of the answers, each in [0, 1], or
    an ``error`` and the ``undecided`` answers that it is about.
    """

    counts: PairCounts
    answers: tuple[Answer, ...]
    shares: tuple[float, ...] = ()
    error: JudgingError | None = None
    undecided: frozenset[int] = frozenset()


async def play(
    case: Case,
    source: VerdictSource,
    judges: Sequence[JudgeSpec],
    answers: Sequence[Distinct],
    calls: int,
    history: PairHistory,
) -> Played:
    """Ask every judge ``calls`` orders of the pairs of at least two answers."""
    meetings = schedule(len(answers), calls)
    places = [(judge, meeting) for judge in judges for meeting in meetings]
    asks = [Ask(judge=judge, question=_question(case, answers, m)) for judge, m in places]
    replies = await ask_all(case, source, asks)
    table = Table(
        judges=judges,
        meetings=meetings,
        replies={(j.id, m): reply for (j, m), reply in zip(places, replies, strict=True)},
        members=len(answers),
        quorum=min(case.rubric.judging.quorum, len(judges)),
    )
    if not case.request.audit:
        _note(case, table, answers, history)
    given = tuple(reply for reply in replies if isinstance(reply, Answer))
    error, undecided = _verdictless(table)
    if error is not None:
        return Played(counts=table.counts(), answers=given, error=error, undecided=undecided)
    return Played(counts=table.counts(), answers=given, shares=table.shares())


def _question(case: Case, answers: Sequence[Distinct], meeting: Meeting) -> Question:
    shown = (answers[meeting.first].shown, answers[meeting.second].shown)
    return compare_question(case.rubric, case.request.prompt, shown, case.request.reference)


def _verdictless(table: Table) -> tuple[JudgingError | None, frozenset[int]]:
    """Why the pairs decide too little: a judge's failure where that may change, else that the
    judge cannot tell the answers apart.
    """
    counts = table.counts()
    met = {member for pair in table.decided for member in pair}
    undecided = frozenset(range(table.members)) - met
    everybody = frozenset(range(table.members))
    if undecided or 2 * len(table.decided) < counts.asked:
        blamed = undecided or everybody
        inconclusive = Inconclusive(
            f"{len(table.decided)} of {counts.asked} pairs are decided, "
            f"{counts.inconsistent} flip with the order"
        )
        return table.failure(blamed) or inconclusive, blamed
    if table.by_position:
        share = table.first_share or 0.0
        return (
            Inconclusive(
                f"the answer shown first won {share:.0%} of the orders: position decides, and too "
                "few pairs were asked in both orders to see past it"
            ),
            everybody,
        )
    return None, frozenset()


def _note(case: Case, table: Table, answers: Sequence[Distinct], history: PairHistory) -> None:
    """Remember the pairs that a judge was newly asked in both orders."""
    for judge in table.judges:
        for pair in table.outcomes:
            both = table.both(judge, pair)
            replies = [table.replies[judge.id, Meeting(*p)] for p in (pair, pair[::-1])]
            if both is None or all(isinstance(r, Answer) and r.cached for r in replies):
                continue
            lengths = (answers[pair[0]].shown.chars, answers[pair[1]].shown.chars)
            history.add(judge.id, *both, lengths)
            case.observer(pair_judged(judge.id, *both))
