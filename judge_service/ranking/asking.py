"""Many questions of one group, asked at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from judge_service.asking.ask import Answer, Budget, as_judging_error
from judge_service.case import Case
from judge_service.envelope.envelope import Question
from judge_service.errors import JudgeServiceError, JudgingError
from judge_service.judges.judge import JudgeSpec
from judge_service.outcome import JudgeCount
from judge_service.verdicts.source import VerdictSource

Reply = Answer | JudgingError


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question to one judge. ``keep`` requests of ``budget`` are left for another judge."""

    judge: JudgeSpec
    question: Question
    budget: Budget = field(default_factory=Budget)
    keep: int = 0


async def ask_all(case: Case, source: VerdictSource, asks: Sequence[Ask]) -> list[Reply]:
    """Every answer or error, in the order of ``asks``."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_one(case, source, ask)) for ask in asks]
    return [task.result() for task in tasks]


async def _one(case: Case, source: VerdictSource, ask: Ask) -> Reply:
    try:
        answer = await source.ask(case, ask.judge, ask.question, ask.budget, keep=ask.keep)
    except JudgeServiceError as error:
        return as_judging_error(error)
    case.note(answer)
    return answer


def judge_counts(answers: Iterable[Answer]) -> tuple[JudgeCount, ...]:
    """How many verdicts each judge gave, by judge and by the model it says answered."""
    verdicts: Counter[tuple[str, str | None]] = Counter()
    cached: Counter[tuple[str, str | None]] = Counter()
    specs: dict[str, JudgeSpec] = {}
    for answer in answers:
        key = (answer.judge.id, answer.model_served)
        specs[answer.judge.id] = answer.judge
        verdicts[key] += 1
        cached[key] += answer.cached
    return tuple(
        JudgeCount(
            judge=judge,
            family=specs[judge].family_label,
            model=specs[judge].model,
            model_served=served,
            verdicts=count,
            cached=cached[judge, served],
        )
        for (judge, served), count in sorted(verdicts.items(), key=lambda kv: str(kv[0]))
    )
