"""One judge's view of a pair: both orders asked, replaced by another family, or decided by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from judge_service.asking.ask import Answer, Budget, as_judging_error
from judge_service.case import Case
from judge_service.envelope.envelope import PAIR_FORM, Question
from judge_service.errors import JudgeServiceError, JudgingError
from judge_service.flags import Flag
from judge_service.judges.judge import JudgeSpec
from judge_service.judging.selection import Selection
from judge_service.outcome import Choice, Order, OrderChoice, PairOutcome, Verdict
from judge_service.pairwise import mapped_back, pair_outcome
from judge_service.reply.expectation import UNKNOWN, Expectation, preference
from judge_service.verdicts.source import VerdictSource

ORDERS: tuple[Order, Order] = ("AB", "BA")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPair:
    """One judge's two orders: an answer or an error each."""

    judge: JudgeSpec
    ab: Answer | JudgingError
    ba: Answer | JudgingError

    def choice(self, order: Order) -> Choice | None:
        """What was chosen in one order, mapped back; None without a verdict."""
        answer = self.ab if order == "AB" else self.ba
        return (
            None if isinstance(answer, JudgingError) else mapped_back(answer.reading.choice, order)
        )

    def expected(self, order: Order) -> Expectation:
        """The graded preference for the caller's first in one order."""
        answer = self.ab if order == "AB" else self.ba
        if isinstance(answer, JudgingError):
            return UNKNOWN
        told = preference(answer.reading, PAIR_FORM)
        return told if order == "AB" else told.mirrored

    @property
    def outcome(self) -> PairOutcome | None:
        """None when one of the orders has no verdict."""
        ab, ba = self.choice("AB"), self.choice("BA")
        return None if ab is None or ba is None else pair_outcome(ab, ba)

    @property
    def cached(self) -> bool:
        """Whether both orders were asked before: nothing new of the judge."""
        return all(isinstance(a, Answer) and a.cached for a in (self.ab, self.ba))

    @property
    def error(self) -> JudgingError | None:
        """The first order's error, else the second's, else None."""
        return next((a for a in (self.ab, self.ba) if isinstance(a, JudgingError)), None)


async def ask_pair(
    case: Case,
    source: VerdictSource,
    judge: JudgeSpec,
    questions: dict[Order, Question],
    budgets: dict[Order, Budget] | None = None,
    *,
    keep: int = 0,
    single: bool = False,
) -> tuple[JudgedPair, dict[Order, Budget]]:
    """Both orders of one judge at once, each whatever the other one gives."""
    budgets = budgets or {order: Budget() for order in ORDERS}

    async def one(order: Order) -> Answer | JudgingError:
        try:
            answer = await source.ask(
                case, judge, questions[order], budgets[order], keep=keep, single=single
            )
        except JudgeServiceError as error:
            return as_judging_error(error)
        case.note(answer)
        return answer

    ab, ba = await asyncio.gather(one("AB"), one("BA"))
    return JudgedPair(judge=judge, ab=ab, ba=ba), budgets


async def replaced(
    case: Case,
    source: VerdictSource,
    pair: JudgedPair,
    spare: JudgeSpec,
    questions: dict[Order, Question],
    budgets: dict[Order, Budget],
) -> tuple[JudgedPair, dict[Order, Budget]]:
    """One try at another family, in both orders; only a whole pair takes the other one's place."""
    other, budgets = await ask_pair(case, source, spare, questions, budgets, single=True)
    if other.outcome is None:
        return pair, budgets
    code = pair.error.code if pair.error else "no verdict"
    case.flag(Flag("fallback_judge", f"{spare.id} in place of {pair.judge.id} ({code})"))
    return other, budgets


async def escalated(
    case: Case, source: VerdictSource, selection: Selection, questions: dict[Order, Question]
) -> JudgedPair | None:
    """The pair of one more judge family, or None where there is none or it gave no verdict."""
    judge = next(selection.spares(), None)
    if judge is None:
        case.flag(Flag("escalated", "inconsistent, and there is no other judge family to decide"))
        return None
    pair, _ = await ask_pair(case, source, judge, questions)
    if pair.outcome is None:
        code = pair.error.code if pair.error else "no verdict"
        case.flag(Flag("escalated", f"{judge.id} was asked to decide and could not ({code})"))
        return None
    case.flag(Flag("escalated", f"{judge.id} was asked to decide: {pair.outcome}"))
    return pair


def verdicts_of(judged: Sequence[JudgedPair]) -> tuple[Verdict, ...]:
    """Every verdict of the pairs, by judge and order."""
    found = []
    for pair in judged:
        for order in ORDERS:
            answer = pair.ab if order == "AB" else pair.ba
            if isinstance(answer, JudgingError):
                continue
            found.append(
                Verdict(
                    judge=answer.judge.id,
                    family=answer.judge.family_label,
                    model=answer.judge.model,
                    model_served=answer.model_served,
                    reason=answer.reason,
                    order=order,
                    choice=mapped_back(answer.reading.choice, order),
                    expected=pair.expected(order) if answer.judge.top_logprobs else None,
                    cached=answer.cached,
                    attempts=answer.attempts,
                    latency_ms=answer.latency_ms,
                    usage=answer.usage,
                )
            )
    return tuple(found)


def orders_of(judged: Sequence[JudgedPair]) -> tuple[OrderChoice, ...]:
    """What every judge chose in each order."""
    return tuple(
        OrderChoice(order=order, choice=pair.choice(order), judge=pair.judge.id)
        for pair in judged
        for order in ORDERS
    )
