"""Asking ahead: what the ranking of a group will surely ask, while its members still come.

Verdicts are kept and shared, so the ranking finds them or joins the asking; its result is the same.
Only what every ranking of these members asks is asked: each member's points on a scale, or, in
groups so small that all pairs meet in both orders, the pairs of those who are there. Judges get one
try each, and after the first that fails the rest waits for the ranking.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from itertools import combinations

from judge_service.asking.ask import Budget
from judge_service.bias.record import marks_of
from judge_service.candidate.inspection import Inspection, inspect
from judge_service.case import Case
from judge_service.deadline import Deadline
from judge_service.engine import Engine
from judge_service.envelope.envelope import Question, compare_question
from judge_service.errors import ContextTooLong, JudgeServiceError
from judge_service.judges.judge import JudgeSpec
from judge_service.judging.assess import questions_of
from judge_service.judging.fit import check_before
from judge_service.judging.judged_event import pair_judged
from judge_service.judging.judged_pair import ask_pair
from judge_service.judging.selection import Selection, known_families, select
from judge_service.outcome import Order
from judge_service.ranking.budget import strategy_of
from judge_service.ranking.members import Distinct, digests_of, distinct
from judge_service.ranking.schedule import all_orders, default_calls
from judge_service.request import RankRequest
from judge_service.types import Candidate
from judge_service.usage import Ledger, Usage


class Early:
    """What is asked ahead of one group of ``size``."""

    def __init__(self, engine: Engine, size: int) -> None:
        self._engine = engine
        self._size = size
        self._ledger = Ledger()
        self._asked: set[tuple[str, Question]] = set()
        self._panel: tuple[JudgeSpec, ...] | None = None
        self.over = False

    def billed(self) -> Usage:
        """What that has cost since this was asked last."""
        spent, self._ledger = self._ledger.total, Ledger()
        return spent

    async def ask(self, request: RankRequest) -> None:
        """Ask what was not asked before about the members of ``request``, those so far."""
        try:
            case = self._engine.check(request, Deadline.after(request.timeout_s))
            case.ledger = self._ledger
            strategy = strategy_of(request, case.rubric)
            paired = strategy == "pairwise" and self._all_meet(case)
            selection, answers = await self._passing(case, request.candidates, exact=not paired)
        except JudgeServiceError:
            self.over = True  # the ranking will say why
            return
        if not paired and strategy != "assess":
            self.over = True
            return
        self._panel = self._panel or selection.panel
        if selection.panel != self._panel:
            # Somebody's family leaves a judge out: who else will come is anybody's guess.
            self.over = True
            return
        await asyncio.gather(*(
            self._pairs(case, selection, answers) if paired
            else self._points(case, selection, answers)
        ))  # fmt: skip

    def _all_meet(self, case: Case) -> bool:
        """Whether all pairs meet in both orders, however many different answers there will be."""
        graded = case.rubric.judging.score == "expected"
        return all(
            default_calls(members, graded=graded) >= all_orders(members)
            for members in range(2, self._size + 1)
        )

    async def _passing(
        self, case: Case, candidates: Sequence[Candidate], *, exact: bool
    ) -> tuple[Selection, list[Distinct]]:
        """The judges, and the different answers that they will be asked about."""
        inspections = await inspect(candidates, case.rubric, case.request, case.deadline)
        excluded, _ = known_families([one.shown for one in inspections], require=False)
        selection = select(case.request, case.rubric, case.bench, excluded)
        passing = [n for n, one in enumerate(inspections) if await self._fits(case, one, selection)]
        digests = await digests_of(case, inspections)
        return selection, distinct(digests, inspections, passing, exact=exact)

    async def _fits(self, case: Case, one: Inspection, selection: Selection) -> bool:
        if one.broken is not None or not one.passed:
            return False
        try:
            return await check_before(case, self._engine.asker, selection, one.shown) is None
        except ContextTooLong:
            return False

    def _points(
        self, case: Case, selection: Selection, answers: Sequence[Distinct]
    ) -> list[Coroutine[None, None, None]]:
        return [
            self._point(case, judge, question)
            for answer in answers
            for question in questions_of(case, answer.shown)
            for judge in selection.panel
            if self._is_new(judge, question)
        ]

    def _pairs(
        self, case: Case, selection: Selection, answers: Sequence[Distinct]
    ) -> list[Coroutine[None, None, None]]:
        asking = []
        for first, second in combinations(answers, 2):
            questions: dict[Order, Question] = {
                "AB": _question(case, first, second), "BA": _question(case, second, first),
            }  # fmt: skip
            asking += [
                self._pair(case, judge, questions, (first, second))
                for judge in selection.panel
                if self._is_new(judge, questions["AB"])
            ]
        return asking

    def _is_new(self, judge: JudgeSpec, question: Question) -> bool:
        new = (judge.id, question) not in self._asked
        self._asked.add((judge.id, question))
        return new

    async def _point(self, case: Case, judge: JudgeSpec, question: Question) -> None:
        try:
            answer = await self._engine.source.ask(case, judge, question, Budget(1), single=True)
        except JudgeServiceError:
            self.over = True
        else:
            case.note(answer)

    async def _pair(
        self,
        case: Case,
        judge: JudgeSpec,
        questions: dict[Order, Question],
        answers: tuple[Distinct, Distinct],
    ) -> None:
        pair, _ = await ask_pair(case, self._engine.source, judge, questions, single=True)
        ab, ba = pair.choice("AB"), pair.choice("BA")
        if ab is None or ba is None:
            self.over = True
        elif not pair.cached:
            # As a ranking does; it passes over what it finds.
            first, second = (one.shown for one in answers)
            marks = (marks_of(first.text), marks_of(second.text))
            self._engine.history.add(judge.id, ab, ba, (first.chars, second.chars), marks)
            case.observer(pair_judged(judge.id, ab, ba, case.rubric.id))


def _question(case: Case, first: Distinct, second: Distinct) -> Question:
    request = case.request
    return compare_question(
        case.rubric, request.prompt, (first.shown, second.shown), request.reference
    )
