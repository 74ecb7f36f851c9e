"""Two services in this process whose Redis stops answering for longer than anybody insists."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from judge_service.asking.backend import ChatCall, ChatReply
from judge_service.cohort.wire import join_wire
from tests.cohort.members import client, join
from tests.cohort.support import CountingStore, PlainJudge, cohorts, joined, request
from tests.harness import Judges, RunningService, judged_by, new_prompt, write_rubric
from tests.provider import FakeProvider, behaviours
from tests.redis_server import RedisServer
from tests.trainers.support import openrlhf_url, queries


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A real Redis."""
    (tmp_path / "redis").mkdir()
    with RedisServer(tmp_path / "redis") as server:
        yield server


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """The judge: a text's score is the digit it begins with."""
    with FakeProvider() as provider:
        provider.oracle(lambda text: int(text[0]))
        yield provider


@pytest.fixture
def two(
    tmp_path: Path, redis: RedisServer, provider: FakeProvider
) -> Iterator[list[RunningService]]:
    """Two services that know of each other through Redis only."""
    write_rubric(tmp_path)
    with ExitStack() as stack:
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


@pytest.mark.parametrize("noticed", [True, False], ids=["by both", "by one"])
def test_a_store_that_is_emptied_while_the_group_is_judged(
    two: list[RunningService],
    redis: RedisServer,
    provider: FakeProvider,
    monkeypatch: pytest.MonkeyPatch,
    noticed: bool,
) -> None:
    """One service judges. What both have brought is gone, whether or not the other one has noticed
    that the group is complete; yet each member has its reward, and soon.
    """
    monkeypatch.setattr("judge_service.cohort.gatherings.ALONE_S", 1.0)
    gate = threading.Event()
    provider.behave("main", behaviours.held(behaviours.honest(), gate))
    prompt = new_prompt()

    def judging() -> bool:
        return len(provider.requests) == 2

    async def run() -> list[float]:
        async with client() as http:
            members = [
                asyncio.create_task(
                    join(
                        http, two[n].url, n, prompt=prompt, size=2,
                        candidate={"text": f"{2 + n} text", "family": "x"},
                    )
                )
                for n in range(2)
            ]  # fmt: skip
            assert await asyncio.to_thread(provider.wait_until, judging)
            if noticed:
                await asyncio.wait(members, timeout=1.2)
            await asyncio.to_thread(redis.kill)
            await asyncio.to_thread(redis.start)
            await asyncio.wait(members, timeout=1.0)
            gate.set()
            async with asyncio.timeout(25.0):
                return [float(one["reward"]) for one in await asyncio.gather(*members)]

    assert asyncio.run(run()) == [0.25, 0.5]
    assert len(provider.requests) == 2


def test_an_outcome_is_not_told_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is emptied while a group is judged, and another group of the same name begins: its
    members have the rewards of their own texts, though the first one's outcome is posted meanwhile.
    """
    store, asked, going = CountingStore(), asyncio.Semaphore(0), asyncio.Event()
    first, second = cohorts(tmp_path, store), cohorts(tmp_path, store)
    honest = PlainJudge.complete

    async def complete(self: PlainJudge, call: ChatCall) -> ChatReply:
        if "old" in call.user:
            asked.release()
            await going.wait()
        return await honest(self, call)

    monkeypatch.setattr(PlainJudge, "complete", complete)

    async def run() -> list[float | None]:
        judged = [
            asyncio.create_task(joined(first, request(f"{2 + n} old", n, size=2))) for n in range(2)
        ]
        for _ in judged:
            await asked.acquire()
        store.empty()
        fresh = [asyncio.create_task(joined(second, request("5 new", 0, size=2)))]
        await asyncio.wait(fresh, timeout=0.1)
        going.set()
        await asyncio.gather(*judged)
        fresh.append(asyncio.create_task(joined(second, request("4 new", 1, size=2))))
        found = [await one for one in judged + fresh]
        return [join_wire(one)["reward"] for one in found]

    assert asyncio.run(run()) == [0.25, 0.5, 1.0, 0.75]
