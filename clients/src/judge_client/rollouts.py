"""What trainers hand over, in whatever classes their messages have, as what is asked."""

from __future__ import annotations

from judge_client.candidate import Candidate
from judge_client.requests import Assess
from judge_client.results import Assessed, Failed, Failure, Joined, Outcome, Ranked
from judge_client.rows import Row
from judge_client.settings import MAX_POLICY_MODEL, Settings
from judge_client.trainer_numbers import PLACEHOLDERS, numbers


def candidate_of(
    row: Row, *, finish_reason: object = None, policy_model: str | None = None
) -> Candidate:
    """The candidate of a row."""
    return Candidate(
        text=row.text,
        messages=row.turns,
        policy_model=policy_model,
        finish_reason=finish_reason[:64] if isinstance(finish_reason, str) else None,
    )


def policy_of(settings: Settings, told: object) -> str | None:
    """The model that a trainer names as its policy, where no setting says who wrote the text."""
    if settings.family or settings.policy_model is not None:
        return None
    is_name = isinstance(told, str) and 0 < len(told) <= MAX_POLICY_MODEL and told.isprintable()
    return told if isinstance(told, str) and is_name else None


def assess_of(row: Row, *, finish_reason: object = None, policy_model: str | None = None) -> Assess:
    """The assessment of a row."""
    return Assess(
        prompt=row.prompt or "",
        candidate=candidate_of(row, finish_reason=finish_reason, policy_model=policy_model),
        reference=row.reference,
    )


def shares_of(result: Outcome, size: int) -> list[float | Failure]:
    """The rewards of a group of ``size`` that was ranked, or assessed where it is of one, in order;
    where it failed, the failure for each.
    """
    if isinstance(result, Ranked):
        return list(result.rewards)
    if isinstance(result, Assessed):
        return [result.reward]
    if isinstance(result, Failed):
        return [result.error] * size
    raise TypeError("neither a ranking nor an assessment")


def metrics_of(result: object) -> dict[str, float]:
    """The numbers beside a reward, and the placeholders beside a failure: the same names."""
    if isinstance(result, (Assessed, Joined)):
        return numbers(result, result.reward)
    return dict(PLACEHOLDERS)
