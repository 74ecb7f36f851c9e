"""Two services in this process whose Redis stops answering for longer than anybody insists."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.cohort.members import client
from tests.harness import Judges, RunningService, judged_by, new_prompt, write_rubric
from tests.provider import FakeProvider
from tests.redis_server import RedisServer
from tests.trainers.support import openrlhf_url, queries


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A real Redis."""
    (tmp_path / "redis").mkdir()
    with RedisServer(tmp_path / "redis") as server:
        yield server


@pytest.fixture
def two(tmp_path: Path, redis: RedisServer) -> Iterator[list[RunningService]]:
    """Two services that know of each other through Redis only."""
    write_rubric(tmp_path)
    with FakeProvider() as provider, ExitStack() as stack:
        provider.oracle(lambda text: int(text[0]))
        judges = Judges(provider).add("main", "alpha")
        yield [
            stack.enter_context(
                judged_by(judges, tmp_path, redis_url=redis.url, secret="a secret for tests")
            )
            for _ in range(2)
        ]


@pytest.mark.parametrize("killed", [False, True], ids=["frozen", "killed and empty"])
def test_held_members_find_each_other_when_the_store_is_back(
    two: list[RunningService], redis: RedisServer, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    """Each waits by itself for a while and then looks for the others again."""
    monkeypatch.setattr("judge_service.cohort.gatherings.ALONE_S", 1.0)
    prompt = new_prompt()
    url = openrlhf_url(query="group=2&budget_s=60")

    async def post(http: httpx.AsyncClient, number: int) -> asyncio.Task[httpx.Response]:
        body = queries([f"{2 + number} text"], prompt=prompt)
        return asyncio.create_task(http.post(two[number].url + url, json=body))

    async def run() -> list[float]:
        async with client() as http:
            first = await post(http, 0)
            await asyncio.wait({first}, timeout=0.5)
            if killed:
                await asyncio.to_thread(redis.kill)
            else:
                redis.freeze()
            second = await post(http, 1)
            done, _ = await asyncio.wait({first, second}, timeout=4.0)
            assert not done
            if killed:
                await asyncio.to_thread(redis.start)
            else:
                redis.thaw()
            answers = await asyncio.gather(first, second)
            return [answer.json()["rewards"][0] for answer in answers]

    assert asyncio.run(run()) == [0.25, 0.5]
