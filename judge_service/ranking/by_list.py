"""All members of a group in one prompt, several times in different orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from judge_service.asking.ask import Answer
from judge_service.case import Case
from judge_service.envelope.envelope import Question, list_question
from judge_service.errors import JudgingError
from judge_service.judges.judge import JudgeSpec
from judge_service.judging.combine import lower_median
from judge_service.judging.correction import corrected, flag_corrections
from judge_service.judging.panel import Miss, Poll
from judge_service.judging.unexpected import flag_unexpected
from judge_service.outcome import CriterionResult
from judge_service.ranking.asking import Ask, Reply, ask_all
from judge_service.ranking.expected import alike
from judge_service.ranking.members import Distinct
from judge_service.reply.expectation import Expectation, expectations, together
from judge_service.reply.reply import ReplyForm
from judge_service.rubric.rubric import Criterion
from judge_service.verdicts.source import VerdictSource

DEFAULT_ORDERS = 2
Lists = tuple[JudgeSpec, list[Reply]]
"""A judge and its replies, by order."""


class _Given(NamedTuple):
    """A point that a judge gave a member in one list, and what is expected of it."""

    judge: JudgeSpec
    point: int
    expected: Expectation


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """``results`` by answer and criterion, or the ``error`` when too few judges gave verdicts."""

    answers: tuple[Answer, ...]
    results: tuple[dict[str, CriterionResult], ...] = ()
    error: JudgingError | None = None


def most_orders(members: int) -> int:
    """How many different orders there are to be shared out: every shift, both ways round."""
    return 2 * members if members > 2 else members


def orders(members: int, number: int) -> list[list[int]]:
    """``number`` orders of the members: shifted further and further, every other one reversed, so
    that places are shared out evenly.
    """
    found = []
    for turn in range(number):
        shift = turn // 2 * members // max(1, (number + 1) // 2)
        shifted = [(place + shift) % members for place in range(members)]
        found.append(shifted if turn % 2 == 0 else shifted[::-1])
    return found


async def score_lists(
    case: Case,
    source: VerdictSource,
    judges: Sequence[JudgeSpec],
    answers: Sequence[Distinct],
    number: int,
) -> Listed:
    """Ask every judge each criterion with all answers in ``number`` orders.

    The normalised value of a criterion is the mean over orders and judges; its ``point`` is their
    lower median. A judge counts for a criterion with all its orders, for places even out only
    then; fewer such judges than the quorum fail the group.
    """
    rubric = case.rubric
    wanted = rubric.judging.score == "expected"
    arranged = orders(len(answers), number)
    places = [(c, j, n) for c in rubric.criteria for j in judges for n in range(len(arranged))]
    questions = {
        (c.name, n): _question(case, c, answers, order)
        for c in rubric.criteria
        for n, order in enumerate(arranged)
    }
    asks = [Ask(judge=j, question=questions[c.name, n]) for c, j, n in places]
    replies = await ask_all(case, source, asks)
    given = tuple(reply for reply in replies if isinstance(reply, Answer))
    table = {(c.name, j.id, n): r for (c, j, n), r in zip(places, replies, strict=True)}
    results: list[dict[str, CriterionResult]] = [{} for _ in answers]
    told: list[tuple[JudgeSpec, Expectation]] = []
    for criterion in rubric.criteria:
        lists = [
            (judge, [table[criterion.name, judge.id, n] for n in range(len(arranged))])
            for judge in judges
        ]
        question = questions[criterion.name, 0]
        error = _failure(question, lists, rubric.judging.quorum)
        if error is not None:
            return Listed(answers=given, error=error)
        for member, found in enumerate(_readings(lists, arranged, question.form)):
            result = _result(criterion, found, wanted=wanted)
            votes = [(one.judge, one.point, one.expected) for one in found]
            results[member][criterion.name] = corrected(result, rubric, criterion, votes, mean=True)
            told += [(one.judge, one.expected) for one in found]
    flag_unexpected(case, told)
    flag_corrections(case)
    alike(case, results)
    return Listed(answers=given, results=tuple(results))


def _failure(question: Question, lists: Sequence[Lists], quorum: int) -> JudgingError | None:
    """The error when too few judges gave a verdict on every list."""
    answers, misses = [], []
    for judge, replies in lists:
        failed = [reply for reply in replies if isinstance(reply, JudgingError)]
        if failed:
            misses.append(Miss(judge=judge, error=failed[0]))
        else:
            answers += [reply for reply in replies[:1] if isinstance(reply, Answer)]
    poll = Poll(question=question, answers=tuple(answers), misses=tuple(misses))
    return poll.failure(quorum, len(lists))


def _readings(
    lists: Sequence[Lists], arranged: Sequence[Sequence[int]], form: ReplyForm
) -> list[list[_Given]]:
    """For each member, what the judges that gave a verdict on every list gave it."""
    found: list[list[_Given]] = [[] for _ in arranged[0]]
    for judge, replies in lists:
        verdicts = [reply for reply in replies if isinstance(reply, Answer)]
        if len(verdicts) < len(replies):
            continue
        for order, verdict in zip(arranged, verdicts, strict=True):
            points, expected = verdict.reading.scores, expectations(verdict.reading, form)
            for slot, member in enumerate(order, start=1):
                name = f"candidate_{slot}"
                found[member].append(_Given(judge, points[name], expected[name]))
    return found


def _question(
    case: Case, criterion: Criterion, answers: Sequence[Distinct], order: Sequence[int]
) -> Question:
    shown = [answers[member].shown for member in order]
    return list_question(case.rubric, criterion, case.request.prompt, shown, case.request.reference)


def _result(criterion: Criterion, found: Sequence[_Given], *, wanted: bool) -> CriterionResult:
    points = [one.point for one in found]
    median = lower_median(points)
    normalized = [criterion.points.normalized(point) for point in points]
    return CriterionResult(
        point=median,
        normalized=sum(normalized) / len(normalized),
        weight=criterion.weight or 0.0,
        agreement=points.count(median) / len(points),
        votes=len(points),
        expected=together([one.expected for one in found]) if wanted else None,
    )
