"""Two services in this process whose Redis stops answering for longer than anybody insists."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.cohort.members import client, join
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
@pytest.mark.parametrize("named", [False, True], ids=["only their text", "names"])
def test_members_find_each_other_when_the_store_is_back(
    two: list[RunningService],
    redis: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
    killed: bool,
    named: bool,
) -> None:
    """Each waits by itself for a while and then looks for the other one again."""
    monkeypatch.setattr("judge_service.cohort.gatherings.ALONE_S", 1.0)
    prompt = new_prompt()

    async def post(http: httpx.AsyncClient, number: int) -> float:
        text = f"{2 + number} text"
        if named:
            answer = await join(
                http, two[number].url, number, prompt=prompt, size=2,
                candidate={"text": text, "family": "x"},
            )  # fmt: skip
            return float(answer["reward"])
        url = two[number].url + openrlhf_url(query="group=2&budget_s=60")
        found = await http.post(url, json=queries([text], prompt=prompt))
        return float(found.json()["rewards"][0])

    async def run() -> list[float]:
        async with client() as http:
            first = asyncio.create_task(post(http, 0))
            await asyncio.wait({first}, timeout=0.5)
            if killed:
                await asyncio.to_thread(redis.kill)
            else:
                redis.freeze()
            second = asyncio.create_task(post(http, 1))
            done, _ = await asyncio.wait({first, second}, timeout=4.0)
            assert not done
            if killed:
                await asyncio.to_thread(redis.start)
            else:
                redis.thaw()
            return list(await asyncio.gather(first, second))

    assert asyncio.run(run()) == [0.25, 0.5]
