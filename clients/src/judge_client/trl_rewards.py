"""From completions to what is asked about them, and from outcomes to their rewards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from judge_client.candidate import Candidate
from judge_client.requests import Assess, Rank, Request
from judge_client.results import Assessed, Failed, Failure, Joined, Outcome, Ranked
from judge_client.rows import Row


def assess(row: Row, rubric: str | None = None) -> Assess:
    """An assessment of one completion."""
    candidate = Candidate(text=row.text, messages=row.turns)
    return Assess(prompt=row.prompt, candidate=candidate, reference=row.reference, rubric=rubric)


def rank(rows: Sequence[Row], rubric_of_one: str | None = None) -> Request[Any]:
    """A ranking; of one alone, as in an evaluation, an assessment."""
    if len(rows) == 1:
        return assess(rows[0], rubric_of_one)
    return Rank(
        prompt=rows[0].prompt,
        candidates=[Candidate(text=row.text, messages=row.turns) for row in rows],
        reference=rows[0].reference,
    )


def by_place(
    groups: Sequence[Sequence[int]], results: Sequence[Outcome], wanted: Iterable[int]
) -> list[float | Failure]:
    """What the rows at the ``wanted`` places got, each as a member of its group."""
    rewards: dict[int, float | Failure] = {}
    for members, result in zip(groups, results, strict=True):
        rewards |= zip(members, _shares(result, len(members)), strict=True)
    return [rewards[at] for at in wanted]


def _shares(result: Outcome, size: int) -> list[float | Failure]:
    if isinstance(result, Ranked):
        return list(result.rewards)
    if isinstance(result, (Assessed, Joined)):
        return [result.reward]
    if isinstance(result, Failed):
        return [result.error] * size
    raise TypeError("neither a ranking, nor an assessment, nor a share")
