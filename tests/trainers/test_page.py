"""The trainers' addresses on the OpenAPI page."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from tests.harness import RunningService
from tests.http_api import strict_json

PATHS = [
    "/adapters/openrlhf/{rubric}/get_reward",
    "/adapters/slime/{rubric}",
    "/adapters/nemo-gym/{rubric}/verify",
]


@pytest.mark.parametrize("path", PATHS)
def test_examples_work_as_they_are(service: RunningService, path: str) -> None:
    """What is shown can be pasted, and the answer has the names that are shown."""
    operation = service.http.get("/openapi.json").json()["paths"][path]["post"]
    content = operation["requestBody"]["content"]["application/json"]
    jsonschema.Draft202012Validator(content["schema"]).validate(content["example"])
    answer = service.http.post(path.replace("{rubric}", "quality"), json=content["example"])
    shown: dict[str, Any] = operation["responses"]["200"]["content"]["application/json"]["example"]

    assert answer.status_code == 200
    assert shown.keys() <= strict_json(answer).keys()


@pytest.mark.parametrize("path", PATHS)
def test_the_query_is_described(service: RunningService, path: str) -> None:
    """Every parameter of the address stands on the page, once."""
    operation = service.http.get("/openapi.json").json()["paths"][path]["post"]
    names = [one["name"] for one in operation["parameters"] if one["in"] == "query"]
    expected = {
        "token", "on_fail", "filtering", "budget_s", "group", "family", "policy_model", "purpose",
    }  # fmt: skip

    assert len(names) == len(set(names))
    assert set(names) - {"answer"} == expected
