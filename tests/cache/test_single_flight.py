"""What callers see when many of them ask the same at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from judge_service.adapters.sqlite_store import SqliteStore
from judge_service.api.auth import key_hash, pepper_of
from tests.cache.conftest import Open
from tests.harness import RunningService, write_rubric
from tests.observability.scrape import scrape
from tests.provider import FakeProvider, behaviours, faults
from tests.waiting import Waiting

BODY: dict[str, Any] = {
    "rubric": "quality",
    "prompt": "What is the capital of France?",
    "candidate": {"text": "Paris.", "family": "x"},
    "judges": ["main"],
}
IMPATIENT_S = 4.0
"""Enough for others to join, on a busy machine too."""


def client(service: RunningService, **more: Any) -> httpx.AsyncClient:
    """A client with room for many requests at once."""
    limits = httpx.Limits(max_connections=None)
    return httpx.AsyncClient(
        base_url=service.url, timeout=60.0, trust_env=False, limits=limits, **more
    )


async def assess(http: httpx.AsyncClient, **more: Any) -> dict[str, Any]:
    """One assessment."""
    answer = await http.post("/v1/assess", json={**BODY, **more})
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.json()
    return data


async def arrived(provider: FakeProvider, number: int = 1) -> None:
    """Returns when that many requests have reached the provider."""
    await sure(provider, lambda: len(provider.requests) >= number)


async def sure(provider: FakeProvider, condition: Callable[[], bool]) -> None:
    """Returns when it is so."""
    assert await asyncio.to_thread(provider.wait_until, condition)


async def together(
    number: int,
    behaviour: behaviours.Behaviour,
    service: RunningService,
    provider: FakeProvider,
    waiting: Waiting,
) -> list[dict[str, Any]]:
    """The answers to so many requests, all of which wait when the judge begins to answer."""
    gate = threading.Event()
    provider.behave("main", behaviours.held(behaviour, gate))
    async with client(service) as http:
        asking = [asyncio.create_task(assess(http)) for _ in range(number)]
        await sure(provider, lambda: waiting.now == number)
        gate.set()
        return await asyncio.gather(*asking)


async def impatient_and_patient(
    service: RunningService, provider: FakeProvider, waiting: Waiting
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The answers to who began and has left when the judge answers, and to who joined and stays."""
    gate = threading.Event()
    provider.behave("main", behaviours.held(behaviours.honest(), gate))
    async with client(service) as http:
        first = asyncio.create_task(assess(http, timeout_s=IMPATIENT_S))
        await arrived(provider)
        second = asyncio.create_task(assess(http))
        await sure(provider, lambda: waiting.begun == 2)
        left = await first
        gate.set()
        return left, await second


def test_two_hundred_at_once_cost_one_call(
    service: RunningService, provider: FakeProvider, waiting: Waiting
) -> None:
    """All have the verdict, one of them the bill."""
    answers = asyncio.run(together(200, behaviours.honest(), service, provider, waiting))

    assert len(provider.requests) == 1
    assert {answer["reward"] for answer in answers} == {0.75}
    paid = [a for a in answers if not a["verdicts"][0]["cached"]]
    assert len(paid) == 1
    assert sum(a["usage"]["upstream_requests"] for a in answers) == 1
    assert sum(a["verdicts"][0]["attempts"] for a in answers) == 1
    shared = [a for a in answers if a["verdicts"][0]["cached"]]
    assert all(a["usage"]["prompt_tokens"] == 0 for a in shared)


@pytest.mark.parametrize(
    ("fault", "code"),
    [(faults.status_error(401), "upstream_auth"), (faults.refuses_to_judge(), "refused")],
    ids=["401", "refusal"],
)
def test_a_failure_is_shared_and_then_forgotten(
    service: RunningService,
    provider: FakeProvider,
    waiting: Waiting,
    fault: behaviours.Behaviour,
    code: str,
) -> None:
    """Those who waited for it have the failure too; the next request asks anew."""
    answers = asyncio.run(together(20, fault, service, provider, waiting))
    calls = len(provider.requests)
    provider.behave("main", behaviours.honest())
    after = service.post("/v1/assess", BODY)

    assert calls <= 2  # an unusable reply is asked for once more
    assert {(a["status"], a["reward"], a["error"]["code"]) for a in answers} == {
        ("failed", None, code)
    }
    assert sum(a["usage"]["upstream_requests"] for a in answers) == calls
    assert after["status"] == "success"
    assert after["verdicts"][0]["cached"] is False


