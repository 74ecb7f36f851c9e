"""The trainers' routes on the OpenAPI page; they read queries and bodies by themselves."""

from __future__ import annotations

from typing import Any

from judge_service.api.judging import PROBLEMS
from judge_service.api.trainers.query import Trainer, parameters

_RETRY = {"Retry-After": {"description": "Seconds to wait", "schema": {"type": "integer"}}}


def documented(trainer: Trainer, example: dict[str, Any]) -> dict[str, Any]:
    """Query and body."""
    schema = {"type": "object", "additionalProperties": True}
    content = {"schema": schema, "example": example}
    return {
        "requestBody": {"required": True, "content": {"application/json": content}},
        "parameters": parameters(trainer),
    }


def responses(example: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    """What a trainer is answered."""
    problems = {status: told for status, told in PROBLEMS.items() if status not in (409, 503)}
    return {
        200: {"description": "Judged", "content": {"application/json": {"example": example}}},
        **problems,
        503: {**PROBLEMS[503], "description": "Not judged in time", "headers": _RETRY},
    }
