"""Compare: two candidates against each other, every judge asked in both orders."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from judge_service.bias.history import PairHistory
from judge_service.bias.record import marks_of
from judge_service.candidate.inspection import Inspection
from judge_service.case import Case
from judge_service.envelope.envelope import Question, compare_question
from judge_service.errors import (
    ContextTooLong,
    JudgingError,
    NoEligibleJudge,
    QuorumNotMet,
)
from judge_service.flags import Flag
from judge_service.judging.fit import check_after, check_before
from judge_service.judging.judged_event import pair_judged
from judge_service.judging.judged_pair import (
    ORDERS,
    JudgedPair,
    ask_pair,
    escalated,
    orders_of,
    replaced,
    verdicts_of,
)
from judge_service.judging.metrics import compare_metrics
from judge_service.judging.selection import Selection, select
from judge_service.judging.unexpected import flag_unexpected
from judge_service.outcome import (
    Compared,
    CompareFailed,
    CompareOutcome,
    Order,
    PairOutcome,
)
from judge_service.pairwise import PREFERENCE, panel_outcome
from judge_service.reply.expectation import UNKNOWN, Expectation, together
from judge_service.verdicts.source import VerdictSource

Inspections = tuple[Inspection, Inspection]


async def compare(
    case: Case,
    inspections: Inspections,
    excluded: frozenset[str],
    source: VerdictSource,
    history: PairHistory,
) -> CompareOutcome:
    """Compare two inspected candidates. ``excluded`` are the families that may not judge them."""
    broken = next((one.broken for one in inspections if one.broken is not None), None)
    if broken is not None:
        return _failed(case, inspections, broken, ())
    if not case.request.audit:
        settled = _without_judge(inspections)
        if settled is not None:
            return _compared(case, inspections, settled, (), short_circuited=True)
    try:
        selection = select(case.request, case.rubric, case.bench, excluded, case.observer)
    except (NoEligibleJudge, QuorumNotMet) as error:
        return _failed(case, inspections, error, ())
    if not case.request.audit:
        try:
            fitting = await _fitting(case, source, selection, inspections)
        except ContextTooLong as error:
            return _failed(case, inspections, error, ())
        settled = _without_judge(fitting)
        if settled is not None:
            return _compared(case, fitting, settled, (), short_circuited=True)
    questions = _questions(case, inspections)
    fallback = case.rubric.judging.fallback == "family"
    spare_judges = list(selection.spares()) if fallback else []
    spares = iter(spare_judges)
    keep = 1 if spare_judges else 0
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(ask_pair(case, source, judge, questions, keep=keep))
            for judge in selection.panel
        ]
    pairs = [task.result() for task in tasks]
    for index, (pair, budgets) in enumerate(pairs):
        spare = next(spares, None) if pair.outcome is None and case.deadline.left() > 0 else None
        if spare is not None:
            pairs[index] = await replaced(case, source, pair, spare, questions, budgets)
    judged = [pair for pair, _ in pairs]
    return await _conclude(case, inspections, source, selection, judged, questions, history)


async def _conclude(
    case: Case,
    inspections: Inspections,
    source: VerdictSource,
    selection: Selection,
    judged: list[JudgedPair],
    questions: dict[Order, Question],
    history: PairHistory,
) -> CompareOutcome:
    answered = [pair.outcome for pair in judged if pair.outcome is not None]
    asked = len(selection.panel)
    error = _error(case, judged, len(answered), asked)
    if error is not None:
        _remember(case, inspections, judged, None, history)
        if not case.request.audit:
            fitting = await _fitting_after(source, inspections, judged, questions["AB"])
            settled = _without_judge(fitting)
            if settled is not None:
                return _compared(case, fitting, settled, judged, short_circuited=True)
        return _failed(case, inspections, error, judged)
    outcome = panel_outcome(answered, asked)
    deciding = judged
    if outcome == "inconsistent" and case.rubric.judging.on_inconsistent == "escalate":
        extra = await escalated(case, source, selection, questions)
        if extra is not None:
            judged, deciding = [*judged, extra], [extra]
            outcome = extra.outcome or outcome
    _remember(case, inspections, judged, outcome, history)
    expected = _expected(case, judged, deciding)
    return _compared(case, inspections, outcome, judged, expected, short_circuited=False)


def _expected(
    case: Case, judged: Sequence[JudgedPair], deciding: Sequence[JudgedPair]
) -> Expectation:
    """The graded preference for the first: the mean over both orders of the judges that decide."""
    told = [(p.judge, p.expected(o)) for p in judged for o in ORDERS if p.choice(o) is not None]
    flag_unexpected(case, told)
    pairs = [pair for pair in deciding if pair.outcome is not None]
    return together([together([pair.expected(order) for order in ORDERS]) for pair in pairs])


def _without_judge(inspections: Inspections) -> PairOutcome | None:
    """The outcome where no judge is needed: a hard rule is broken, or both answers are one."""
    first, second = inspections
    if first.passed != second.passed:
        return "first" if first.passed else "second"
    if not first.passed or first.shown.same_as(second.shown):
        return "tie"
    return None


async def _fitting(
    case: Case, source: VerdictSource, selection: Selection, inspections: Inspections
) -> Inspections:
    """The same inspections, with the rule ``fits_judge`` failed where a candidate is too long."""
    checked = []
    for one in inspections:
        unfit = await check_before(case, source.asker, selection, one.shown)
        checked.append(one if unfit is None else one.failed(unfit))
    return checked[0], checked[1]


async def _fitting_after(
    source: VerdictSource,
    inspections: Inspections,
    judged: Sequence[JudgedPair],
    question: Question,
) -> Inspections:
    """The same, when a judge has found the pair too long and all but one candidate surely fits."""
    refusals = [
        (pair.judge, answer)
        for pair in judged
        for answer in (pair.ab, pair.ba)
        if isinstance(answer, JudgingError)
    ]
    checked = []
    for number, one in enumerate(inspections, start=1):
        text, slot = one.shown.shown_text, f"candidate_{number}"
        unfit = await check_after(source.asker, text, question, refusals, slot=slot)
        checked.append(one if unfit is None else one.failed(unfit))
    return checked[0], checked[1]


def _questions(case: Case, inspections: Inspections) -> dict[Order, Question]:
    first, second = (one.shown for one in inspections)
    request = case.request
    return {
        "AB": compare_question(case.rubric, request.prompt, (first, second), request.reference),
        "BA": compare_question(case.rubric, request.prompt, (second, first), request.reference),
    }


def _error(
    case: Case, judged: Sequence[JudgedPair], answered: int, asked: int
) -> JudgingError | None:
    quorum = case.rubric.judging.quorum
    if answered >= quorum:
        return None
    if asked == 1 and quorum == 1:
        return judged[0].error
    causes = "; ".join(f"{p.judge.id}: {p.error.code}" for p in judged if p.error)
    return QuorumNotMet(
        f"{answered} of {asked} judges gave a verdict in both orders, {quorum} are needed"
        + (f" ({causes})" if causes else "")
    )


def _remember(
    case: Case,
    inspections: Inspections,
    judged: Sequence[JudgedPair],
    outcome: PairOutcome | None,
    history: PairHistory,
) -> None:
    """Note the pairs, and flag a win that the judge's recent wins explain by length alone."""
    lengths = (inspections[0].shown.chars, inspections[1].shown.chars)
    longer = "first" if lengths[0] > lengths[1] else "second"
    for pair in judged:
        ab, ba = pair.choice("AB"), pair.choice("BA")
        if ab is None or ba is None:
            continue
        if not case.request.audit and not pair.cached:
            marks = (marks_of(inspections[0].shown.text), marks_of(inspections[1].shown.text))
            history.add(pair.judge.id, ab, ba, lengths, marks)
            case.observer(pair_judged(pair.judge.id, ab, ba, case.rubric.id))
        won_by_longer = outcome == longer and lengths[0] != lengths[1]
        if won_by_longer and history.follows_length(pair.judge.id):
            case.flag(
                Flag(
                    "length_bias",
                    f"{pair.judge.id}: the longer answer won nearly all of its recent pairs",
                )
            )


