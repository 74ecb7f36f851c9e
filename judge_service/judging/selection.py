"""Who is asked for one request: restriction, family exclusion, rotation, panel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge_service.candidate.exhibit import Exhibit, prompt_text
from judge_service.errors import InvalidRequest, NoEligibleJudge, QuorumNotMet, UnknownJudge
from judge_service.events import FamilyExcluded, Observer, nobody
from judge_service.flags import Flag
from judge_service.judges.judge import Bench, JudgeSpec
from judge_service.judges.rotation import eligible, order, panel
from judge_service.request import Request
from judge_service.rubric.rubric import Rubric


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """All eligible judges, best placed first, and those of them that are asked."""

    ordered: tuple[JudgeSpec, ...]
    panel: tuple[JudgeSpec, ...]

    def spares(self) -> Iterator[JudgeSpec]:
        """Judges of families that are neither on the panel nor given out already, in order."""
        taken = frozenset[str]().union(*(j.families for j in self.panel))
        for judge in self.ordered:
            if not judge.families & taken:
                taken |= judge.families
                yield judge


def known_families(
    exhibits: Sequence[Exhibit], *, require: bool
) -> tuple[frozenset[str], list[Flag]]:
    """The candidates' families, and the flag for those of which none is known.

    Raises InvalidRequest when one is unknown and the operator requires them.
    """
    families: frozenset[str] = frozenset()
    unknown: list[str] = []
    fields: list[str] = []
    for number, shown in enumerate(exhibits):
        own = shown.families()
        families |= own
        if not own:
            where = "candidate" if len(exhibits) == 1 else f"candidates[{number}]"
            fields.append(f"{where}.family")
            unknown.append(
                f"{where} ({shown.candidate.id[:64]!r})" if shown.candidate.id else where
            )
    if unknown and require:
        raise InvalidRequest(
            f"the family of {', '.join(unknown)} is not known and this service requires it: "
            "give family, or a policy_model whose family is known",
            field=fields[0],
        )
    if not unknown:
        return families, []
    detail = f"{', '.join(unknown)}: no family given or known, so no judge could be excluded"
    return families, [Flag("family_unknown", detail)]


def select(
    request: Request,
    rubric: Rubric,
    bench: Bench,
    excluded: frozenset[str],
    observer: Observer = nobody,
) -> Selection:
    """Choose the judges of a request, and tell who was left out for its family.

    Raises UnknownJudge, NoEligibleJudge, and QuorumNotMet when there are too few families.
    """
    pool = _pool(request, bench)
    for judge in pool if excluded else ():
        if judge.families & excluded and not request.audit:
            observer(FamilyExcluded(judge.id))
    size = request.panel_size or rubric.judging.panel_size
    ordered = order(eligible(pool, excluded), rubric.rubric_hash, prompt_text(request.prompt))
    chosen = panel(ordered, size)
    if len(chosen) < rubric.judging.quorum:
        raise QuorumNotMet(
            f"only {len(chosen)} judges of different families can be asked, "
            f"{rubric.judging.quorum} are needed"
        )
    return Selection(ordered=ordered, panel=chosen)


def check_judges(request: Request, rubric: Rubric, bench: Bench) -> None:
    """Raise UnknownJudge or InvalidRequest when the judges asked for can never do."""
    if request.judges is not None:
        _for_the_purpose(request, _named(request.judges, bench))
    size = request.panel_size or rubric.judging.panel_size
    if size < rubric.judging.quorum:
        raise InvalidRequest(
            f"panel_size {size} can never meet the rubric's quorum of {rubric.judging.quorum}",
            field="panel_size",
        )


def _pool(request: Request, bench: Bench) -> tuple[JudgeSpec, ...]:
    """The judges that may be asked: those named, else those for the request's purpose.

    Raises NoEligibleJudge where none is.
    """
    if request.judges is not None:
        return _named(request.judges, bench)
    pool = bench.rotation(request.purpose)
    if not pool:
        raise NoEligibleJudge(
            f'no judge has purpose = "{request.purpose}", and those for the other purpose are not '
            "asked instead"
        )
    return pool


def _for_the_purpose(request: Request, named: tuple[JudgeSpec, ...]) -> None:
    """Raise InvalidRequest where a judge is named that is not for what the request is for."""
    for judge in named:
        if request.purpose is not None and judge.purpose != request.purpose:
            raise InvalidRequest(
                f"judge {judge.id!r} is for {judge.purpose!r}, the request for {request.purpose!r}",
                field="judges",
            )


def _named(ids: tuple[str, ...], bench: Bench) -> tuple[JudgeSpec, ...]:
    for judge_id in ids:
        if judge_id not in bench:
            raise UnknownJudge(
                f"there is no judge {judge_id[:80]!r}; configured: {', '.join(bench)}",
                field="judges",
            )
    return tuple(bench[judge_id] for judge_id in dict.fromkeys(ids))