def test_whoever_began_may_leave(
    service: RunningService, provider: FakeProvider, waiting: Waiting
) -> None:
    """The first caller hangs up; the call goes on for the second one, who pays for it."""
    gate = threading.Event()
    provider.behave("main", behaviours.held(behaviours.honest(), gate))

    async def run() -> dict[str, Any]:
        async with client(service) as http, client(service) as other:
            first = asyncio.create_task(assess(http))
            await arrived(provider)
            second = asyncio.create_task(assess(other))
            await sure(provider, lambda: waiting.now == 2)
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            await sure(provider, lambda: waiting.now == 1)
            gate.set()
            return await second

    answer = asyncio.run(run())

    assert len(provider.requests) == 1
    assert provider.requests[0].hung_up_at is None
    assert (answer["status"], answer["reward"]) == ("success", 0.75)
    assert answer["verdicts"][0]["cached"] is False
    assert answer["usage"]["upstream_requests"] == 1


def test_nobody_left_to_wait_ends_the_call(
    service: RunningService, provider: FakeProvider, waiting: Waiting
) -> None:
    """When all have hung up the upstream call is cancelled, and a new request begins anew."""
    provider.behave("main", [faults.hang(), behaviours.honest()])

    async def leave() -> None:
        async with client(service) as http:
            asking = [asyncio.create_task(assess(http)) for _ in range(5)]
            await arrived(provider)
            await sure(provider, lambda: waiting.now == 5)
            for task in asking:
                task.cancel()
            await asyncio.gather(*asking, return_exceptions=True)

    asyncio.run(leave())
    assert provider.wait_until(lambda: provider.requests[0].hung_up_at is not None)
    after = service.post("/v1/assess", BODY)

    assert after["status"] == "success"
    assert len(provider.requests) == 2


def test_an_impatient_first_caller_spoils_nothing(
    service: RunningService, provider: FakeProvider, waiting: Waiting
) -> None:
    """The one who began runs out of time; the others go on waiting and have the verdict."""
    first, second = asyncio.run(impatient_and_patient(service, provider, waiting))

    assert (first["status"], first["error"]["code"]) == ("failed", "deadline_exceeded")
    assert (second["status"], second["reward"]) == ("success", 0.75)
    assert first["reward"] is None


def test_an_impatient_follower_leaves_alone(
    service: RunningService, provider: FakeProvider
) -> None:
    """A follower's own deadline ends its wait; the one who began goes on."""
    gate = threading.Event()
    provider.behave("main", behaviours.held(behaviours.honest(), gate))

    async def run() -> tuple[dict[str, Any], dict[str, Any]]:
        async with client(service) as http:
            first = asyncio.create_task(assess(http))
            await arrived(provider)
            second = await assess(http, timeout_s=0.2)
            gate.set()
            return await first, second

    first, second = asyncio.run(run())

    assert len(provider.requests) == 1
    assert (first["status"], first["usage"]["upstream_requests"]) == ("success", 1)
    assert (second["status"], second["error"]["code"]) == ("failed", "deadline_exceeded")
    assert second["usage"]["upstream_requests"] == 0


def test_different_questions_do_not_wait_for_each_other(
    service: RunningService, provider: FakeProvider
) -> None:
    """Each of several candidates is asked about."""
    provider.behave("main", behaviours.slow(behaviours.honest(), 0.1))

    async def run() -> list[dict[str, Any]]:
        async with client(service) as http:
            texts = [{"text": f"Paris {n}.", "family": "x"} for n in range(20)]
            return await asyncio.gather(*(assess(http, candidate=text) for text in texts))

    answers = asyncio.run(run())

    assert len(provider.requests) == 20
    assert not any(a["verdicts"][0]["cached"] for a in answers)


