"""The use cases, top to bottom: assess one candidate, compare two."""

from __future__ import annotations

from dataclasses import dataclass, field

from judge_service import assess as assessing
from judge_service import compare as comparing
from judge_service.ask import Asker
from judge_service.case import Case
from judge_service.deadline import Deadline
from judge_service.errors import InvalidRequest
from judge_service.flags import Flag
from judge_service.history import PairHistory
from judge_service.inspection import Inspection, inspect
from judge_service.judge import Bench
from judge_service.library import Library
from judge_service.outcome import AssessOutcome, CompareOutcome
from judge_service.request import AssessRequest, CompareRequest, Request
from judge_service.rubric import Rubric
from judge_service.selection import check_judges, known_families
from judge_service.verdict_source import VerdictSource


@dataclass(slots=True, kw_only=True)
class Engine:
    """Everything one service judges with. Parts are passed in, there are no globals."""

    library: Library
    bench: Bench
    source: VerdictSource
    require_family: bool = False
    history: PairHistory = field(default_factory=PairHistory)

    @property
    def asker(self) -> Asker:
        """Who asks the judges, past the cache."""
        return self.source.asker

    async def assess(self, request: AssessRequest) -> AssessOutcome:
        """Judge one candidate. Raises RequestError for the caller's mistakes, nothing else."""
        case = self._open(request)
        if case.rubric.kind == "compare":
            raise InvalidRequest(
                f"rubric {request.rubric!r} compares two candidates; use compare", field="rubric"
            )
        (inspection,) = await inspect((request.candidate,), case.rubric, request, case.deadline)
        excluded = self._look(case, (inspection,))
        return await assessing.assess(case, inspection, excluded, self.source)

    async def compare(self, request: CompareRequest) -> CompareOutcome:
        """Judge a pair. Raises RequestError for the caller's mistakes, nothing else."""
        case = self._open(request)
        first, second = await inspect(request.candidates, case.rubric, request, case.deadline)
        excluded = self._look(case, (first, second))
        return await comparing.compare(case, (first, second), excluded, self.source, self.history)

    def _open(self, request: Request) -> Case:
        """Check a request against rubric and judges, and start its clock."""
        rubric = self.library[request.rubric]
        _check_reference(request, rubric)
        check_judges(request, rubric, self.bench)
        deadline = Deadline.after(request.timeout_s)
        return Case(request=request, rubric=rubric, bench=self.bench, deadline=deadline)

    def _look(self, case: Case, inspections: tuple[Inspection, ...]) -> frozenset[str]:
        """Collect the flags of the candidates; returns the families that may not judge."""
        families, flags = known_families(
            [one.shown for one in inspections], require=self.require_family
        )
        for number, one in enumerate(inspections, start=1):
            prefix = "" if len(inspections) == 1 else f"candidate {number}: "
            flags += [Flag(flag.flag, prefix + flag.detail) for flag in one.flags]
        for flag in flags:
            case.flag(flag)
        return families


def _check_reference(request: Request, rubric: Rubric) -> None:
    wanted = rubric.judging.reference
    if wanted == "required" and request.reference is None:
        raise InvalidRequest(f"rubric {rubric.id!r} needs a reference", field="reference")
    if wanted == "forbidden" and request.reference is not None:
        raise InvalidRequest(f"rubric {rubric.id!r} takes no reference", field="reference")
