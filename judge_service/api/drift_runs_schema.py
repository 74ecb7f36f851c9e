"""What callers send to ``/v1/drift-runs``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, StringConstraints, Tag

from judge_service.candidate.message_schema import MANY, ONE, Wire, one_of, text_or_list
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

    gold: Annotated[
        Annotated[str, StringConstraints(min_length=1, max_length=64), Tag(ONE)]
        | Annotated[list[dict[str, Any]], Field(min_length=1, max_length=10_000), Tag(MANY)],
        one_of("the name of a gold set or a list of its lines", text_or_list),
    ]
    gold_name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")] = "gold"
    baseline: SideWord
    candidate: SideWord
    repeat: Annotated[int, Field(ge=1, le=MAX_REPEAT)] = DEFAULT_REPEAT
    top: Annotated[int, Field(ge=0, le=1000)] = 10
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    timeout_s: Annotated[float, Field(gt=0, le=MAX_TIMEOUT_S)] = DEFAULT_TIMEOUT_S
    max_cost_usd: Annotated[float, Field(ge=0)] | None = None
