"""The id of a request: the caller's, or one that is made."""

from __future__ import annotations

import re

import pytest

from tests.harness import RunningService
from tests.http_api import GOOD


@pytest.mark.parametrize("given", ["abc", "A-1_2.3:4/5+6=", "x" * 128])
def test_a_request_id_is_returned(service: RunningService, given: str) -> None:
    """The caller's ``X-Request-ID`` comes back."""
    answer = service.http.post("/v1/assess", json=GOOD, headers={"x-request-id": given})

    assert answer.headers.get_list("x-request-id") == [given]


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, "<script>", "é".encode()])
def test_a_request_id_that_cannot_be_logged_is_replaced(
    service: RunningService, given: str | bytes
) -> None:
    """An id with spaces, controls or of any length is replaced by a new one."""
    value = given.encode() if isinstance(given, str) else given

    answer = service.http.get("/healthz", headers=[(b"x-request-id", value)])

    assert re.fullmatch(r"[0-9a-f]{32}", answer.headers["x-request-id"])


def test_request_ids_are_made(service: RunningService) -> None:
    """Without an id each request gets one of its own."""
    ids = {service.http.get("/healthz").headers["x-request-id"] for _ in range(5)}

    assert len(ids) == 5


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/v1/rubrics/nothing", 404),
        ("GET", "/v1/assess", 405),
        ("POST", "/v1/assess", 415),
        ("HEAD", "/nowhere", 404),
    ],
)
def test_errors_have_a_request_id_too(
    service: RunningService, method: str, path: str, status: int
) -> None:
    """Every answer says which request it belongs to."""
    answer = service.http.request(method, path, headers={"x-request-id": "mine"})

    assert (answer.status_code, answer.headers["x-request-id"]) == (status, "mine")
