"""Corrections of a judge's scale: what its points are worth, learnt from people, never silent.

A correction belongs to one judge and to one version of a rubric. It moves what a point counts in
the reward; the point itself, and with it every comparison of judges, stays what the judge said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from judge_service.flags import Flag
from judge_service.judges.correction import Correction
from judge_service.outcome import CriterionResult, Worth

if TYPE_CHECKING:
    from judge_service.case import Case
    from judge_service.judges.judge import Bench, JudgeSpec
    from judge_service.reply.expectation import Expectation
    from judge_service.rubric.rubric import Criterion, Rubric

Vote = tuple["JudgeSpec", int, "Expectation"]
"""A judge, the point that it gave, and what is expected of it."""


def correction_of(judge: JudgeSpec, rubric: Rubric) -> Correction | None:
    """The correction that counts for a judge under a rubric, if there is one."""
    found = judge.correction.get(rubric.id)
    return found if found is not None and found.counts_for(rubric) else None


def corrected(
    result: CriterionResult,
    rubric: Rubric,
    criterion: Criterion,
    votes: Sequence[Vote],
    *,
    mean: bool = False,
) -> CriterionResult:
    """The result with what its votes are worth: their lower median, or their ``mean``.

    Unchanged where no judge of the votes has a correction that counts.
    """
    curves = [correction_of(judge, rubric) for judge, _, _ in votes]
    if not any(curve is not None and criterion.name in curve.values for curve in curves):
        return result
    points = [criterion.points.normalized(point) for _, point, _ in votes]
    told = [
        point if one.value is None else one.value
        for point, (_, _, one) in zip(points, votes, strict=True)
    ]
    of_point, of_expected = (
        [
            v if c is None else c.worth(criterion.name, v)
            for c, v in zip(curves, values, strict=True)
        ]
        for values in (points, told)
    )
    worth = Worth(of_point=_one(of_point, mean), of_expected=_one(of_expected, mean))
    return replace(result, worth=worth)


def _one(values: Sequence[float], mean: bool) -> float:
    return sum(values) / len(values) if mean else sorted(values)[(len(values) - 1) // 2]


def flag_corrections(case: Case) -> None:
    """Say whose points were corrected, and whose correction is for another version."""
    for judge in case.answered.values():
        found = judge.correction.get(case.rubric.id)
        if found is None:
            continue
        if found.counts_for(case.rubric):
            names = ", ".join(sorted(found.values))
            detail = f"{judge.id}: points on {names} count as people's do"
            case.flag(Flag("corrected_scale", detail))
        else:
            case.flag(Flag("correction_outdated", f"{judge.id}: {_outdated(case.rubric)}"))


def correction_faults(bench: Bench, rubrics: Mapping[str, Rubric]) -> list[str]:
    """What cannot be right in the corrections that count: ``judge: rubric: what``."""
    found = []
    for judge, rubric, correction in _known(bench, rubrics):
        scales = {c.name: c.points.values for c in rubric.criteria if c.scale is not None}
        for name, worth in correction.values.items() if correction.counts_for(rubric) else ():
            where = f"judge {judge!r}: correction.{rubric.id}.values.{name}"
            if name not in scales:
                found.append(f"{where}: the rubric has no such criterion with a scale")
            elif len(worth) != len(scales[name]):
                found.append(f"{where}: {len(worth)} values for {len(scales[name])} points")
    return found


def correction_warnings(bench: Bench, rubrics: Mapping[str, Rubric]) -> list[str]:
    """Corrections that do not count, one sentence each."""
    return [
        f"judge {judge!r}: {_outdated(rubric)}"
        for judge, rubric, correction in _known(bench, rubrics)
        if not correction.counts_for(rubric)
    ] + [
        f"judge {judge.id!r}: there is no rubric {name!r} that its correction could count for"
        for judge in bench.values()
        for name in judge.correction
        if name not in rubrics
    ]


def _known(bench: Bench, rubrics: Mapping[str, Rubric]) -> list[tuple[str, Rubric, Correction]]:
    return [
        (judge.id, rubrics[name], correction)
        for judge in bench.values()
        for name, correction in judge.correction.items()
        if name in rubrics
    ]


def _outdated(rubric: Rubric) -> str:
    return (
        f"its correction was learnt under another version of rubric {rubric.id!r} "
        f"({rubric.rubric_hash[:16]} now) and does not count"
    )
