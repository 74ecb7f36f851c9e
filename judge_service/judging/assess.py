"""Assess: one candidate on a rubric, from the request to the reward."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from judge_service.asking.ask import Answer
from judge_service.candidate.exhibit import Exhibit
from judge_service.candidate.inspection import Inspection
from judge_service.case import Case
from judge_service.envelope.envelope import Question, assess_question
from judge_service.errors import ContextTooLong, JudgingError, NoEligibleJudge, QuorumNotMet
from judge_service.flags import Flag
from judge_service.judges.judge import JudgeSpec
from judge_service.judging import combine
from judge_service.judging.correction import corrected, flag_corrections
from judge_service.judging.fit import check_after, check_before
from judge_service.judging.metrics import assess_metrics
from judge_service.judging.panel import Poll, control_is_judged, poll
from judge_service.judging.selection import Selection, select
from judge_service.judging.split import flag_split
from judge_service.judging.unexpected import flag_unexpected
from judge_service.outcome import (
    Assessed,
    AssessFailed,
    AssessOutcome,
    CriterionResult,
    Verdict,
)
from judge_service.reply.expectation import UNKNOWN, Expectation, expectations
from judge_service.reply.reply import ScoreForm
from judge_service.rubric.rubric import Rubric
from judge_service.usage import Usage
from judge_service.verdicts.source import VerdictSource


async def assess(
    case: Case, inspection: Inspection, excluded: frozenset[str], source: VerdictSource
) -> AssessOutcome:
    """Judge one inspected candidate. ``excluded`` are the families that may not judge it.

    Hard rules end it first; then the panel is asked about every criterion at once; a criterion
    without a quorum fails the whole.
    """
    if inspection.broken is not None:
        return _failed(case, inspection, inspection.broken, {}, ())
    if not inspection.passed and not case.request.audit:
        return _short_circuit(case, inspection)
    try:
        selection = select(case.request, case.rubric, case.bench, excluded, case.selecting)
    except (NoEligibleJudge, QuorumNotMet) as error:
        return _failed(case, inspection, error, {}, ())
    questions = questions_of(case, inspection.shown)
    if not case.request.audit:
        try:
            unfit = await check_before(case, source.asker, selection, inspection.shown)
        except ContextTooLong as error:
            return _failed(case, inspection, error, {}, ())
        if unfit is not None:
            return _short_circuit(case, inspection.failed(unfit))
    polls = await poll(case, source, selection, questions)
    return await _conclude(case, inspection, source, selection, polls)


async def _conclude(
    case: Case,
    inspection: Inspection,
    source: VerdictSource,
    selection: Selection,
    polls: Sequence[Poll],
) -> AssessOutcome:
    verdicts = [v for p in polls for a in p.answers for v in verdicts_of(a, p.question)]
    results = results_of(case.rubric, polls)
    flag_unexpected(case, told_of(polls))
    flag_splits(case, polls)
    flag_corrections(case)
    judging = case.rubric.judging
    failures = [
        (p, error)
        for p in polls
        if (error := p.failure(judging.quorum, len(selection.panel))) is not None
    ]
    if not failures:
        return _success(case, inspection, results, verdicts)
    first = failures[0][0]
    unfit = await check_after(
        source.asker,
        inspection.shown.shown_text,
        first.question,
        ((miss.judge, miss.error) for miss in first.misses),
    )
    if unfit is not None and not case.request.audit:
        return _short_circuit(case, inspection.failed(unfit))
    if judging.on_unjudgeable == "zero" and await _is_unjudgeable(
        case, source, [p for p, _ in failures]
    ):
        return _unjudgeable(case, inspection, verdicts)
    return _failed(case, inspection, failures[0][1], results, verdicts)


def questions_of(case: Case, shown: Exhibit) -> tuple[Question, ...]:
    """What is asked about one candidate: each criterion, or all of them together."""
    rubric, request = case.rubric, case.request
    one = rubric.judging.ask == "together"
    groups = [rubric.criteria] if one else [(criterion,) for criterion in rubric.criteria]
    return tuple(
        assess_question(rubric, group, request.prompt, shown, request.reference) for group in groups
    )


def verdicts_of(answer: Answer, question: Question) -> list[Verdict]:
    """One verdict per criterion of an answer; what was spent stands in the first of them."""
    points, told = points_of(answer, question), expected_of(answer, question)
    return [
        Verdict(
            judge=answer.judge.id,
            family=answer.judge.family_label,
            model=answer.judge.model,
            model_served=answer.model_served,
            reason=answer.reason,
            criterion=name,
            point=point,
            expected=told.get(name),
            cached=answer.cached,
            attempts=answer.attempts,
            latency_ms=answer.latency_ms,
            usage=answer.usage if number == 0 else Usage(),
        )
        for number, (name, point) in enumerate(points.items())
    ]


def points_of(answer: Answer, question: Question) -> Mapping[str | None, int]:
    """The point an answer gives each criterion."""
    if isinstance(question.form, ScoreForm):
        return {question.criterion: answer.reading.score}
    return dict[str | None, int](answer.reading.scores.items())


def expected_of(answer: Answer, question: Question) -> dict[str | None, Expectation]:
    """What is expected of an answer, by criterion; empty where the judge is not asked for it."""
    if answer.judge.top_logprobs is None:
        return {}
    told = expectations(answer.reading, question.form)
    single = isinstance(question.form, ScoreForm)
    return {question.criterion if single else name: one for name, one in told.items()}


def told_of(polls: Sequence[Poll]) -> Iterator[tuple[JudgeSpec, Expectation]]:
    """What is expected of every verdict, with its judge."""
    return ((judge, expected) for judge, _, _, expected in _given(polls))


def flag_splits(case: Case, polls: Sequence[Poll]) -> None:
    """Flag the criteria that have a point and on which the panel is divided."""
    if all(len(one.answers) < 2 for one in polls):
        return
    points: dict[str, list[int]] = {}
    for _, criterion, point, _ in _given(polls):
        points.setdefault(criterion, []).append(point)
    for criterion, given in points.items():
        if len(given) >= case.rubric.judging.quorum:
            flag_split(case, criterion, given)


def _given(polls: Sequence[Poll]) -> Iterator[tuple[JudgeSpec, str, int, Expectation]]:
    """Every point that a judge gave: judge, criterion, point, and what is expected of it."""
    for one in polls:
        for answer in one.answers:
            told = expected_of(answer, one.question)
            for criterion, point in points_of(answer, one.question).items():
                if criterion is not None:
                    yield answer.judge, criterion, point, told.get(criterion, UNKNOWN)


def results_of(rubric: Rubric, polls: Sequence[Poll]) -> dict[str, CriterionResult]:
    """The criteria that enough judges gave a point, by name."""
    points: dict[str, list[int]] = {}
    expected: dict[str, list[Expectation]] = {}
    judges: dict[str, list[JudgeSpec]] = {}
    for judge, criterion, point, told in _given(polls):
        points.setdefault(criterion, []).append(point)
        expected.setdefault(criterion, []).append(told)
        judges.setdefault(criterion, []).append(judge)
    wanted = rubric.judging.score == "expected"
    results = {
        c.name: combine.criterion_result(c, points[c.name], expected[c.name] if wanted else None)
        for c in rubric.criteria
        if len(points.get(c.name, ())) >= rubric.judging.quorum
    }
    return {
        c.name: corrected(
            results[c.name], rubric, c,
            list(zip(judges[c.name], points[c.name], expected[c.name], strict=True)),
        )
        for c in rubric.criteria
        if c.name in results
    }  # fmt: skip


async def _is_unjudgeable(case: Case, source: VerdictSource, polls: Sequence[Poll]) -> bool:
    if not all(p.defeated_two_families for p in polls):
        return False
    return await control_is_judged(case, source, case.rubric.criteria[0], polls[0])


def _success(
    case: Case,
    inspection: Inspection,
    results: Mapping[str, CriterionResult],
    verdicts: Sequence[Verdict],
) -> Assessed:
    chars, rules = inspection.shown.chars, inspection.report
    score = combine.model_score(case.rubric, results, chars)
    return Assessed(
        reward=combine.reward(case.rubric, rules, score),
        short_circuited=False,
        rules=rules,
        criteria=results,
        verdicts=tuple(verdicts),
        flags=tuple(case.flags),
        metrics=assess_metrics(
            case.rubric, rules, results, verdicts,
            chars=chars, model_score=score, short_circuited=False,
        ),
        usage=case.ledger.total,
        rubric_hash=case.rubric.rubric_hash,
        fingerprint=case.fingerprint(),
    )  # fmt: skip


def _short_circuit(case: Case, inspection: Inspection) -> Assessed:
    return _zero(case, inspection, (), short_circuited=True)


def _unjudgeable(case: Case, inspection: Inspection, verdicts: Sequence[Verdict]) -> Assessed:
    case.flag(
        Flag(
            "unjudgeable",
            "judges of two families gave no usable verdict, a control item was judged as usual",
        )
    )
    return _zero(case, inspection, verdicts, short_circuited=False)


def _zero(
    case: Case,
    inspection: Inspection,
    verdicts: Sequence[Verdict],
    *,
    short_circuited: bool,
) -> Assessed:
    return Assessed(
        reward=0.0,
        short_circuited=short_circuited,
        rules=inspection.report,
        criteria={},
        verdicts=tuple(verdicts),
        flags=tuple(case.flags),
        metrics=assess_metrics(
            case.rubric, inspection.rules, {}, verdicts,
            chars=inspection.shown.chars, model_score=0.0, short_circuited=short_circuited,
        ),
        usage=case.ledger.total,
        rubric_hash=case.rubric.rubric_hash,
        fingerprint=case.fingerprint(),
    )  # fmt: skip


def _failed(
    case: Case,
    inspection: Inspection,
    error: JudgingError,
    results: Mapping[str, CriterionResult],
    verdicts: Sequence[Verdict],
) -> AssessFailed:
    return AssessFailed(
        error=error,
        rules=inspection.rules,
        criteria=results,
        verdicts=tuple(verdicts),
        flags=tuple(case.flags),
        metrics=assess_metrics(
            case.rubric, inspection.rules, results, verdicts,
            chars=inspection.shown.chars, model_score=None, short_circuited=False,
        ),
        usage=case.ledger.total,
        rubric_hash=case.rubric.rubric_hash,
        fingerprint=case.fingerprint(),
    )  # fmt: skip
