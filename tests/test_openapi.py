"""The OpenAPI description: whole, true, and with examples that work as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from tests.harness import RunningService
from tests.http_api import ANSWERS, GOOD, PAIR, shipped_service, strict_json


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service with the shipped rubrics."""
    with shipped_service(tmp_path_factory.mktemp("service")) as (running, _):
        yield running


@pytest.fixture(scope="module")
def openapi(service: RunningService) -> dict[str, Any]:
    """The published description."""
    data: dict[str, Any] = service.http.get("/openapi.json").json()
    return data


def refs(node: object) -> Iterator[str]:
    """Every reference in a description."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for child in node.values():
            yield from refs(child)
    elif isinstance(node, list):
        for child in node:
            yield from refs(child)


def validate(data: object, schema: dict[str, Any], openapi: dict[str, Any]) -> None:
    """Check data against a schema of the description."""
    whole = {**schema, "components": openapi["components"]}
    jsonschema.Draft202012Validator(whole).validate(data)


def test_the_description_is_whole(openapi: dict[str, Any]) -> None:
    """Every reference leads somewhere, and no framework's own error form is promised."""
    schemas = openapi["components"]["schemas"]

    assert {ref.removeprefix("#/components/schemas/") for ref in refs(openapi)} <= schemas.keys()
    assert "HTTPValidationError" not in schemas
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_interactive_documentation(service: RunningService) -> None:
    """There is a page to try things out."""
    assert "swagger" in service.http.get("/docs").text


def examples(openapi: dict[str, Any]) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Path, example and operation of everything that can be posted in the service's own form."""
    return [
        (path, operation["requestBody"]["content"]["application/json"]["example"], operation)
        for path, operations in openapi["paths"].items()
        for method, operation in operations.items()
        # What is only begun (202) has tests of its own.
        if method == "post" and path.startswith("/v1/") and "200" in operation["responses"]
    ]


def test_every_example_works_as_it_is(service: RunningService, openapi: dict[str, Any]) -> None:
    """What is shown can be pasted: it fits its schema, is judged, and the answer fits, too."""
    shown = examples(openapi)

    assert {path for path, _, _ in shown} == {
        "/v1/assess", "/v1/compare", "/v1/rank", "/v1/groups/join", "/v1/bulk",
    }  # fmt: skip
    for path, example, operation in shown:
        body = operation["requestBody"]["content"]["application/json"]
        validate(example, body["schema"], openapi)
        if path == "/v1/groups/join":
            example = {**example, "size": 1}  # or it would wait for the others
        answer = service.http.post(path, json=example)
        outcomes = answer.json().get("results", [answer.json()])
        assert [one["status"] for one in outcomes] == ["success"] * len(outcomes)
        ok = operation["responses"]["200"]["content"]["application/json"]["schema"]
        validate(strict_json(answer), ok, openapi)
        ANSWERS[path].model_validate(strict_json(answer))


@pytest.mark.parametrize("path", ["/v1/assess", "/v1/compare"])
def test_problems_fit_the_description(
    service: RunningService, openapi: dict[str, Any], path: str
) -> None:
    """A refused request is answered in the documented form."""
    operation = openapi["paths"][path]["post"]
    bodies: list[tuple[int, Any]] = [(422, {}), (404, {**GOOD, "rubric": "nothing"})]
    if path == "/v1/compare":
        bodies[1] = (404, {**PAIR, "rubric": "nothing"})

    for status, body in bodies:
        answer = service.http.post(path, json=body)
        assert answer.status_code == status
        schema = operation["responses"][str(status)]["content"]["application/json"]["schema"]
        validate(strict_json(answer), schema, openapi)


def test_the_published_schema_knows_both_forms(openapi: dict[str, Any]) -> None:
    """A prompt is a text or messages, a family a word or a list, content also null."""
    body = {"$ref": "#/components/schemas/AssessBody"}
    message = {"role": "user", "content": [{"type": "text", "text": "x"}]}

    validate({**GOOD, "prompt": [message, {"role": "user", "content": None}]}, body, openapi)
    validate({**GOOD, "candidate": {"messages": [message], "family": ["a", "b"]}}, body, openapi)
    with pytest.raises(jsonschema.ValidationError):
        validate({**GOOD, "api_base": "http://127.0.0.1"}, body, openapi)
    with pytest.raises(jsonschema.ValidationError):
        validate({**GOOD, "prompt": 5}, body, openapi)


def test_keys_are_described(openapi: dict[str, Any]) -> None:
    """The description says that a key goes into ``Authorization: Bearer``."""
    (scheme,) = openapi["components"]["securitySchemes"].values()

    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
