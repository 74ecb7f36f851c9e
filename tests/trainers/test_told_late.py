"""Rollouts with numbers that are posted anew at once, while a store is slow to take what became of
those who had the same number before.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from judge_service.adapters.redis_store import RedisStore
from tests.harness import Judges, RunningService, judged_by, new_prompt, write_rubric
from tests.provider import FakeProvider
from tests.redis_server import RedisServer
from tests.trainers.support import checked, openrlhf_url, queries, rollout
from tests.trainers.test_coming_back import NEMO, arrived, hang_up, held, sure
from tests.waiting import Seats

FEW, ALWAYS = 10, 1_000_000
"""How often a mark is refused."""
LONG_S = 30.0
"""An answer waits for the store as long as a test does."""


@dataclass(slots=True)
class Marks:
    """What became of a member is refused by Redis ``refuse`` times, ``refused`` so far, and then
    ``taken``; only where it is ``kind``, if that is said.
    """

    refuse: int = 0
    kind: bytes = b""
    refused: Counter[str] = field(default_factory=Counter)
    taken: set[str] = field(default_factory=set)

    def refuses(self, key: str, value: bytes) -> bool:
        """Whether it is refused once more."""
        refuses = ":mark:" in key and self.kind in value and self.refused[key] < self.refuse
        if refuses:
            self.refused[key] += 1
        return refuses

    def took(self, key: str, done: bool) -> None:
        """Redis was asked for it."""
        if done and ":mark:" in key:
            self.taken.add(key)


@pytest.fixture
def marks(provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> Iterator[Marks]:
    """Of all services of this process, which ask again and again."""
    monkeypatch.setattr("judge_service.cohort.insist.PAUSES_S", (0.02,) * 1_000)
    noted, put, put_new = Marks(), RedisStore.put, RedisStore.put_new

    async def marked(store: RedisStore, key: str, value: bytes, ttl_s: float) -> bool:
        if noted.refuses(key, value):
            return False
        done = await put(store, key, value, ttl_s)
        noted.took(key, done)
        return done

    async def marked_new(store: RedisStore, key: str, value: bytes, ttl_s: float) -> bool | None:
        if noted.refuses(key, value):
            return None
        done = await put_new(store, key, value, ttl_s)
        noted.took(key, done is not None)
        return done

    monkeypatch.setattr(RedisStore, "put", marked)
    monkeypatch.setattr(RedisStore, "put_new", marked_new)
    yield noted
    noted.refuse = 0
    assert provider.wait_until(lambda: noted.taken >= noted.refused.keys())


@pytest.fixture(scope="module")
def two(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[RunningService]]:
    """Two services that know of each other through Redis only."""
    folder: Path = tmp_path_factory.mktemp("late")
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    judges = Judges(provider).add("main", "alpha")
    with ExitStack() as stack:
        redis = stack.enter_context(RedisServer(folder))
        more: dict[str, Any] = {"redis_url": redis.url, "secret": "a secret for tests"}
        yield [stack.enter_context(judged_by(judges, folder, **more)) for _ in range(2)]


@pytest.fixture
def lost(marks: Marks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks are refused until nobody insists any more."""
    monkeypatch.setattr("judge_service.cohort.insist.PAUSES_S", (0.02,) * 4)
    marks.refuse = 12


def post(
    http: httpx.AsyncClient, service: RunningService, number: int, text: str, prompt: str
) -> asyncio.Task[httpx.Response]:
    """A numbered rollout is posted."""
    body = rollout(text, prompt, _ng_task_index=1, _ng_rollout_index=number)
    return asyncio.create_task(http.post(service.url + NEMO, json=body))


async def rewards(posts: Sequence[asyncio.Task[httpx.Response]]) -> list[float]:
    """What became of them."""
    return [checked(answer)["reward"] for answer in await asyncio.gather(*posts)]


def client() -> httpx.AsyncClient:
    """A client with connections of its own."""
    return httpx.AsyncClient(trust_env=False, timeout=60.0)


