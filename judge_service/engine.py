"""The use cases, top to bottom: assess one candidate, compare two."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TypeAlias

from judge_service.asking.ask import Asker
from judge_service.bias.history import PairHistory
from judge_service.bias.live import ScoreHistory
from judge_service.candidate.answer_history import PROMPTS, AnswerHistory, sighting
from judge_service.candidate.exhibit import prompt_text, unread
from judge_service.candidate.inspection import Inspection, inspect, unseen
from judge_service.case import Case
from judge_service.deadline import Deadline
from judge_service.errors import InvalidRequest, JudgingError, Overloaded
from judge_service.events import (
    ConstantAnswer,
    FamilyExcluded,
    Judged,
    Kind,
    LookedUp,
    Observer,
    nobody,
)
from judge_service.flags import Flag
from judge_service.judges.judge import Bench
from judge_service.judging import assess as assessing
from judge_service.judging import compare as comparing
from judge_service.judging.judged_event import judged
from judge_service.judging.past import Past
from judge_service.judging.selection import check_judges, known_families
from judge_service.outcome import AssessOutcome, CompareOutcome, Outcome, RankOutcome
from judge_service.ranking.budget import check_group
from judge_service.ranking.length_window import LengthWindow
from judge_service.request import AssessRequest, CompareRequest, RankRequest, Request
from judge_service.rubric.library import Library
from judge_service.rubric.rubric import Rubric
from judge_service.rules import RuleNeedsReference
from judge_service.types import Candidate
from judge_service.verdicts.source import VerdictSource

log = logging.getLogger("judge_service.engine")
RANKING = "judge_service.ranking.rank"


Watch: TypeAlias = Callable[[Kind, Case, tuple[Inspection, ...], Outcome], None]
"""Is told of every outcome of live traffic; quick, never raising, without a say in it."""
Room: TypeAlias = Callable[[Sequence[Case]], Overloaded | None]
"""Says why requests that come together are turned away before anybody is asked, if they are."""


def always_room(cases: Sequence[Case]) -> Overloaded | None:
    """Turns nobody away."""
    return None


@dataclass(slots=True, kw_only=True)
class Engine:
    """Everything one service judges with. Parts are passed in, there are no globals."""

    library: Library
    bench: Bench
    source: VerdictSource
    require_family: bool = False
    history: PairHistory = field(default_factory=PairHistory)
    scores: ScoreHistory = field(default_factory=ScoreHistory)
    answers: AnswerHistory = field(default_factory=AnswerHistory)
    lengths: LengthWindow = field(default_factory=LengthWindow)
    observer: Observer = nobody
    room: Room = always_room
    watch: Watch | None = None

    @property
    def asker(self) -> Asker:
        """Who asks the judges, past the cache."""
        return self.source.asker

    async def assess(
        self,
        request: AssessRequest,
        case: Case | None = None,
        *,
        lost: JudgingError | None = None,
    ) -> AssessOutcome:
        """Judge one candidate. Raises RequestError for the caller's mistakes, nothing else.

        ``case`` is what ``check`` made of the request, where it was checked before. ``lost`` says
        why it is not even looked at; the outcome is a failure with that error.
        """
        case = case or self.check(request)
        (inspection,) = await self._inspect(case, (request.candidate,), lost)
        excluded = self._look(case, (inspection,))
        outcome = await assessing.assess(case, inspection, excluded, self.source)
        self._tell("assess", case, (inspection,), outcome)
        if not request.audit:
            self.scores.assessed(case.rubric, inspection, outcome)
        return outcome

    async def still_holds(self, past: Past) -> bool:
        """Whether the request of ``past`` would have the very same outcome now; its answer counts
        as seen once more.
        """
        if past.bench is not self.bench or log.isEnabledFor(logging.DEBUG):
            return False
        rubric = past.rubric
        if rubric.id not in self.library or self.library[rubric.id] is not rubric:
            return False
        if self.answers.note(past.sighting) != past.constant:
            return False
        return await self.source.has(past.kept)

    def once_more(self, past: Past, seconds: float) -> None:
        """Tell of an outcome that came once more, as if it had been reached anew."""
        for judge in past.left_out:
            self.observer(FamilyExcluded(judge))
        for _ in past.kept:
            self.observer(LookedUp("hit"))
        if past.constant:
            self.observer(ConstantAnswer(past.rubric.id))
        self.observer(Judged(**past.told, seconds=seconds))

    async def compare(
        self,
        request: CompareRequest,
        case: Case | None = None,
        *,
        lost: JudgingError | None = None,
    ) -> CompareOutcome:
        """Judge a pair, in the same way. Raises RequestError, nothing else."""
        case = case or self.check(request)
        first, second = await self._inspect(case, request.candidates, lost)
        excluded = self._look(case, (first, second))
        outcome = await comparing.compare(
            case, (first, second), excluded, self.source, self.history
        )
        self._tell("compare", case, (first, second), outcome)
        return outcome

    async def rank(
        self,
        request: RankRequest,
        case: Case | None = None,
        *,
        lost: JudgingError | None = None,
    ) -> RankOutcome:
        """Rank a group, in the same way. Raises RequestError, nothing else."""
        if RANKING not in sys.modules:
            # Takes a while, and only who needs it waits.
            await asyncio.to_thread(import_module, RANKING)
        from judge_service.ranking import rank as ranking

        case = case or self.check(request)
        inspections = await self._inspect(case, request.candidates, lost)
        excluded = self._look(case, tuple(inspections))
        outcome = await ranking.rank(
            case, request, inspections, excluded, self.source, self.history, self.lengths
        )
        self._tell("rank", case, tuple(inspections), outcome)
        if not request.audit:
            self.scores.ranked(case.rubric, inspections, outcome)
        return outcome

    def check(self, request: Request, deadline: Deadline | None = None) -> Case:
        """Look for the caller's mistakes without judging; starts the clock unless it runs already.

        The case keeps the rubric it was checked against, whatever becomes of the library.
        Raises RequestError.
        """
        rubric = self.library[request.rubric]
        _check_reference(request, rubric)
        check_judges(request, rubric, self.bench)
        if isinstance(request, AssessRequest) and rubric.kind == "compare":
            raise InvalidRequest(
                f"rubric {request.rubric!r} compares two candidates; use compare", field="rubric"
            )
        if isinstance(request, RankRequest):
            check_group(request, rubric)
        _check_ids(request)
        if self.require_family:
            known_families([unread(c) for c in _candidates(request)], require=True)
        deadline = deadline or Deadline.after(request.timeout_s)
        return Case(
            request=request,
            rubric=rubric,
            bench=self.bench,
            deadline=deadline,
            observer=self.observer,
        )

    async def _inspect(
        self, case: Case, candidates: Sequence[Candidate], lost: JudgingError | None
    ) -> list[Inspection]:
        if lost is not None:
            return [unseen(candidate, lost) for candidate in candidates]
        return await inspect(candidates, case.rubric, case.request, case.deadline)

    def _look(self, case: Case, inspections: tuple[Inspection, ...]) -> frozenset[str]:
        """Collect the flags of the candidates; returns the families that may not judge."""
        families, flags = known_families(
            [one.shown for one in inspections], require=self.require_family
        )
        for number, one in enumerate(inspections, start=1):
            prefix = "" if len(inspections) == 1 else f"candidate {number}: "
            flags += [Flag(flag.flag, prefix + flag.detail) for flag in one.flags]
            if one.broken is None and self._note_answer(case, one):
                detail = f"{prefix}the same answer was given to {PROMPTS} prompts or more"
                flags.append(Flag("constant_answer", detail))
                self.observer(ConstantAnswer(case.rubric.id))
        for flag in flags:
            case.flag(flag)
        return families

    def _note_answer(self, case: Case, inspection: Inspection) -> bool:
        """Remember an answer; whether it is one that comes whatever is asked."""
        if case.request.audit:
            return False
        seen = sighting(case.rubric.id, case.prompt_hash, inspection.shown.identity)
        case.trace.sighting = seen
        return self.answers.note(seen)

    def _tell(
        self,
        kind: Kind,
        case: Case,
        inspections: tuple[Inspection, ...],
        outcome: Outcome,
    ) -> None:
        case.trace.event = event = judged(kind, case, outcome)
        self.observer(event)
        if self.watch is not None and not event.audit:
            self.watch(kind, case, inspections, outcome)
        if log.isEnabledFor(logging.DEBUG):
            # Texts stand apart from the message: whoever writes the line decides what is shown.
            texts = [prompt_text(case.request.prompt), *(one.shown.text for one in inspections)]
            log.debug(
                "%s on %s: %s", kind, case.rubric.id, event.code or "success",
                extra={"texts": texts},
            )  # fmt: skip


def _candidates(request: Request) -> tuple[Candidate, ...]:
    if isinstance(request, AssessRequest):
        return (request.candidate,)
    return request.candidates if isinstance(request, (CompareRequest, RankRequest)) else ()


def _check_ids(request: Request) -> None:
    ids = [candidate.id for candidate in _candidates(request) if candidate.id is not None]
    if len(set(ids)) < len(ids):
        raise InvalidRequest("two candidates have the same id", field="candidates")


def _check_reference(request: Request, rubric: Rubric) -> None:
    wanted = rubric.judging.reference
    if wanted == "required" and request.reference is None:
        raise InvalidRequest(f"rubric {rubric.id!r} needs a reference", field="reference")
    if wanted == "forbidden" and request.reference is not None:
        raise InvalidRequest(f"rubric {rubric.id!r} takes no reference", field="reference")
    for rule in rubric.rules:
        try:
            rule.check_reference(request.reference)
        except RuleNeedsReference as error:
            raise InvalidRequest(f"rubric {rubric.id!r}: {error}", field="reference") from None
