"""The OpenAPI page: what the framework makes of the routes, and the schemas that these only name.

Routes read their bodies by themselves, and the service makes what they answer, so neither needs a
model of the framework's. A route names the model that the page shows; those of answers are loaded
when the page is asked for, for they are many and serve nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

_SCHEMAS = "#/components/schemas/"


def shown(model: str, description: str | None = None, **more: Any) -> dict[str, Any]:
    """A response of a route: JSON in the form of the model with this name. ``more`` is said of it,
    too.
    """
    told = {} if description is None else {"description": description}
    content = {"application/json": {"schema": {"$ref": f"{_SCHEMAS}{model}"}}}
    return {**told, "content": content, **more}


def taken(model: str, example: Any) -> dict[str, Any]:
    """The body of a route: JSON in the form of the model with this name."""
    content = {"schema": {"$ref": f"{_SCHEMAS}{model}"}, "example": example}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def complete(app: FastAPI, add_routes: Callable[[], None]) -> None:
    """Let the page of ``app`` have all routes (``add_routes`` adds what is not there yet), the
    models that they name, and the callers' keys.
    """
    original = app.openapi

    def openapi() -> dict[str, Any]:
        add_routes()
        known = app.openapi_schema
        schema = original()
        if known is None:
            components = schema.setdefault("components", {})
            # Needed only where the service has a keys file.
            components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            schema["security"] = [{}, {"key": []}]
            components.setdefault("schemas", {}).update(_schemas())
        return schema

    # Replacing the method is the way FastAPI documents for extending the schema.
    app.openapi = openapi  # type: ignore[method-assign]


def _schemas() -> dict[str, Any]:
    """The schemas of all bodies and answers, and of their parts, by name."""
    from judge_service.api import (
        answers,
        bulk_schema,
        drift_runs_answers,
        drift_runs_schema,
        looking_answers,
        rubric_upload,
        schemas,
        watching,
        watching_answers,
    )
    from judge_service.bias.report import BiasReport

    bodies = (
        schemas.AssessBody, schemas.CompareBody, schemas.RankBody, schemas.JoinBody,
        bulk_schema.BulkBody, drift_runs_schema.DriftRunBody, rubric_upload.RubricBody,
        watching.ResetBody,
    )  # fmt: skip
    answered = (
        answers.AssessAnswer, answers.CompareAnswer, answers.RankAnswer, answers.JoinAnswer,
        answers.BulkAnswer, answers.RubricPutAnswer, answers.ProblemAnswer,
        looking_answers.JudgesAnswer, looking_answers.HealthAnswer, looking_answers.ReadyAnswer,
        watching_answers.ResetAnswer, drift_runs_answers.DriftRunAnswer,
        drift_runs_answers.DriftListAnswer, BiasReport,
    )  # fmt: skip
    return _of(bodies, "validation") | _of(answered, "serialization")


def _of(models: Iterable[type[BaseModel]], mode: JsonSchemaMode) -> dict[str, Any]:
    _, whole = models_json_schema(
        [(model, mode) for model in models], ref_template=f"{_SCHEMAS}{{model}}"
    )
    found: dict[str, Any] = whole["$defs"]
    return found
