"""Each member of a group on the rubric's scales, all by the same judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from judge_service.asking.ask import Answer, Budget
from judge_service.case import Case
from judge_service.envelope.envelope import Question
from judge_service.errors import JudgingError
from judge_service.flags import Flag
from judge_service.judges.judge import JudgeSpec
from judge_service.judging.assess import questions_of, results_of
from judge_service.judging.panel import Miss, Poll, control_is_judged, kept_for_second
from judge_service.judging.selection import Selection
from judge_service.outcome import CriterionResult
from judge_service.ranking.asking import Ask, ask_all
from judge_service.ranking.members import Distinct
from judge_service.verdicts.source import VerdictSource


@dataclass(slots=True, kw_only=True)
class Scored:
    """What came of one answer: points by criterion, or ``error``. ``unjudgeable`` is a success
    without points: two families gave no usable verdict while they judged a control item.
    """

    polls: tuple[Poll, ...]
    results: dict[str, CriterionResult] = field(default_factory=dict)
    error: JudgingError | None = None
    unjudgeable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed:
    """``scored`` in the order of the answers, the ``panel`` that the group ended with, and how many
    verdicts were ``asked`` for in all, those of a panel before and of controls included.
    """

    scored: list[Scored]
    panel: tuple[JudgeSpec, ...]
    asked: int


@dataclass(slots=True)
class _Round:
    """The same questions of all answers with one panel; replies by (answer, question, judge)."""

    case: Case
    source: VerdictSource
    questions: list[tuple[Question, ...]]
    kept: int
    replies: dict[tuple[int, int, str], Answer | JudgingError] = field(default_factory=dict)
    budgets: dict[tuple[int, int], list[Budget]] = field(default_factory=dict)
    controls: int = 0

    @property
    def spent(self) -> int:
        """The verdicts asked for so far, at most."""
        return len(self.replies) + self.controls

    def with_second(
        self, panel: Sequence[JudgeSpec], second: Sequence[JudgeSpec], lost: Sequence[int]
    ) -> int:
        """The verdicts asked for when another panel has judged everything, at most."""
        new = len({judge.id for judge in second} - {judge.id for judge in panel})
        zero = self.case.rubric.judging.on_unjudgeable == "zero"
        controls = len(lost) * len(panel) if zero else 0
        return self.spent + new * sum(map(len, self.questions)) + controls

    async def ask(self, panel: Sequence[JudgeSpec], answers: Sequence[int], keep: int) -> None:
        """Ask about the numbered answers what was not asked of these judges before."""
        wanted = [
            (answer, number, place)
            for answer in answers
            for number in range(len(self.questions[answer]))
            for place, judge in enumerate(panel)
            if (answer, number, judge.id) not in self.replies
        ]
        asks = []
        for answer, number, place in wanted:
            budgets = self.budgets.setdefault(
                (answer, number), [Budget(kept=self.kept) for _ in range(len(panel))]
            )
            if budgets[place].left < 1:
                # Its verdict was given by the judge before; another judge's is a verdict anew.
                budgets[place] = Budget()
            question = self.questions[answer][number]
            asks.append(
                Ask(judge=panel[place], question=question, budget=budgets[place], keep=keep)
            )
        for key, reply in zip(wanted, await ask_all(self.case, self.source, asks), strict=True):
            answer, number, place = key
            self.replies[answer, number, panel[place].id] = reply

    def has_spent_all(self, panel: Sequence[JudgeSpec], answers: Sequence[int]) -> bool:
        """Whether a verdict that one of these judges failed to give has no request left for
        another.
        """
        return any(
            isinstance(self.replies[answer, number, judge.id], JudgingError)
            and self.budgets[answer, number][place].left < 1
            for answer in answers
            for number in range(len(self.questions[answer]))
            for place, judge in enumerate(panel)
        )

    def give_back(self) -> None:
        """Keep no requests back any more: the second family is who is asked now."""
        for budgets in self.budgets.values():
            for budget in budgets:
                budget.kept = 0

    def polls(self, answer: int, panel: Sequence[JudgeSpec]) -> tuple[Poll, ...]:
        """What the panel said of one answer, question by question."""
        made = []
        for number, question in enumerate(self.questions[answer]):
            given = [(judge, self.replies[answer, number, judge.id]) for judge in panel]
            made.append(
                Poll(
                    question=question,
                    answers=tuple(r for _, r in given if isinstance(r, Answer)),
                    misses=tuple(
                        Miss(judge=judge, error=r)
                        for judge, r in given
                        if isinstance(r, JudgingError)
                    ),
                )
            )
        return tuple(made)


async def score_all(
    case: Case,
    source: VerdictSource,
    selection: Selection,
    answers: Sequence[Distinct],
    calls: int | None = None,
) -> Assessed:
    """The points of every answer, in order, all from one panel, for at most ``calls`` verdicts.

    A judge that failed some answer is replaced for the whole group where the rubric allows a second
    family and ``calls`` the whole of its work. The answers in question come first, so that a group
    that is lost costs no more.
    """
    panel = selection.panel
    second = case.rubric.judging.wants_second
    questions = [questions_of(case, answer.shown) for answer in answers]
    # Where not even one other judge is within the calls, no request is kept back for one.
    least = (len(panel) + 1) * sum(map(len, questions))
    within = calls is None or calls >= least
    spares = list(selection.spares()) if second and within else []
    keep, kept = kept_for_second(case.rubric) if spares else (0, 0)
    asked = _Round(case, source, questions, kept)
    everybody = range(len(answers))
    await asked.ask(panel, everybody, keep)
    scored = [_scored(case, asked.polls(number, panel), len(panel)) for number in everybody]
    lost = [number for number in everybody if scored[number].error is not None]
    replaced = _replaced(panel, [scored[number] for number in lost], spares, case)
    if replaced is None or asked.has_spent_all(panel, lost):
        return Assessed(scored=scored, panel=panel, asked=asked.spent)
    if calls is not None and asked.with_second(panel, replaced, lost) > calls:
        return Assessed(scored=scored, panel=panel, asked=asked.spent)
    return await _move(asked, scored, lost, panel, replaced)


async def _move(
    asked: _Round,
    scored: list[Scored],
    lost: Sequence[int],
    panel: tuple[JudgeSpec, ...],
    replaced: tuple[JudgeSpec, ...],
) -> Assessed:
    """Try the second panel on the ``lost`` answers, and if it can judge them on all."""
    case = asked.case
    asked.give_back()
    await asked.ask(replaced, lost, 0)
    again = {n: _scored(case, asked.polls(n, replaced), len(panel)) for n in lost}
    for number, one in again.items():
        if one.error is not None:
            if not await _unjudgeable(asked, [*scored[number].polls, *one.polls]):
                tried = [*scored[:number], one, *scored[number + 1 :]]
                return Assessed(scored=tried, panel=panel, asked=asked.spent)
            one.unjudgeable, one.error = True, None
    if all(one.unjudgeable for one in again.values()):
        merged = [again.get(number, one) for number, one in enumerate(scored)]
        return Assessed(scored=merged, panel=panel, asked=asked.spent)
    case.flag(_moved(panel, replaced))
    await asked.ask(replaced, range(len(scored)), 0)
    moved = [
        again[number]
        if number in again
        else _scored(case, asked.polls(number, replaced), len(panel))
        for number in range(len(scored))
    ]
    return Assessed(scored=moved, panel=replaced, asked=asked.spent)


def _scored(case: Case, polls: tuple[Poll, ...], asked: int) -> Scored:
    quorum = case.rubric.judging.quorum
    errors = [error for poll in polls if (error := poll.failure(quorum, asked)) is not None]
    return Scored(
        polls=polls,
        results=results_of(case.rubric, polls),
        error=errors[0] if errors else None,
    )


def _replaced(
    panel: Sequence[JudgeSpec], lost: Sequence[Scored], spares: Sequence[JudgeSpec], case: Case
) -> tuple[JudgeSpec, ...] | None:
    """The panel with every judge that failed one of the lost answers replaced, or None."""
    misses = [miss for one in lost for poll in one.polls for miss in poll.misses]
    if case.rubric.judging.fallback != "family" and not all(miss.unusable for miss in misses):
        return None
    culprits = {miss.judge.id for miss in misses}
    if not lost or len(spares) < len(culprits) or case.deadline.left() <= 0:
        return None
    new = iter(spares)
    return tuple(next(new) if judge.id in culprits else judge for judge in panel)


async def _unjudgeable(asked: _Round, polls: Sequence[Poll]) -> bool:
    """Whether what two families were asked of one answer shows that no judge can judge it."""
    case = asked.case
    if case.rubric.judging.on_unjudgeable != "zero":
        return False
    failed = [poll for poll in polls if poll.misses]
    misses = [miss for poll in failed for miss in poll.misses]
    families = {miss.judge.family_label for miss in misses}
    if len(families) < 2 or not all(miss.unusable for miss in misses):
        return False
    asked.controls += len({miss.judge.id for miss in failed[0].misses})
    return await control_is_judged(case, asked.source, case.rubric.criteria[0], failed[0])


def _moved(before: Sequence[JudgeSpec], after: Sequence[JudgeSpec]) -> Flag:
    changes = [
        f"{new.id} in place of {old.id}"
        for old, new in zip(before, after, strict=True)
        if old is not new
    ]
    return Flag("fallback_judge", f"for the whole group: {', '.join(changes)}")
