"""Routes that no start waits for: there when they are asked for, and what a failure to make them
comes to.
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from fastapi import APIRouter

from judge_service import api
from judge_service.api import bias
from tests.http_api import shipped_service
from tests.polling import until

WAITING = 40
"""More requests than the loop has threads, on any machine."""
MADE_OF = "/v1/rubrics"


class Module(SimpleNamespace):
    """One of their modules, which first does ``before`` when its router is wanted."""

    before: Callable[[], None]

    @property
    def router(self) -> APIRouter:
        """The real one."""
        self.before()
        return bias.router


def test_what_could_not_be_made_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A failure is told to who asks, logged where nobody asked, and over when its cause is."""

    def broken() -> None:
        raise ImportError("half of an installation")

    monkeypatch.setattr(api, "bias", Module(before=broken))
    with shipped_service(tmp_path) as (service, _):
        until(
            lambda: [r for r in caplog.records if "no start waits for" in r.getMessage()],
            "nobody is told that they are not there",
        )
        answers = [
            service.http.get(MADE_OF),
            service.http.get("/openapi.json"),
            service.http.get("/v1/assess"),  # the page is needed to tell which methods there are
        ]
        assert {answer.status_code for answer in answers} == {500}
        assert service.http.get("/healthz").status_code == 200

        monkeypatch.undo()

        assert service.http.get(MADE_OF).status_code == 200
        assert MADE_OF in service.http.get("/openapi.json").json()["paths"]
        assert service.http.get("/v1/assess").status_code == 405
    (told,) = [r for r in caplog.records if "no start waits for" in r.getMessage()]
    assert told.levelno == logging.ERROR
    assert "half of an installation" in caplog.text


@pytest.mark.parametrize(("error", "status"), [(None, b"200"), (ImportError("half"), b"500")])
def test_who_waits_for_them_takes_no_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: ImportError | None, status: bytes
) -> None:
    """While many requests wait, what needs a thread is done; then all of them are told."""
    asked, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        asked.set()
        go_on.wait(60)
        if error is not None:
            raise error

    monkeypatch.setattr(api, "bias", Module(before=slow))
    with shipped_service(tmp_path) as (service, _), ExitStack() as stack:
        stack.callback(go_on.set)
        url = httpx.URL(service.url)
        waiting = [
            stack.enter_context(socket.create_connection((url.host, url.port or 80), timeout=60))
            for _ in range(WAITING)
        ]
        for connection in waiting:
            connection.sendall(
                f"GET {MADE_OF} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
            )
        assert asked.wait(60)
        service.http.get("/healthz")  # by then the server has read what was sent

        assert service.http.get("/metrics").status_code == 200
        assert not go_on.is_set()
        go_on.set()

        answers = [connection.makefile("rb").readline() for connection in waiting]
        assert {answer.split()[1] for answer in answers} == {status}
        monkeypatch.undo()
        assert service.http.get(MADE_OF).status_code == 200