def _length_ratio(inspections: Inspections) -> float | None:
    """Characters of the first by those of the second, as judged; None where the second has none."""
    first, second = (one.shown.chars for one in inspections)
    return first / second if second else None


def _lengths(inspections: Inspections) -> tuple[int, int]:
    return inspections[0].shown.chars, inspections[1].shown.chars


def _compared(
    case: Case,
    inspections: Inspections,
    outcome: PairOutcome,
    judged: Sequence[JudgedPair],
    expected: Expectation = UNKNOWN,
    *,
    short_circuited: bool,
) -> Compared:
    verdicts = verdicts_of(judged)
    wanted = case.rubric.judging.score == "expected"
    return Compared(
        outcome=outcome,
        preference=PREFERENCE[outcome],
        expected=expected if wanted else None,
        consistent=outcome != "inconsistent",
        orders=orders_of(judged),
        length_ratio=_length_ratio(inspections),
        short_circuited=short_circuited,
        rules=(inspections[0].report, inspections[1].report),
        verdicts=verdicts,
        flags=tuple(case.flags),
        metrics=compare_metrics(
            outcome,
            verdicts,
            lengths=_lengths(inspections),
            short_circuited=short_circuited,
            mass=expected.mass if wanted else None,
        ),
        usage=case.ledger.total,
        rubric_hash=case.rubric.rubric_hash,
        fingerprint=case.fingerprint(),
    )


def _failed(
    case: Case, inspections: Inspections, error: JudgingError, judged: Sequence[JudgedPair]
) -> CompareFailed:
    verdicts = verdicts_of(judged)
    wanted = case.rubric.judging.score == "expected"
    return CompareFailed(
        error=error,
        expected=UNKNOWN if wanted else None,
        orders=orders_of(judged),
        length_ratio=_length_ratio(inspections),
        rules=(inspections[0].rules, inspections[1].rules),
        verdicts=verdicts,
        flags=tuple(case.flags),
        metrics=compare_metrics(
            None,
            verdicts,
            lengths=_lengths(inspections),
            short_circuited=False,
            mass=0.0 if wanted else None,
        ),
        usage=case.ledger.total,
        rubric_hash=case.rubric.rubric_hash,
        fingerprint=case.fingerprint(),
    )