def test_a_number_posted_anew_elsewhere_is_a_new_rollout(
    two: list[RunningService], marks: Marks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next step's rollouts come to the other service, one of them with the same text: they are
    a group of their own, however long the store took.
    """
    monkeypatch.setattr("judge_service.cohort.cohorts.NOTE_S", LONG_S)
    marks.refuse = FEW
    prompt = new_prompt()

    async def run() -> list[float]:
        async with client() as http:
            old = [post(http, two[0], n, text, prompt) for n, text in enumerate(["4 a", "2 b"])]
            found = await rewards(old)
            new = [post(http, two[1], n, text, prompt) for n, text in enumerate(["4 a", "5 c"])]
            return found + await rewards(new)

    assert asyncio.run(run()) == [1.0, 0.0, 0.0, 1.0]
    assert set(marks.refused.values()) == {FEW}


def test_a_store_that_takes_nothing_holds_nobody_up(
    two: list[RunningService], marks: Marks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers go all the same, and the service that gave them knows by itself who is done."""
    monkeypatch.setattr("judge_service.cohort.cohorts.NOTE_S", 0.1)
    marks.refuse = ALWAYS
    prompt = new_prompt()

    async def run() -> list[float]:
        async with client() as http:
            old = [post(http, two[0], n, text, prompt) for n, text in enumerate(["4 a", "2 b"])]
            found = await rewards(old)
            new = [post(http, two[0], n, text, prompt) for n, text in enumerate(["4 a", "5 c"])]
            return found + await rewards(new)

    assert asyncio.run(run()) == [1.0, 0.0, 0.0, 1.0]
    assert marks.taken == set()


@pytest.mark.usefixtures("lost")
def test_a_store_that_is_back_is_told_who_was_answered(
    two: list[RunningService], provider: FakeProvider, marks: Marks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever was answered while it was lost is done everywhere then."""
    monkeypatch.setattr("judge_service.cohort.cohorts.NOTE_S", 0.1)
    prompt = new_prompt()

    async def run() -> list[float]:
        async with client() as http:
            old = [post(http, two[0], n, text, prompt) for n, text in enumerate(["4 a", "2 b"])]
            found = await rewards(old)
            await sure(provider, lambda: len(marks.taken) == 2)
            new = [post(http, two[1], n, text, prompt) for n, text in enumerate(["4 a", "5 c"])]
            return found + await rewards(new)

    assert asyncio.run(run()) == [1.0, 0.0, 0.0, 1.0]


@pytest.mark.usefixtures("lost")
def test_a_store_that_is_back_is_told_who_hung_up(
    two: list[RunningService], provider: FakeProvider, seats: Seats
) -> None:
    """Whoever hung up while it was lost is in no group."""
    prompt = new_prompt()
    url = openrlhf_url("pair", "group=2&budget_s=30")

    async def run() -> list[float]:
        async with client() as http:

            def brought(service: RunningService, text: str) -> asyncio.Task[httpx.Response]:
                body = queries([text], prompt=prompt)
                return asyncio.create_task(http.post(service.url + url, json=body))

            # The service has others to wait for, and lives.
            other = post(http, two[0], 0, "1", new_prompt())
            lost = brought(two[0], "5 old")
            await sure(provider, lambda: seats.taken == 2)
            await hang_up(lost)
            await sure(provider, lambda: seats.left == 1)
            new = [brought(two[1], text) for text in ("4 a", "2 b")]
            found = await asyncio.gather(*new)
            await hang_up(other)
            await sure(provider, lambda: seats.left == 4)
            return [checked(one)["rewards"][0] for one in found]

    assert asyncio.run(run()) == [1.0, 0.0]


@pytest.mark.parametrize("where", [0, 1], ids=["the same service", "the other one"])
def test_who_hangs_up_before_its_answer_goes_comes_back(
    two: list[RunningService],
    provider: FakeProvider,
    marks: Marks,
    monkeypatch: pytest.MonkeyPatch,
    where: int,
) -> None:
    """It was about to be told when its connection broke: posted again it has its group's answer,
    and nothing is judged anew.
    """
    monkeypatch.setattr("judge_service.cohort.cohorts.NOTE_S", LONG_S)
    marks.refuse = ALWAYS
    prompt = new_prompt()

    async def run() -> list[float]:
        async with client() as http:
            posts = [post(http, two[0], n, text, prompt) for n, text in enumerate(["4 a", "2 b"])]
            await sure(provider, lambda: len(marks.refused) == 2)
            await hang_up(posts[0])
            tries = marks.refused.total()
            # The service has looked at its connections since.
            await sure(provider, lambda: marks.refused.total() >= tries + 8)
            marks.refuse = 0
            again = post(http, two[where], 0, "4 a", prompt)
            return await rewards([again, posts[1]])

    assert asyncio.run(run()) == [1.0, 0.0]
    assert len(provider.requests) == 2


def test_who_came_back_is_answered_although_its_predecessor_is_known_to_be_lost_only_later(
    two: list[RunningService], provider: FakeProvider, marks: Marks, seats: Seats
) -> None:
    """It came back to the other service and was answered there: its number is free from then on."""
    gate = held(provider)
    marks.refuse, marks.kind = ALWAYS, b'"gone"'
    prompt = new_prompt()

    async def run() -> list[float]:
        async with client() as http:
            posts = [post(http, two[0], n, text, prompt) for n, text in enumerate(["4 a", "2 b"])]
            await arrived(provider)
            await hang_up(posts[0])
            await sure(provider, lambda: len(marks.refused) == 1)
            posts[0] = post(http, two[1], 0, "4 a", prompt)
            await sure(provider, lambda: seats.taken == 3)
            gate.set()
            found = await rewards(posts)
            marks.refuse = 0
            await sure(provider, lambda: seats.left == 3)
            new = [post(http, two[1], n, text, prompt) for n, text in enumerate(["4 a", "5 c"])]
            return found + await rewards(new)

    assert asyncio.run(run()) == [1.0, 0.0, 0.0, 1.0]
