"""The app behind a server as it comes, not behind the service's own door."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from judge_service.api.disconnect import Disconnected, while_connected
from judge_service.settings import Settings
from tests.harness import Judges, RunningService, serve, write_rubric
from tests.provider import FakeProvider, faults

HEAD = "POST /v1/assess HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
BODY = json.dumps(
    {"rubric": "quality", "prompt": "Why?", "candidate": {"text": "So.", "family": "nobody"}}
)


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """Every text is worth 4 points of 5."""
    with FakeProvider() as fake:
        fake.oracle(lambda _: 4)
        yield fake


@pytest.fixture
def service(provider: FakeProvider, tmp_path: Path) -> Iterator[RunningService]:
    """Uvicorn without options."""
    write_rubric(tmp_path)
    (tmp_path / "anchors").mkdir()
    settings = Settings(
        rubrics_dir=tmp_path / "rubrics",
        anchors_dir=tmp_path / "anchors",
        judges=Judges(provider).add("alpha").write(tmp_path),
        store=tmp_path / "store.sqlite3",
    )
    with serve(settings, plain=True) as running:
        yield running


def connected(service: RunningService) -> socket.socket:
    """A connection to it."""
    url = httpx.URL(service.url)
    return socket.create_connection((str(url.host), url.port or 80), timeout=30)


def test_a_body_that_does_not_arrive(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body that is sent too slowly is given up, and so is its connection."""
    monkeypatch.setattr("judge_service.api.body.RECEIVE_S", 0.2)
    with connected(service) as connection:
        connection.sendall(f'{HEAD}100\r\n\r\n{{"rubric":'.encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))

    head, body = answer.split(b"\r\n\r\n", 1)
    assert b" 408 " in head
    assert json.loads(body)["error"]["code"] == "body_too_slow"


def test_a_caller_that_hangs_up(service: RunningService, provider: FakeProvider) -> None:
    """What was asked of a judge for it is stopped."""
    provider.behave_by_default(faults.hang())
    with connected(service) as connection:
        connection.sendall(f"{HEAD}{len(BODY)}\r\n\r\n{BODY}".encode())
        assert provider.wait_until(lambda: provider.in_flight == 1)

    assert provider.wait_until(lambda: provider.in_flight == 0)


@pytest.mark.parametrize("scope", [{}, {"extensions": None}, {"extensions": {"x": {}}}])
def test_a_server_whose_line_breaks(scope: dict[str, Any]) -> None:
    """Where a server can tell of the caller no more, nobody is there to be answered; what else it
    says of itself is no matter.
    """

    async def broken() -> dict[str, Any]:
        raise ConnectionResetError

    async def play() -> list[str]:
        request, ended = Request({"type": "http", **scope}, broken), []

        async def work() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("work")

        with pytest.raises(Disconnected):
            async with asyncio.timeout(10.0):
                await while_connected(request, work())
        return ended

    assert asyncio.run(play()) == ["work"]
