"""Requests that are held while their judges cannot be reached, and what repeats share."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import httpx
import pytest

from tests.harness import RunningService
from tests.provider import FakeProvider, behaviours, faults
from tests.provider.behaviours import Behaviour
from tests.trainers.support import DROP, Clock, checked, openrlhf, openrlhf_url, queries, rollout
from tests.waiting import Waiting

# LiteLLM prepares a call in a thread; one that is given up meanwhile is never begun.
pytestmark = pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited", "ignore::pytest.PytestUnraisableExceptionWarning"
)

FAULTS = {
    "500": faults.status_error(500),
    "503 page": faults.unavailable(),
    "429": faults.rate_limited(),
    "empty": faults.empty(),
    "no JSON": faults.odd_body(b"<html>"),
    "no choices": faults.no_choices(),
    "unparsable": behaviours.says("Rather good."),
    "cut": faults.cut_after_verdict(),
    "off the scale": behaviours.fixed(9),
    "wrong model": behaviours.wrong_model(),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_held_until_the_judge_is_back(
    service: RunningService, provider: FakeProvider, fault: str
) -> None:
    """What goes wrong eight times is not the trainer's concern: it is given the verdict."""
    provider.behave("main", [FAULTS[fault]] * 8 + [behaviours.honest()])

    assert openrlhf(service, queries(["4 a"]))["rewards"] == [0.75]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("query", ["", DROP])
def test_the_budget_is_kept(
    service: RunningService, provider: FakeProvider, fault: str, query: str
) -> None:
    """While it lasts the request is held; when it is over, so is the waiting. Never a number that
    looks like a reward.
    """
    provider.behave("main", FAULTS[fault])
    body = queries(["4 a"])
    with Clock() as clock:
        answer = service.http.post(openrlhf_url(query=f"{query}&budget_s=0.8"), json=body)

    assert clock.seconds < 10.0
    if query:
        data = checked(answer)
        assert (data["scores"], data["extra_logs"]["judge_failed"]) == ([-1e6], [1.0])
    else:
        assert answer.status_code == 503
        assert answer.headers["Retry-After"]


def test_a_judge_that_never_answers(service: RunningService, provider: FakeProvider) -> None:
    """The budget ends a judge that hangs, too, for every trainer."""
    provider.behave("main", behaviours.slow(behaviours.honest(), 60.0))
    slime = {"prompt": "A question that hangs?", "response": "4 a", "label": None}
    with Clock() as clock:
        lists = service.http.post(openrlhf_url(query="budget_s=0.5"), json=queries(["4 a"]))
        sample = service.http.post("/adapters/slime/quality?budget_s=0.5", json=slime)
        verified = checked(
            service.http.post("/adapters/nemo-gym/quality/verify?budget_s=0.5", json=rollout("4 a"))
        )

    assert lists.status_code == sample.status_code == 503
    assert verified["_ng_failure_class"] == "judge_failed"
    assert clock.seconds < 15.0


def test_failures_that_mix(service: RunningService, provider: FakeProvider) -> None:
    """Of many responses at once each has its own verdict, however the judge stumbles."""
    script: list[tuple[float, Behaviour]] = [(0.4, behaviours.honest())]
    script += [(0.06, fault) for fault in FAULTS.values()]
    provider.behave("main", behaviours.mixed(script, seed=11))
    texts = [f"{1 + n % 5} text {n}" for n in range(40)]

    answer = openrlhf(service, queries(texts))

    assert answer["rewards"] == [(n % 5) / 4 for n in range(40)]
    assert answer["judge_failed"] == [0.0] * 40


async def _twice(service: RunningService, url: str, body: dict[str, Any]) -> list[Any]:
    async with httpx.AsyncClient(base_url=service.url, trust_env=False, timeout=30.0) as http:
        answers = await asyncio.gather(*(http.post(url, json=body) for _ in range(2)))
    return [checked(answer) for answer in answers]


def test_identical_posts_share_a_judgement(service: RunningService, provider: FakeProvider) -> None:
    """Twice at once is one call; a third time is the cache."""
    provider.behave("main", behaviours.slow(behaviours.honest(), 0.3))
    body = queries(["4 a"])
    first, second = asyncio.run(_twice(service, openrlhf_url(), body))
    third = openrlhf(service, body)

    assert first["rewards"] == second["rewards"] == third["rewards"] == [0.75]
    assert third["cached"] == [1.0]
    assert len(provider.requests) == 1


def test_a_client_that_hangs_up_cancels_its_call(
    service: RunningService, provider: FakeProvider, waiting: Waiting
) -> None:
    """Nobody pays for what nobody waits for, and what another one waits for goes on."""
    gate = threading.Event()
    provider.behave("main", behaviours.held(behaviours.honest(), gate))
    body, shared = queries(["4 a"]), queries(["5 b"])

    async def run() -> Any:
        async with httpx.AsyncClient(base_url=service.url, trust_env=False, timeout=30.0) as http:
            left = [asyncio.create_task(http.post(openrlhf_url(), json=one))
                    for one in (body, shared)]  # fmt: skip
            stayed = asyncio.create_task(http.post(openrlhf_url(), json=shared))
            for condition in (lambda: len(provider.requests) == 2, lambda: waiting.now == 3):
                assert await asyncio.to_thread(provider.wait_until, condition)
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
            assert await asyncio.to_thread(provider.wait_until, lambda: waiting.now == 1)
            gate.set()
            return checked(await stayed)

    assert asyncio.run(run())["rewards"] == [1.0]
    assert provider.wait_until(
        lambda: [r.hung_up_at is not None for r in provider.requests].count(True) == 1
    )
    assert len(provider.requests) == 2


def test_a_judge_that_never_gives_a_verdict_is_taken_at_its_word(
    service: RunningService, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replies without a verdict cost as much as good ones: not all of the budget goes there."""
    monkeypatch.setattr("judge_service.api.trainers.hold.FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr("judge_service.api.trainers.hold.LAST_PAUSE_S", 0.01)
    provider.behave("main", behaviours.says("Rather good."))
    answer = service.http.post(openrlhf_url(), json=queries(["4 a"]))

    assert answer.status_code == 503
    assert 8 <= len(provider.requests) <= 16  # each try may ask once more
