"""All members of a group in one prompt, several times in different orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge_service.ask import Answer
from judge_service.case import Case
from judge_service.combine import lower_median
from judge_service.envelope import Question, list_question
from judge_service.errors import JudgingError
from judge_service.judge import JudgeSpec
from judge_service.outcome import CriterionResult
from judge_service.ranking.asking import Ask, ask_all
from judge_service.ranking.members import Distinct
from judge_service.rubric import Criterion
from judge_service.verdicts.source import VerdictSource

DEFAULT_ORDERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """``results`` by answer and criterion, or the ``error`` of the first list without verdict."""

    answers: tuple[Answer, ...]
    results: tuple[dict[str, CriterionResult], ...] = ()
    error: JudgingError | None = None


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
    lower median. A list without a verdict fails the group.
    """
    rubric = case.rubric
    arranged = orders(len(answers), number)
    places = [(j, c, order) for j in judges for c in rubric.criteria for order in arranged]
    asks = [Ask(judge=j, question=_question(case, c, answers, order)) for j, c, order in places]
    replies = await ask_all(case, source, asks)
    given = tuple(reply for reply in replies if isinstance(reply, Answer))
    points: list[dict[str, list[int]]] = [{} for _ in answers]
    for (_, criterion, order), reply in zip(places, replies, strict=True):
        if isinstance(reply, JudgingError):
            return Listed(answers=given, error=reply)
        scores = reply.reading.scores
        for number_shown, member in enumerate(order, start=1):
            read = scores[f"candidate_{number_shown}"]
            points[member].setdefault(criterion.name, []).append(read)
    return Listed(
        answers=given,
        results=tuple(
            {c.name: _result(c, read[c.name]) for c in rubric.criteria} for read in points
        ),
    )


def _question(
    case: Case, criterion: Criterion, answers: Sequence[Distinct], order: Sequence[int]
) -> Question:
    shown = [answers[member].shown for member in order]
    return list_question(case.rubric, criterion, case.request.prompt, shown, case.request.reference)


def _result(criterion: Criterion, points: Sequence[int]) -> CriterionResult:
    median = lower_median(points)
    normalized = [criterion.points.normalized(point) for point in points]
    return CriterionResult(
        point=median,
        normalized=sum(normalized) / len(normalized),
        weight=criterion.weight or 0.0,
        agreement=points.count(median) / len(points),
        votes=len(points),
    )