@pytest.mark.parametrize(("share", "calls"), [(False, 2), (True, 1)], ids=["apart", "sharing"])
def test_tenants_share_only_what_they_are_allowed_to(
    opened: Open, provider: FakeProvider, tmp_path: Path, share: bool, calls: int
) -> None:
    """Another tenant's verdict is not used, unless the operator lets tenants share."""
    secret = "a secret of some length"
    keys = tmp_path / "keys.toml"
    keys.write_text(
        "".join(
            f'[[keys]]\nname = "{name}"\ntenant = "{name}"\n'
            f'sha256 = "{key_hash(pepper_of(secret), f"key-{name}")}"\n'
            for name in ("ada", "bob")
        )
    )
    with opened(api_keys_file=keys, secret=secret, share_cache=share) as service:
        for name in ("ada", "ada", "bob", "bob"):
            headers = {"Authorization": f"Bearer key-{name}"}
            answer = service.http.post("/v1/assess", json=BODY, headers=headers)
            assert answer.json()["status"] == "success"

    assert len(provider.requests) == calls


def test_the_call_lasts_as_long_as_the_most_patient_one_waits(
    service: RunningService, provider: FakeProvider, waiting: Waiting
) -> None:
    """A call that a hurried caller began is not cut at that caller's deadline and sent again."""
    first, second = asyncio.run(impatient_and_patient(service, provider, waiting))

    assert first["error"]["code"] == "deadline_exceeded"
    assert (second["status"], second["verdicts"][0]["attempts"]) == ("success", 1)
    assert len(provider.requests) == 1


def test_who_joins_keeps_its_own_tries(
    opened: Open, provider: FakeProvider, waiting: Waiting, tmp_path: Path
) -> None:
    """A call that was somebody's only try failed; who may try three times goes on."""
    write_rubric(tmp_path, "moving", fallback="family")
    provider.behave("main", faults.status_error(401))
    gate = threading.Event()
    provider.behave("other", [behaviours.held(faults.status_error(500), gate), behaviours.honest()])
    with opened() as service:

        async def run() -> tuple[dict[str, Any], dict[str, Any]]:
            async with client(service) as http:
                pair = {**BODY, "rubric": "moving", "prompt": "Another question?"}
                spare = asyncio.create_task(assess(http, **{**pair, "judges": ["main", "other"]}))
                await arrived(provider, 2)
                own = asyncio.create_task(assess(http, **{**pair, "judges": ["other"]}))
                await sure(provider, lambda: waiting.now == 2)
                gate.set()
                return await asyncio.gather(spare, own)

        spare, own = asyncio.run(run())

    assert (spare["status"], spare["reward"]) == ("failed", None)
    assert (own["status"], own["reward"]) == ("success", 0.75)


def test_a_look_up_is_counted_once(
    opened: Open, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often a process looks whether another one's verdict has come, and whatever it finds
    meanwhile: here a verdict of a model that is no longer accepted.
    """
    waits: list[str] = []
    hold = SqliteStore.hold

    async def noted(
        store: SqliteStore, key: str, owner: str, limit: int, ttl_s: float
    ) -> bool | None:
        mine = await hold(store, key, owner, limit, ttl_s)
        if mine is False:
            waits.append(key)
        return mine

    async def both(first: RunningService, second: RunningService) -> list[dict[str, Any]]:
        async with client(first) as one, client(second) as other:
            asking = [asyncio.create_task(assess(one))]
            await arrived(provider, 2)
            asking.append(asyncio.create_task(assess(other)))
            await sure(provider, lambda: len(waits) >= 5)
            gate.set()
            return await asyncio.gather(*asking)

    provider.behave("main", behaviours.served_as(behaviours.honest(), "main-2024"))
    with opened() as service:
        service.post("/v1/assess", BODY)
    gate = threading.Event()
    new = behaviours.served_as(behaviours.honest(), "main-2026")
    provider.behave("main", behaviours.held(new, gate))
    monkeypatch.setattr(SqliteStore, "hold", noted)
    now = {"served_models": ["main-2026"]}
    with opened(main=now) as first, opened(main=now) as second:
        answers = asyncio.run(both(first, second))
        counts = [scrape(one.http) for one in (first, second)]

    assert len(provider.requests) == 2
    assert [answer["verdicts"][0]["cached"] for answer in answers] == [False, True]
    for count in counts:
        assert count.of("cache_lookups_total", result="miss") == 1
        assert count.of("cache_lookups_total") == 1
