"""The members of a group against each other, pair by pair, all by the same judges."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from judge_service.asking.ask import Answer
from judge_service.bias.history import PairHistory
from judge_service.bias.record import marks_of
from judge_service.case import Case
from judge_service.envelope.envelope import PAIR_FORM, Question, compare_question
from judge_service.errors import Inconclusive, JudgingError
from judge_service.flags import Flag
from judge_service.judges.judge import JudgeSpec
from judge_service.judging.judged_event import pair_judged
from judge_service.judging.unexpected import flag_unexpected
from judge_service.outcome import PairCounts
from judge_service.ranking.after_lists import NOT_LOOKED, Looked, look
from judge_service.ranking.asking import Ask, Reply, ask_all
from judge_service.ranking.members import Distinct
from judge_service.ranking.schedule import Meeting, schedule
from judge_service.ranking.standing import near_first
from judge_service.ranking.table import Pair, Table
from judge_service.reply.expectation import preference
from judge_service.verdicts.source import VerdictSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Appeal:
    """Who decides the pairs that a panel leaves inconsistent, None where there is nobody of another
    family, and for how many verdicts at most; None is as many as it takes.
    """

    judge: JudgeSpec | None
    calls: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What the pairs of a group came to: ``shares`` in the order of the answers, each in [0, 1], or
    an ``error`` and the ``undecided`` answers that it is about; ``beside`` are the shares of the
    others then, by number, where their own pairs decide enough. ``asked`` is for how many verdicts
    was asked. ``unlisted`` where the lists before the pairs have no verdict, so that no pair was
    asked.
    """

    counts: PairCounts
    answers: tuple[Answer, ...]
    asked: int
    shares: tuple[float, ...] = ()
    error: JudgingError | None = None
    undecided: frozenset[int] = frozenset()
    beside: Mapping[int, float] = field(default_factory=dict)
    unlisted: bool = False

    @property
    def lacks_verdicts(self) -> bool:
        """Whether some judge failed, so that another might do better."""
        return self.unlisted or self.counts.failed > 0


