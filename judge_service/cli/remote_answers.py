"""What commands read of a running service's answers: another version may answer otherwise."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError

from judge_service.api.answers import AssessAnswer, CompareAnswer, RankAnswer
from judge_service.cli.requests import Kind

OUTCOMES: dict[Kind, type[BaseModel]] = {
    "assess": AssessAnswer,
    "compare": CompareAnswer,
    "rank": RankAnswer,
}
_NEWER = frozenset({"extra_forbidden", "literal_error"})
"""Faults of an answer that says more than is known here: a field, or a word of a closed set."""


def fits(data: object, shape: Any) -> bool:
    """Whether an answer has what is read of it, in the types that it is read in."""
    try:
        TypeAdapter(shape).validate_python(data)
    except ValidationError as error:
        return all(fault["type"] in _NEWER for fault in error.errors(include_input=False))
    return True


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class JudgeShape(_Shape):
    """A judge as ``judges`` and ``probe`` read it."""

    id: str
    model: str
    family: str
    purpose: str
    limits: dict[str, FiniteFloat | None] | None = None


class JudgesShape(_Shape):
    """``GET /v1/judges``."""

    judges: list[JudgeShape]


class RubricShape(_Shape):
    """A rubric, as one is chosen to ask a control question with."""

    id: str
    kind: str
    reference: str
    judged: str
    criteria: list[Any]


class RubricsShape(_Shape):
    """``GET /v1/rubrics``."""

    rubrics: list[RubricShape]


class PointShape(_Shape):
    """A point and its meaning."""

    point: int
    means: str


class ScaledShape(_Shape):
    """A criterion and its scale."""

    name: str
    scale: list[PointShape] | None


class RubricContentShape(_Shape):
    """``GET /v1/rubrics/{id}``, as outcomes are explained with it."""

    id: str
    version: str
    criteria: list[ScaledShape] = []


class AlarmShape(_Shape):
    """An alarm as ``watch`` shows it."""

    since: str
    judge: str | None
    rubric: str | None
    statistic: str
    cause: str | None
    chart: str
    baseline: FiniteFloat | str
    current: FiniteFloat | str
    effect: FiniteFloat | None
    effect_name: str | None
    value: FiniteFloat | None
    threshold: FiniteFloat | None
    run_length: FiniteFloat | None


class ChartShape(_Shape):
    """A chart: whether it is learning still."""

    judge: str | None
    rubric: str | None
    baseline: dict[str, Any] | None
    learnt: int
    to_learn: int = Field(gt=0)


class WatchShape(_Shape):
    """``watch`` of ``GET /v1/judges``."""

    alarms: list[AlarmShape]
    charts: list[ChartShape]
    note: str | None


class ResetShape(_Shape):
    """``POST /v1/watch/reset``."""

    alarms: int
    note: str | None
