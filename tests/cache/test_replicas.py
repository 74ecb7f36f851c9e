"""Two services on one real Redis: verdicts, single flight and cohorts are shared."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cache.conftest import Open
from tests.cache.test_single_flight import BODY, arrived, assess, client
from tests.harness import RunningService, new_prompt
from tests.provider import FakeProvider, behaviours, faults
from tests.redis_server import RedisServer

SECRET = "a secret that both replicas have"


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A real Redis."""
    (tmp_path / "redis").mkdir()
    with RedisServer(tmp_path / "redis") as server:
        yield server


@pytest.fixture
def two(opened: Open, redis: RedisServer) -> Iterator[list[RunningService]]:
    """Two services that know of each other through Redis only."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(opened(store=None, redis_url=redis.url, secret=SECRET))
            for _ in range(2)
        ]


def test_one_replica_knows_what_the_other_was_told(
    two: list[RunningService], provider: FakeProvider
) -> None:
    """A verdict is asked for once, whoever is asked."""
    body = {**BODY, "prompt": new_prompt()}
    first, second = (service.post("/v1/assess", body) for service in two)

    assert len(provider.requests) == 1
    assert (first["reward"], second["reward"]) == (0.75, 0.75)
    assert second["verdicts"][0]["cached"] is True


def test_a_stampede_on_two_replicas_costs_a_call_each_at_most(
    two: list[RunningService], provider: FakeProvider
) -> None:
    """A hundred identical requests on two replicas: all have the verdict.

    One replica asks; the other one, too, if Redis does not tell it so in time.
    """
    provider.behave("main", behaviours.slow(behaviours.honest(), 0.5))
    prompt = new_prompt()

    async def run() -> list[dict[str, Any]]:
        async with client(two[0]) as one, client(two[1]) as other:
            return await asyncio.gather(
                *(assess(http, prompt=prompt) for http in (one, other) for _ in range(50))
            )

    answers = asyncio.run(run())

    calls = len(provider.requests)
    assert calls <= 2
    assert {answer["reward"] for answer in answers} == {0.75}
    assert sum(answer["usage"]["upstream_requests"] for answer in answers) == calls


def test_a_failure_on_one_replica_is_not_kept_for_the_other(
    two: list[RunningService], provider: FakeProvider
) -> None:
    """Nothing but a verdict is shared."""
    body = {**BODY, "prompt": new_prompt()}
    provider.behave("main", faults.status_error(401))
    assert two[0].post("/v1/assess", body)["error"]["code"] == "upstream_auth"
    provider.behave("main", behaviours.honest())

    assert two[1].post("/v1/assess", body)["reward"] == 0.75


def test_who_waits_for_another_replica_takes_over_when_it_gives_up(
    two: list[RunningService], provider: FakeProvider
) -> None:
    """The asking replica's caller hangs up; the other replica asks by itself."""
    provider.behave("main", [faults.hang(), behaviours.honest()])
    prompt = new_prompt()

    async def run() -> dict[str, Any]:
        async with client(two[0]) as one, client(two[1]) as other:
            first = asyncio.create_task(assess(one, prompt=prompt))
            await arrived(provider)
            second = asyncio.create_task(assess(other, prompt=prompt, timeout_s=20.0))
            await other.get("/healthz")
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            return await second

    answer = asyncio.run(run())

    assert (answer["status"], answer["reward"]) == ("success", 0.75)
    assert len(provider.requests) == 2


@pytest.mark.parametrize("trouble", ["killed", "frozen", "flushed", "read-only", "other password"])
def test_redis_in_trouble_costs_a_call_at_most(
    two: list[RunningService], provider: FakeProvider, redis: RedisServer, trouble: str
) -> None:
    """The right verdict comes, known or not, and nobody is told of a failure."""
    body = {**BODY, "prompt": new_prompt()}
    two[0].post("/v1/assess", body)
    try:
        if trouble == "killed":
            redis.kill()
        elif trouble == "frozen":
            redis.freeze()
        elif trouble == "flushed":
            redis.command("FLUSHALL")
        elif trouble == "read-only":
            redis.command("REPLICAOF", "127.0.0.1", "1")
        else:
            redis.configure("requirepass", "another")
        for service in two:
            for one in (body, {**body, "prompt": new_prompt()}):
                answer = service.post("/v1/assess", one)
                assert (answer["status"], answer["reward"]) == ("success", 0.75)
    finally:
        if trouble == "frozen":
            redis.thaw()


def test_what_somebody_else_writes_into_redis_is_no_verdict(
    two: list[RunningService], provider: FakeProvider, redis: RedisServer
) -> None:
    """Garbage, another type and another question's verdict under our keys are passed over."""
    prompts = [new_prompt() for _ in range(3)]
    keys: list[str] = []
    for prompt in prompts:
        two[0].post("/v1/assess", {**BODY, "prompt": prompt})
        found = redis.command("KEYS", "jv:*").split()
        keys += [key for key in found if key not in keys]
    assert len(keys) == 3
    redis.command("SET", keys[0], '{"value":5}')
    redis.command("DEL", keys[1])
    redis.command("LPUSH", keys[1], "x")
    redis.command("COPY", keys[0], keys[2], "REPLACE")
    for service in two:
        for prompt in prompts:
            answer = service.post("/v1/assess", {**BODY, "prompt": prompt})
            assert (answer["status"], answer["reward"]) == ("success", 0.75)

    assert len(provider.requests) == 6


