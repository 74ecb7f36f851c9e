"""What of a request the shadow is asked, and what the live judges had made of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from judge_service.candidate.exhibit import prompt_text
from judge_service.candidate.inspection import Inspection
from judge_service.case import Case
from judge_service.events import Kind
from judge_service.outcome import Assessed, Compared, Outcome, Ranked
from judge_service.request import AssessRequest, CompareRequest, Request
from judge_service.rubric.rubric import Rubric
from judge_service.statistics.agreement import Label
from judge_service.watch.shadow_pairs import choice_of, points_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowCase:
    """One question for the shadow. ``live`` are the judges whose ``points`` by criterion, or whose
    ``choices``, its verdict is compared with; ``families`` are those of the candidates.
    """

    kind: Kind
    rubric: Rubric
    request: AssessRequest | CompareRequest
    families: frozenset[str]
    live: tuple[str, ...]
    points: Mapping[str, dict[str, int]] = field(default_factory=dict)
    choices: Mapping[str, Label] = field(default_factory=dict)


def texts_of(request: Request, inspections: Sequence[Inspection]) -> tuple[str, ...]:
    """What the choice of a request depends on; the order of its candidates has no part in it."""
    keys = sorted(one.shown.identity.key.hex() for one in inspections)
    return (prompt_text(request.prompt), *keys)


def shadow_case(
    kind: Kind, case: Case, inspections: Sequence[Inspection], outcome: Outcome
) -> ShadowCase | None:
    """The question; None where there is nothing to compare with.

    Of a group that was assessed one member is asked about, of one that was ranked by pairs one
    pair: those that come first by a hash of their texts.
    """
    families = frozenset[str]().union(*(one.shown.families() for one in inspections))
    if isinstance(outcome, Ranked):
        return _of_group(case, inspections, outcome, families)
    judges = tuple(sorted({verdict.judge for verdict in outcome.verdicts}))
    if isinstance(outcome, Assessed) and isinstance(case.request, AssessRequest):
        given = {judge: points_of(outcome, judge) for judge in judges}
        points = {judge: found for judge, found in given.items() if found}
        return _some(kind, case, case.request, families, points=points)
    if isinstance(outcome, Compared) and isinstance(case.request, CompareRequest):
        choices = {
            judge: found for judge in judges if (found := choice_of(outcome, judge)) is not None
        }
        return _some(kind, case, case.request, families, choices=choices)
    return None


def _of_group(
    case: Case, inspections: Sequence[Inspection], outcome: Ranked, families: frozenset[str]
) -> ShadowCase | None:
    judges = {count.judge for count in outcome.judges}
    if len(judges) != 1:
        return None  # what each of a panel had said is not known
    (judge,) = judges
    places = [n for n, one in enumerate(inspections) if one.passed]
    places.sort(key=lambda n: inspections[n].shown.identity.key)
    candidates = [one.shown.candidate for one in inspections]
    common = {one.name: getattr(case.request, one.name) for one in fields(Request)}
    if outcome.strategy == "pairwise":
        pair = _two(places, inspections)
        if pair is None:
            return None
        a, b = pair
        request = CompareRequest(candidates=(candidates[a], candidates[b]), **common)
        first, second = outcome.rewards[a], outcome.rewards[b]
        choice = "tie" if first == second else "first" if first > second else "second"
        return _some("rank", case, request, families, choices={judge: choice})
    scored = [n for n in places if outcome.members[n].criteria]
    if not scored:
        return None
    member = scored[0]
    given = {name: result.point for name, result in outcome.members[member].criteria.items()}
    alone = AssessRequest(candidate=candidates[member], **common)
    return _some("rank", case, alone, families, points={judge: given})


def _two(places: Sequence[int], inspections: Sequence[Inspection]) -> tuple[int, int] | None:
    """The first two that are not the same text."""
    for other in places[1:]:
        if not inspections[places[0]].shown.same_as(inspections[other].shown):
            return places[0], other
    return None


def _some(
    kind: Kind,
    case: Case,
    request: AssessRequest | CompareRequest,
    families: frozenset[str],
    *,
    points: Mapping[str, dict[str, int]] | None = None,
    choices: Mapping[str, Label] | None = None,
) -> ShadowCase | None:
    live = tuple(points or choices or ())
    if not live:
        return None
    return ShadowCase(
        kind=kind,
        rubric=case.rubric,
        request=request,
        families=families,
        live=live,
        points=points or {},
        choices=choices or {},
    )
