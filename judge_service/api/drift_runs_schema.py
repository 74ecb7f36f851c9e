"""What callers send to ``/v1/drift-runs`` and what they get."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, FiniteFloat, StringConstraints

from judge_service.api.answers import Answer
from judge_service.api.schemas import Wire
from judge_service.drift.keeper import DEFAULT_TIMEOUT_S
from judge_service.drift.plan import DEFAULT_REPEAT, MAX_REPEAT
from judge_service.request import MAX_TIMEOUT_S

SideWord = Annotated[str, StringConstraints(min_length=1, max_length=200)]

DRIFT_EXAMPLE: dict[str, Any] = {
    "gold": "helpfulness",
    "baseline": "gpt",
    "candidate": "gpt-new,helpfulness",
    "repeat": 2,
}


class DriftRunBody(Wire):
    """A gold set by its name beside the anchors, or as its lines, and two sides to compare.

    A side is ``JUDGE`` or ``JUDGE,RUBRIC``.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [DRIFT_EXAMPLE]})

    gold: (
        Annotated[str, StringConstraints(min_length=1, max_length=64)]
        | Annotated[list[dict[str, Any]], Field(min_length=1, max_length=10_000)]
    )
    gold_name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")] = "gold"
    baseline: SideWord
    candidate: SideWord
    repeat: Annotated[int, Field(ge=1, le=MAX_REPEAT)] = DEFAULT_REPEAT
    top: Annotated[int, Field(ge=0, le=1000)] = 10
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    timeout_s: Annotated[float, Field(gt=0, le=MAX_TIMEOUT_S)] = DEFAULT_TIMEOUT_S
    max_cost_usd: Annotated[float, Field(ge=0)] | None = None


class DriftProgress(Answer):
    """How far a run is; what it costs is null where a price is not known."""

    judgements: int
    done: int
    failed: int
    upstream_requests: int
    cost_usd: FiniteFloat | None
    cost_expected_usd: FiniteFloat | None
    seconds_left: FiniteFloat | None


class DriftSummary(Answer):
    """A run without its report. ``drift`` is null until there is one, and where there is not
    enough evidence.
    """

    id: str
    status: Literal["running", "finished", "failed", "interrupted"]
    gold: str
    baseline: str
    candidate: str
    created: str
    finished: str | None
    progress: DriftProgress | dict[str, Any]
    drift: bool | None
    reasons: list[str]
    error: str | None


class DriftRunAnswer(DriftSummary):
    """A run with its report, the JSON that ``judge-service drift --format json`` writes."""

    report: dict[str, Any] | None


class DriftListAnswer(Answer):
    """All runs, the latest first."""

    runs: list[DriftSummary]
