"""Two replicas in processes of their own on one real Redis, and what happens to their members."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cohort.members import POINTS, TEXTS, client, from_two_processes, join, posted
from tests.cohort.replicas import Replica, prepared
from tests.harness import new_prompt
from tests.polling import until
from tests.provider import FakeProvider, behaviours
from tests.redis_server import RedisServer
from tests.trainers.support import openrlhf_url, queries

PAIRS_OF_TIED = 2 * 3
"""Three pairs of equal points, settled in both orders."""


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The judge: a text's score is the digit it begins with."""
    with FakeProvider() as provider:
        provider.oracle(lambda text: int(text[0]))
        yield provider


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A real Redis."""
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="module")
def services(
    provider: FakeProvider, redis: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Replica]]:
    """Two services that know of each other through Redis only, and one that has a file."""
    folder = prepared(tmp_path_factory.mktemp("replicas"), provider)
    shared = ("--redis-url", redis.url)
    own = ("--store", str(folder / "store.sqlite3"))
    with ExitStack() as stack:
        yield [stack.enter_context(Replica(folder, *flags)) for flags in (shared, shared, own)]


@pytest.fixture
def two(services: list[Replica], provider: FakeProvider) -> Iterator[list[Replica]]:
    """The two, both of them running."""
    for replica in services[:2]:
        replica.start()
    for replica in services[:2]:
        replica.ready()
    provider.reset()
    yield services[:2]
    assert provider.problems == []


@pytest.fixture
def single(services: list[Replica], provider: FakeProvider) -> Iterator[Replica]:
    """The one with the file."""
    services[2].ready()
    provider.reset()
    yield services[2]
    assert provider.problems == []


async def waiting(redis: RedisServer, prompt_members: int) -> None:
    """So many members have places."""

    def there() -> bool:
        keys = redis.command("KEYS", "jg:2:*:places").split()
        return sum(int(redis.command("ZCARD", key)) for key in keys) >= prompt_members

    await asyncio.to_thread(until, there, "members did not arrive")


async def kept(file: Path, members: int) -> None:
    """So many members have places that a restart does not take from them."""
    query = "SELECT count(*) FROM places WHERE key LIKE 'jg:2:%:places'"

    def there() -> bool:
        with closing(sqlite3.connect(file)) as found:
            places: int = found.execute(query).fetchone()[0]
        return places >= members

    await asyncio.to_thread(until, there, "members are not kept")


@pytest.mark.parametrize("rubric", ["quality", "pair"])
def test_eight_members_from_two_processes(
    two: list[Replica], provider: FakeProvider, rubric: str
) -> None:
    """One group, judged once; the bill is shared out without a gap."""
    answers = from_two_processes([one.url for one in two], prompt=new_prompt(), rubric=rubric)

    assert {a["group"]["members"] for a in answers} == {8}
    assert len({a["group"]["generation"] for a in answers}) == 1
    ranks = [a["rank"] for a in answers]
    assert ranks == [7, 5, 3, 2, 1, 7, 5, 3]
    if rubric == "quality":
        assert [a["reward"] for a in answers] == POINTS
    calls = 8 + PAIRS_OF_TIED if rubric == "quality" else 56
    assert len(provider.requests) == calls
    assert sum(a["usage"]["upstream_requests"] for a in answers) == calls


def test_late_and_duplicate_members(two: list[Replica], provider: FakeProvider) -> None:
    """Every member comes twice, to both replicas, one of them seconds after the others: each of
    the sixteen has its own member's reward.
    """
    prompt = new_prompt()

    async def run() -> list[dict[str, Any]]:
        async with client() as http:
            early = [
                asyncio.create_task(join(http, one.url, n, prompt=prompt))
                for n in range(7)
                for one in two
            ]
            done, _ = await asyncio.wait(early, timeout=2.5)
            assert not done
            late = [join(http, one.url, 7, prompt=prompt) for one in two]
            return list(await asyncio.gather(*early, *late))

    answers = asyncio.run(run())

    assert [a["reward"] for a in answers] == [point for point in POINTS for _ in two]
    assert {a["group"]["members"] for a in answers} == {8}
    assert len(provider.requests) == 8 + PAIRS_OF_TIED


@pytest.mark.parametrize("least", [None, 6])
def test_a_member_that_is_missing(
    two: list[Replica], provider: FakeProvider, least: int | None
) -> None:
    """At the deadline all fail, or those who came are judged."""
    # Nobody is judged ahead within a second; those who are to be judged must have come by then.
    more: dict[str, Any] = {"deadline_s": 1.0}
    if least is not None:
        more = {"deadline_s": 5.0, "partial": {"at_least": least}}
    prompt = new_prompt()

    async def run() -> list[dict[str, Any]]:
        async with client() as http:
            members = (join(http, two[n % 2].url, n, prompt=prompt, **more) for n in range(7))
            return list(await asyncio.gather(*members))

    answers = asyncio.run(run())

    if least is None:
        assert {a["error"]["code"] for a in answers} == {"cohort_incomplete"}
        assert provider.requests == []
    else:
        assert [a["reward"] for a in answers] == POINTS[:7]
        assert all(a["group"]["partial"] for a in answers)


def test_the_same_prompt_twice_in_flight(two: list[Replica], provider: FakeProvider) -> None:
    """Sixteen responses to one prompt, equal ones among them, are two groups of eight."""
    bodies = [queries([text], prompt="Twice?") for text in TEXTS + TEXTS]
    url = openrlhf_url(query="group=8&budget_s=40")

    async def run() -> list[float]:
        async with client() as http:
            answers = await asyncio.gather(
                *(posted(http, [two[n % 2].url + url], body) for n, body in enumerate(bodies))
            )
            assert {a.json()["extra_logs"]["group/members"][0] for a in answers} == {8.0}
            return [a.json()["rewards"][0] for a in answers]

    rewards = asyncio.run(run())

    # Ties are settled within each group, by less than half of a step.
    assert rewards == pytest.approx(POINTS + POINTS, abs=0.125)


def test_a_store_that_was_emptied_takes_the_members_in_again(
    two: list[Replica], provider: FakeProvider, redis: RedisServer
) -> None:
    """Whoever waits brings its candidate once more."""
    prompt = new_prompt()
    redis.command("FLUSHALL")

    async def run() -> list[dict[str, Any]]:
        async with client() as http:
            waits = [asyncio.create_task(join(http, two[n % 2].url, n, prompt=prompt))
                     for n in range(6)]  # fmt: skip
            await waiting(redis, 6)
            redis.command("FLUSHALL")
            await waiting(redis, 6)
            last = [join(http, two[n % 2].url, n, prompt=prompt) for n in (6, 7)]
            return list(await asyncio.gather(*waits, *last))

    assert [a["reward"] for a in asyncio.run(run())] == POINTS


def test_a_service_that_is_started_again_in_the_middle(
    single: Replica, provider: FakeProvider
) -> None:
    """It has nobody but itself, and its file: members who waited come again after the restart."""
    prompt = new_prompt()

    async def run() -> list[dict[str, Any]]:
        async with client() as http:
            member = partial(join, http, single.url, prompt=prompt, deadline_s=90.0)
            waits = [asyncio.create_task(member(n)) for n in range(5)]
            await kept(single.folder / "store.sqlite3", 5)
            await asyncio.to_thread(single.kill)
            single.start()
            await asyncio.to_thread(single.ready)
            # Two of them do not come again: what they brought is there.
            for task in waits[:2]:
                task.cancel()
            found = await asyncio.gather(*waits[2:], *(member(n) for n in (5, 6, 7)))
            return [*[await member(n) for n in (0, 1)], *found]

    assert [a["reward"] for a in asyncio.run(run())] == POINTS
    assert len(provider.requests) == 8 + PAIRS_OF_TIED


async def named(living: Replica, dying: Replica, dead: asyncio.Event) -> list[float]:
    """Members with names, three of which wait at the one that dies, and come again at the other."""
    prompt = new_prompt()
    async with client() as http:
        there = [asyncio.create_task(join(http, living.url, n, prompt=prompt)) for n in (0, 1)]
        lost = [asyncio.create_task(join(http, dying.url, n, prompt=prompt)) for n in (2, 3, 4)]
        await dead.wait()
        for task in lost:
            task.cancel()
        rest = [join(http, living.url, n, prompt=prompt) for n in range(2, 8)]
        return [a["reward"] for a in await asyncio.gather(*there, *rest)]


async def nameless(
    living: Replica, dying: Replica, dead: asyncio.Event, pause_s: float
) -> list[float]:
    """The same with responses that only their text tells apart. The rest comes ``pause_s`` after
    the one has died, which nobody can know yet.
    """
    path = openrlhf_url(query="group=8&budget_s=60")
    prompt = new_prompt()
    bodies = [queries([text], prompt=prompt) for text in TEXTS]
    async with client() as http:
        urls = [[living.url + path], [dying.url + path, living.url + path]]
        early = [
            asyncio.create_task(posted(http, urls[n >= 2], body))
            for n, body in enumerate(bodies[:5])
        ]
        await dead.wait()
        await asyncio.sleep(pause_s)
        late = await asyncio.gather(*(posted(http, urls[0], body) for body in bodies[5:]))
        answers = [*await asyncio.gather(*early), *late]
        assert {a.json()["extra_logs"]["group/members"][0] for a in answers} == {8.0}
        return [a.json()["rewards"][0] for a in answers]


async def led(
    living: Replica, dying: Replica, dead: asyncio.Event, prompt: str, redis: RedisServer
) -> list[float]:
    """A group that the one that dies has judged by half: the last to come leads, which is after the
    members of the other groups.
    """
    async with client() as http:
        waits = [asyncio.create_task(join(http, living.url, n, prompt=prompt)) for n in range(7)]
        await waiting(redis, 5 + 5 + 5 + 7)
        last = asyncio.create_task(join(http, dying.url, 7, prompt=prompt))
        await dead.wait()
        last.cancel()
        again = await join(http, living.url, 7, prompt=prompt)
        return [a["reward"] for a in [*await asyncio.gather(*waits), again]]


def test_a_replica_dies(two: list[Replica], provider: FakeProvider, redis: RedisServer) -> None:
    """Its members come again at the other one, are the same ones there, and their groups come to
    what they would have come to. What was judged and kept is not judged again.
    """
    redis.command("FLUSHALL")
    dying, living = two
    prompt = new_prompt()
    half = behaviours.when(
        lambda seen: seen.slots["prompt"] == prompt and seen.n > 4,
        behaviours.slow(behaviours.honest(), 30.0),
        behaviours.honest(),
    )
    provider.behave("main", half)

    async def run() -> list[list[float]]:
        dead = asyncio.Event()
        groups = [
            asyncio.create_task(one)
            for one in (
                named(living, dying, dead),
                nameless(living, dying, dead, 0.0),
                nameless(living, dying, dead, 1.0),
                led(living, dying, dead, prompt, redis),
            )
        ]
        await waiting(redis, 5 + 5 + 5 + 8)
        begun = await asyncio.to_thread(provider.wait_until, lambda: len(provider.requests) >= 8)
        assert begun
        provider.behave("main", behaviours.honest())
        await asyncio.to_thread(dying.kill)
        dead.set()
        return list(await asyncio.gather(*groups))

    assert asyncio.run(run()) == [POINTS] * 4
    # What the dead one was asking, or had just been told, is asked again, once.
    asked = Counter(
        (seen.slots["prompt"], *seen.candidates.values())
        for request in provider.requests
        if (seen := request.seen) is not None
    )
    assert len(asked) == 4 * (8 + PAIRS_OF_TIED)
    assert max(asked.values()) <= 2
    assert len(provider.requests) <= len(asked) + 12