async def play(
    case: Case,
    source: VerdictSource,
    judges: Sequence[JudgeSpec],
    answers: Sequence[Distinct],
    calls: int,
    history: PairHistory,
    *,
    appeal: Appeal | None = None,
    lists: int = 0,
) -> Played:
    """Ask every judge ``calls`` questions about at least two answers: orders of their pairs, and
    before that lists of all of them in ``lists`` orders, which say what pairs to ask.

    Where the rubric escalates inconsistent pairs, ``appeal`` says to whom.
    """
    before = await look(case, source, judges, answers, lists) if lists else NOT_LOOKED
    if before.error is not None:
        return _unlisted(before, len(answers))
    if before.standing is None:
        meetings = schedule(len(answers), calls)
    else:
        meetings = near_first(before.standing, calls - before.asked // len(judges))
    replies = await _ask(case, source, answers, [(j, m) for j in judges for m in meetings])
    table = Table(
        judges=judges,
        meetings=meetings,
        replies=replies,
        members=len(answers),
        quorum=min(case.rubric.judging.quorum, len(judges)),
        graded=case.rubric.judging.score == "expected",
        standing=before.standing,
    )
    if appeal is not None:
        table = await _appealed(case, source, answers, table, appeal)
    paired = tuple(reply for reply in table.replies.values() if isinstance(reply, Answer))
    flag_unexpected(case, ((one.judge, preference(one.reading, PAIR_FORM)) for one in paired))
    if not case.request.audit:
        _note(case, table, answers, history)
    error, undecided = why_undecided(table)
    return Played(
        counts=table.counts(),
        answers=(*before.answers, *paired),
        asked=before.asked + len(table.replies),
        shares=table.shares() if error is None else (),
        error=error,
        undecided=undecided,
        beside={} if error is None else shares_beside(table, undecided),
    )


def _unlisted(before: Looked, members: int) -> Played:
    return Played(
        counts=PairCounts(),
        answers=before.answers,
        asked=before.asked,
        error=before.error,
        undecided=frozenset(range(members)),
        unlisted=True,
    )


async def _ask(
    case: Case,
    source: VerdictSource,
    answers: Sequence[Distinct],
    places: Sequence[tuple[JudgeSpec, Meeting]],
) -> dict[tuple[str, Meeting], Reply]:
    asks = [Ask(judge=judge, question=_question(case, answers, m)) for judge, m in places]
    replies = await ask_all(case, source, asks)
    return {(j.id, m): reply for (j, m), reply in zip(places, replies, strict=True)}


async def _appealed(
    case: Case, source: VerdictSource, answers: Sequence[Distinct], table: Table, appeal: Appeal
) -> Table:
    """The table with all inconsistent pairs decided by one more judge, the same for each of them,
    or by nobody.
    """
    pairs = [pair for pair, outcome in table.outcomes.items() if outcome == "inconsistent"]
    if not pairs or why_undecided(table, decided=[*table.decided, *pairs])[0] is not None:
        return table
    told = f"{len(pairs)} of the group's pairs were inconsistent: "
    if appeal.judge is None:
        case.flag(Flag("escalated", told + "there is no other judge family to decide"))
        return table
    if appeal.calls is not None and appeal.calls < 2 * len(pairs):
        case.flag(Flag("escalated", told + "max_calls leaves no room for a judge to decide"))
        return table
    orders = [Meeting(*one) for pair in pairs for one in (pair, pair[::-1])]
    replies = await _ask(case, source, answers, [(appeal.judge, order) for order in orders])
    final = replace(table, replies={**table.replies, **replies}, arbiter=appeal.judge)
    left = sum(final.outcomes[pair] == "inconsistent" for pair in pairs)
    told += f"{appeal.judge.id} was asked to decide, {left} of them stay so"
    case.flag(Flag("escalated", told))
    return final


def _question(case: Case, answers: Sequence[Distinct], meeting: Meeting) -> Question:
    shown = (answers[meeting.first].shown, answers[meeting.second].shown)
    return compare_question(case.rubric, case.request.prompt, shown, case.request.reference)


def why_undecided(
    table: Table, decided: Sequence[Pair] | None = None
) -> tuple[JudgingError | None, frozenset[int]]:
    """Why the pairs decide too little: a judge's failure where that may change, else that the
    judge cannot tell the answers apart. ``decided`` are the pairs that are, or may still be.
    """
    counts = table.counts()
    decided = table.decided if decided is None else decided
    met = {member for pair in decided for member in pair}
    undecided = frozenset(range(table.members)) - met
    everybody = frozenset(range(table.members))
    if undecided or 2 * len(decided) < counts.asked:
        blamed = undecided or everybody
        inconclusive = Inconclusive(
            f"{len(decided)} of {counts.asked} pairs are decided, "
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


def shares_beside(table: Table, undecided: Collection[int]) -> dict[int, float]:
    """The win shares among the others, where there are at least two and their pairs would have
    decided enough without the ``undecided``, who have no decided pair; else none.
    """
    others = [number for number in range(table.members) if number not in undecided]
    asked = [pair for pair in (*table.outcomes, *table.singles) if set(pair) <= set(others)]
    few = len(others) < 2 or 2 * len(table.decided) < len(asked)
    return {} if few or table.by_position else table.shares_of(others)


def _note(case: Case, table: Table, answers: Sequence[Distinct], history: PairHistory) -> None:
    """Remember the pairs that a judge was newly asked in both orders."""
    marks: dict[int, int] = {}
    for judge in table.everybody:
        for pair in table.outcomes:
            both = table.both(judge, pair)
            if both is None:
                continue
            replies = [table.replies[judge.id, Meeting(*p)] for p in (pair, pair[::-1])]
            if all(isinstance(r, Answer) and r.cached for r in replies):
                continue
            lengths = (answers[pair[0]].shown.chars, answers[pair[1]].shown.chars)
            for place in pair:
                if place not in marks:
                    marks[place] = marks_of(answers[place].shown.text)
            history.add(judge.id, *both, lengths, (marks[pair[0]], marks[pair[1]]))
            case.observer(pair_judged(judge.id, *both, case.rubric.id))