def test_members_of_a_cohort_meet_through_redis(
    two: list[RunningService], provider: FakeProvider
) -> None:
    """Eight members spread over two replicas are one group, judged once."""
    provider.oracle(lambda text: int(text[0]))
    prompt = new_prompt()

    async def join(http: httpx.AsyncClient, member: int) -> dict[str, Any]:
        body = {
            "group": "g", "size": 8, "member": str(member), "rubric": "quality", "prompt": prompt,
            "candidate": {"text": f"{member % 5 + 1} text {member}", "family": "x"},
            "judges": ["main"], "deadline_s": 20.0,
        }  # fmt: skip
        answer = await http.post("/v1/groups/join", json=body)
        assert answer.status_code == 200, answer.text
        data: dict[str, Any] = answer.json()
        return data

    async def run() -> list[dict[str, Any]]:
        async with client(two[0]) as one, client(two[1]) as other:
            return await asyncio.gather(
                *(join((one, other)[member % 2], member) for member in range(8))
            )

    answers = asyncio.run(run())

    assert [a["reward"] for a in answers] == [n % 5 / 4 for n in range(8)]
    assert {a["group"]["members"] for a in answers} == {8}
    assert len(provider.requests) == 8 + 6  # three pairs are tied, and asked in both orders


def well(service: RunningService, provider: FakeProvider) -> None:
    """Returns when the service finds nothing degraded."""

    def nothing_degraded() -> bool:
        return bool(service.http.get("/readyz").json()["degraded"] == [])

    assert provider.wait_until(nothing_degraded)


def test_what_redis_lost_is_not_judged_again(
    two: list[RunningService], provider: FakeProvider, redis: RedisServer
) -> None:
    """A Redis that was killed comes back empty; those who were told the verdict still know it."""
    body = {**BODY, "prompt": new_prompt()}
    two[0].post("/v1/assess", body)
    redis.kill()
    assert two[0].post("/v1/assess", body)["verdicts"][0]["cached"] is True
    redis.start()
    for service in two:
        well(service, provider)
        assert service.post("/v1/assess", body)["verdicts"][0]["cached"] is True
        # The first to notice puts it back, beside its answer.
        assert provider.wait_until(lambda: bool(redis.command("KEYS", "jv:*").split()))

    assert len(provider.requests) == 1


def test_what_was_removed_is_judged_again(
    two: list[RunningService], provider: FakeProvider, redis: RedisServer
) -> None:
    """A verdict that an operator removed is gone, also after Redis was lost once."""
    body = {**BODY, "prompt": new_prompt()}
    two[0].post("/v1/assess", body)
    redis.kill()
    redis.start()
    well(two[0], provider)
    assert two[0].post("/v1/assess", body)["verdicts"][0]["cached"] is True
    assert provider.wait_until(lambda: bool(redis.command("KEYS", "jv:*").split()))
    redis.command("FLUSHALL")

    assert two[0].post("/v1/assess", body)["verdicts"][0]["cached"] is False
    assert len(provider.requests) == 2


def test_who_waits_long_for_another_replica_has_its_verdict_too(
    two: list[RunningService], provider: FakeProvider
) -> None:
    """A judge slower than half of the follower's time: the verdict that comes is not missed."""
    gate = threading.Event()
    provider.behave("main", [behaviours.held(behaviours.honest(), gate), faults.hang()])
    prompt = new_prompt()

    async def run() -> list[dict[str, Any]]:
        async with client(two[0]) as one, client(two[1]) as other:
            first = asyncio.create_task(assess(one, prompt=prompt))
            await arrived(provider)
            second = asyncio.create_task(assess(other, prompt=prompt, timeout_s=10.0))
            await arrived(provider, 2)  # half of its time is over: it asks, too
            gate.set()
            return list(await asyncio.gather(first, second))

    first, second = asyncio.run(run())

    assert (first["status"], first["reward"]) == ("success", 0.75)
    assert (second["status"], second["reward"]) == ("success", 0.75)
    assert second["verdicts"][0]["cached"] is True


def test_members_of_one_process_meet_although_redis_is_lost(
    two: list[RunningService], provider: FakeProvider, redis: RedisServer
) -> None:
    """Who waited before Redis froze, and who comes while it is frozen, are one group."""
    provider.oracle(lambda text: int(text[0]))
    prompt = new_prompt()

    async def join(http: httpx.AsyncClient, member: int) -> dict[str, Any]:
        body = {
            "group": "g", "size": 2, "member": str(member), "rubric": "quality", "prompt": prompt,
            "candidate": {"text": f"{member + 2} text", "family": "x"}, "judges": ["main"],
            "deadline_s": 30.0,
        }  # fmt: skip
        answer = await http.post("/v1/groups/join", json=body)
        data: dict[str, Any] = answer.json()
        return data

    def waits() -> bool:
        return bool(redis.command("KEYS", "jg:*places").split())

    async def run() -> list[dict[str, Any]]:
        async with client(two[0]) as http:
            first = asyncio.create_task(join(http, 0))
            assert await asyncio.to_thread(provider.wait_until, waits)
            redis.freeze()
            try:
                return list(await asyncio.gather(first, join(http, 1)))
            finally:
                redis.thaw()

    answers = asyncio.run(run())

    assert [a["reward"] for a in answers] == [0.25, 0.5]
