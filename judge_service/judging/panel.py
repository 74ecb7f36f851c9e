"""A panel's verdicts on one question, with the second family that a rubric may allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from judge_service.asking.ask import Answer, Budget, as_judging_error
from judge_service.asking.retry import holds_no_verdict
from judge_service.candidate.exhibit import exhibit
from judge_service.case import Case
from judge_service.envelope.envelope import Question, assess_question
from judge_service.errors import (
    JudgeServiceError,
    JudgingError,
    QuorumNotMet,
)
from judge_service.flags import Flag
from judge_service.judges.judge import JudgeSpec
from judge_service.judging.selection import Selection
from judge_service.rubric.rubric import Criterion, Rubric
from judge_service.types import Candidate
from judge_service.verdicts.source import VerdictSource
from judge_service.waiting import together

CONTROL_PROMPT = "Name the capital of France in one word."
CONTROL_ANSWER = "Paris"


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A judge that was asked and gave no verdict."""

    judge: JudgeSpec
    error: JudgingError

    @property
    def unusable(self) -> bool:
        """It answered, but not with a verdict (a wrong model is another matter)."""
        return holds_no_verdict(self.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll:
    """What became of one question: the answers, and the judges that gave none."""

    question: Question
    answers: tuple[Answer, ...]
    misses: tuple[Miss, ...]

    def failure(self, quorum: int, asked: int) -> JudgingError | None:
        """The error when fewer than ``quorum`` of the ``asked`` judges answered, else None."""
        if len(self.answers) >= quorum:
            return None
        if asked == 1 and quorum == 1:
            return self.misses[0].error
        causes = "; ".join(f"{m.judge.id}: {m.error.code}" for m in self.misses)
        return QuorumNotMet(
            f"{len(self.answers)} of {asked} judges gave a verdict, {quorum} are needed ({causes})"
        )

    @property
    def defeated_two_families(self) -> bool:
        """Judges of two families answered without a usable verdict, and nobody gave one."""
        families = {m.judge.family_label for m in self.misses if m.unusable}
        return not self.answers and len(families) >= 2 and all(m.unusable for m in self.misses)


async def poll(
    case: Case, source: VerdictSource, selection: Selection, questions: tuple[Question, ...]
) -> list[Poll]:
    """Ask every judge of the panel every question, all at once; in the order of the questions."""
    return await together([_poll_one(case, source, selection, q) for q in questions])


async def _poll_one(
    case: Case, source: VerdictSource, selection: Selection, question: Question
) -> Poll:
    wants_second = case.rubric.judging.wants_second
    spare_judges = list(selection.spares()) if wants_second else []
    spares = iter(spare_judges)
    keep, kept = kept_for_second(case.rubric) if spare_judges else (0, 0)
    asked = await together(
        [
            _ask_or_replace(case, source, judge, question, spares, keep, Budget(kept=kept))
            for judge in selection.panel
        ]
    )
    answers: list[Answer] = []
    misses: list[Miss] = []
    for answer, missed in asked:
        answers += [answer] if answer else []
        misses += missed
    return Poll(question=question, answers=tuple(answers), misses=tuple(misses))


async def _ask_or_replace(
    case: Case,
    source: VerdictSource,
    judge: JudgeSpec,
    question: Question,
    spares: Iterator[JudgeSpec],
    keep: int,
    budget: Budget,
) -> tuple[Answer | None, list[Miss]]:
    """One place of the panel: its judge and, where the rubric has one, the try at a spare.

    ``keep`` requests of the budget are left for the spare.
    """
    try:
        answer = await source.ask(case, judge, question, budget, keep=keep)
    except JudgeServiceError as error:
        case.trace.missed = True
        miss = Miss(judge=judge, error=as_judging_error(error))
    else:
        case.note(answer)
        return answer, []
    spare = _spare(case, miss, spares) if budget.left > 0 else None
    if spare is None:
        return None, [miss]
    try:
        answer = await source.ask(case, spare, question, budget, single=True)
    except JudgeServiceError as error:
        return None, [miss, Miss(judge=spare, error=as_judging_error(error))]
    case.note(answer)
    case.flag(Flag("fallback_judge", f"{spare.id} in place of {miss.judge.id} ({miss.error.code})"))
    return answer, [miss]


def kept_for_second(rubric: Rubric) -> tuple[int, int]:
    """How many requests of a verdict are kept for a second family: whatever becomes of the first,
    and once its reply holds no verdict. One that nobody would ask the second with is not kept.
    """
    judging = rubric.judging
    return int(judging.fallback == "family"), int(judging.wants_second)


def _spare(case: Case, miss: Miss, spares: Iterator[JudgeSpec]) -> JudgeSpec | None:
    """Whom to try next. Without ``fallback`` only an unusable reply calls for a second family."""
    wanted = case.rubric.judging.fallback == "family" or miss.unusable
    return next(spares, None) if wanted and case.deadline.left() > 0 else None


async def control_is_judged(
    case: Case, source: VerdictSource, criterion: Criterion, poll: Poll
) -> bool:
    """Whether one of the judges that failed gives a control item under the same rubric a verdict.

    The control is the rubric's best anchor of the criterion, or a plain question where there is
    none. It is asked anew each time, for what was so an hour ago says nothing about the judge now.
    Its cost is part of the request's usage.
    """
    question = _control(case, criterion)
    for judge in dict.fromkeys(m.judge.id for m in poll.misses):
        try:
            answer = await source.asker.ask(
                case.bench[judge], question, case.deadline, case.ledger, Budget(1), single=True
            )
        except JudgeServiceError:
            continue
        case.note(answer)
        return True
    return False


def _control(case: Case, criterion: Criterion) -> Question:
    own = [a for a in case.rubric.anchors if a.criterion == criterion.name]
    if own:
        best = max(own, key=lambda a: a.point)
        prompt, text, reference = best.prompt, best.candidate, best.reference
    else:
        prompt, text, reference = CONTROL_PROMPT, CONTROL_ANSWER, None
    if reference is None and case.rubric.judging.reference == "required":
        reference = text
    shown = exhibit(Candidate(text=text), case.rubric)
    return assess_question(case.rubric, (criterion,), prompt, shown, reference)
