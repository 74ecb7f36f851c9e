"""Many long bodies at once: a process holds so much of them and no more."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx
import pytest

from judge_service.api.body_room import BodyRoom
from tests.harness import RunningService, new_prompt
from tests.http_bodies import GOOD, JSON, MIB, small_service
from tests.provider import FakeProvider, behaviours

Running = tuple[RunningService, FakeProvider]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A small service and its provider, with room for one body of two MiB, not for two."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("judge_service.api.app.BodyRoom", partial(BodyRoom, 3 * MIB))
        with small_service(tmp_path_factory.mktemp("service")) as made:
            yield made


def posted(service: RunningService, mib: int) -> httpx.Response:
    """Post a good body that is somewhat longer than so many MiB."""
    more: dict[str, Any] = {"prompt": new_prompt(), "metadata": {"padding": "x" * (mib * MIB)}}
    return service.http.post("/v1/assess", content=json.dumps({**GOOD, **more}), headers=JSON)


def test_one_after_the_other(running: Running) -> None:
    """A body's room is free again when its request is over, however that ended."""
    service, _ = running

    assert [posted(service, 2).status_code for _ in range(4)] == [200] * 4
    assert [posted(service, 4).status_code for _ in range(2)] == [413] * 2
    assert posted(service, 2).status_code == 200


def test_more_than_there_is_room_for(running: Running) -> None:
    """Who finds no room is told to come again before any judge is asked; short bodies pass."""
    service, provider = running
    provider.reset()
    gate = threading.Event()
    provider.behave_by_default(behaviours.held(behaviours.fixed(4), gate))
    with ThreadPoolExecutor() as pool:
        first = pool.submit(posted, service, 2)
        assert provider.wait_until(lambda: len(provider.requests) == 1)
        second = posted(service, 2)
        asked = len(provider.requests)
        short = pool.submit(posted, service, 0)
        gate.set()

        assert (second.status_code, second.json()["error"]["code"]) == (503, "overloaded")
        assert int(second.headers["retry-after"]) >= 1
        assert asked == 1
        assert (first.result().status_code, short.result().status_code) == (200, 200)
    assert posted(service, 2).status_code == 200
