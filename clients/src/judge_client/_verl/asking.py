"""What verl is told of a result."""

from __future__ import annotations

from judge_client.errors import JudgingFailed
from judge_client.results import Assessed, AssessOutcome, Joined, JoinOutcome
from judge_client.trainer_numbers import numbers

DEFAULT_TIMEOUT_S = 120.0


class JudgeUnavailable(JudgingFailed):
    """A sample has no verdict, hence no reward; ``error`` says why."""


def scored(result: AssessOutcome | JoinOutcome) -> dict[str, float]:
    """The reward as ``score`` and the numbers beside it. Raises JudgeUnavailable."""
    if isinstance(result, (Assessed, Joined)):
        return {"score": result.reward, **numbers(result, result.reward)}
    raise JudgeUnavailable(result.error)
