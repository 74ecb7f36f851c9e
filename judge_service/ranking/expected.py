"""Expected scores in a group: counted for all of its members or for none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judge_service.case import Case
from judge_service.flags import Flag
from judge_service.outcome import CriterionResult


def alike(case: Case, members: Sequence[dict[str, CriterionResult]]) -> None:
    """Let a criterion's expected scores count only where every member has one.

    An expected score is drawn in from the ends of the scale, so a point beside expected scores
    would be an advantage that nobody earned. Says so in a flag.
    """
    for criterion in case.rubric.criteria:
        name = criterion.name
        results = [member[name] for member in members if name in member]
        told = [result.expected for result in results if result.expected is not None]
        missing = sum(expected.value is None for expected in told)
        if not missing or missing == len(told):
            continue
        for member in members:
            expected = member[name].expected if name in member else None
            if expected is not None:
                member[name] = replace(member[name], expected=expected.uncounted)
        case.flag(
            Flag(
                "no_expectation",
                f"{name}: {missing} of {len(told)} answers have no expected score, so that points "
                "count for all of them",
            )
        )
