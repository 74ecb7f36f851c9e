"""The access log: one line a request, no texts."""

from __future__ import annotations

import logging
import socket

import httpx
import pytest

from tests.harness import RunningService
from tests.http_api import GOOD, KEY
from tests.polling import until


def access_lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The access log's lines."""
    return [r.getMessage() for r in caplog.records if r.name == "judge_service.access"]


def test_the_access_log_has_one_line_a_request(
    service: RunningService, caplog: pytest.LogCaptureFixture
) -> None:
    """Line breaks and terminal controls in a path are escaped, and a query is left out."""
    caplog.set_level(logging.INFO, "judge_service.access")

    service.http.get("/v1/rubrics/x%0d%0aFORGED%1b[31m%c2%85?token=secret-token")

    (line,) = access_lines(caplog)
    assert line.startswith("GET /v1/rubrics/x\\r\\nFORGED\\x1b[31m\\x85 404 ")
    assert line.isprintable()
    assert "secret-token" not in caplog.text


def test_texts_are_not_logged(service: RunningService, caplog: pytest.LogCaptureFixture) -> None:
    """Neither the candidate nor the judge's key is in any log."""
    caplog.set_level(logging.DEBUG, "judge_service")

    service.post("/v1/assess", {**GOOD, "candidate": {"text": "canary-text", "family": "own"}})

    assert access_lines(caplog)
    assert "canary-text" not in caplog.text
    assert KEY not in caplog.text


def test_a_caller_who_leaves_is_no_error(
    service: RunningService, caplog: pytest.LogCaptureFixture
) -> None:
    """A connection that ends inside its body is noted, not reported as a fault of the service."""
    caplog.set_level(logging.INFO, "judge_service.access")
    url = httpx.URL(service.url)

    with socket.create_connection((url.host, url.port or 80), timeout=60) as connection:
        connection.sendall(
            b"POST /v1/assess HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b'Content-Length: 100\r\n\r\n{"rubric":'
        )
        service.http.get("/healthz")  # by then the server has read what was sent
    until(
        lambda: any(line.startswith("POST /v1/assess 499 ") for line in access_lines(caplog)),
        "the access log does not tell of it",
    )
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR]
