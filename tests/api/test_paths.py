"""Paths and methods."""

from __future__ import annotations

import pytest

from judge_service.api.answers import ProblemAnswer
from tests.harness import RunningService


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/nowhere"),
        ("POST", "/v1/nothing"),
        ("GET", "/v1/assess/"),
        ("POST", "/v1/assess/"),
        ("GET", "/v1/rubrics/"),
        ("GET", "//evil.example/v1/rubrics/"),
        ("GET", "/v1//rubrics"),
        ("GET", "/.env"),
        ("GET", "/redoc"),
    ],
)
def test_unknown_paths(service: RunningService, method: str, path: str) -> None:
    """An unknown path is 404 as a problem; nothing redirects to whatever Host was sent."""
    answer = service.http.request(method, service.url + path, headers={"host": "evil.example"})

    assert answer.status_code == 404
    assert ProblemAnswer.model_validate(answer.json()).error.code == "not_found"
    assert "evil.example" not in str(answer.headers) + answer.text


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/assess", "POST"),
        ("PUT", "/v1/compare", "POST"),
        ("OPTIONS", "/v1/assess", "POST"),
        ("DELETE", "/v1/rubrics", "GET"),
        ("POST", "/healthz", "GET"),
        ("TRACE", "/healthz", "GET"),
    ],
)
def test_other_methods(service: RunningService, method: str, path: str, allowed: str) -> None:
    """Another method is 405 as a problem, and the right one is named."""
    answer = service.http.request(method, path)

    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert ProblemAnswer.model_validate(answer.json()).error.code == "method_not_allowed"


def test_head(service: RunningService) -> None:
    """A HEAD request is answered without a body."""
    assert service.http.head("/healthz").content == b""


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("OPTIONS", "/v1/rubrics/quick-look", {"GET", "PUT"}),
        ("DELETE", "/v1/assess", {"POST"}),
        ("POST", "/healthz", {"GET"}),
    ],
)
def test_a_wrong_method_names_all_right_ones(
    service: RunningService, method: str, path: str, allowed: set[str]
) -> None:
    """405 says in ``Allow`` what the path takes, all routes of it together."""
    answer = service.http.request(method, path)

    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == allowed
