"""Members of groups that lose their connection: before their group is complete, and after."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.harness import RunningService, new_prompt
from tests.provider import FakeProvider, behaviours
from tests.trainers.support import DROP, checked, openrlhf_url, queries, rollout
from tests.trainers.test_groups import SHARES, TEXTS, rewards, singles
from tests.waiting import Seats

# LiteLLM prepares a call in a thread; one that is given up meanwhile is never begun.
pytestmark = pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited", "ignore::pytest.PytestUnraisableExceptionWarning"
)
URL = openrlhf_url("pair", "group=4&budget_s=60")
SHORT_S = 4.0
"""A member's whole budget: the judge is asked before it is over, on a busy machine too."""


@asynccontextmanager
async def client(service: RunningService) -> AsyncIterator[httpx.AsyncClient]:
    """A client with connections of its own."""
    async with httpx.AsyncClient(base_url=service.url, trust_env=False, timeout=60.0) as http:
        yield http


async def hang_up(*tasks: asyncio.Task[Any]) -> None:
    """Close the connections of requests that run."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def sure(provider: FakeProvider, condition: Callable[[], bool]) -> None:
    """Returns when it is so."""
    assert await asyncio.to_thread(provider.wait_until, condition)


async def arrived(provider: FakeProvider, requests: int = 1) -> None:
    """Judging has begun."""
    await sure(provider, lambda: len(provider.requests) >= requests)


def held(provider: FakeProvider) -> threading.Event:
    """The judge answers nobody before this is set."""
    gate = threading.Event()
    provider.behave("main", behaviours.held(behaviours.honest(), gate))
    return gate


def seen(provider: FakeProvider) -> set[str]:
    """The texts that judges were shown."""
    return {text for r in provider.requests if r.seen for text in r.seen.candidates.values()}


def test_a_lost_connection_comes_back(
    service: RunningService, provider: FakeProvider, seats: Seats
) -> None:
    """A client that posts again after its connection was lost is the same member."""
    bodies = singles(TEXTS)

    async def run() -> list[httpx.Response]:
        async with client(service) as http:
            lost = asyncio.create_task(http.post(URL, json=bodies[0]))
            second = asyncio.create_task(http.post(URL, json=bodies[1]))
            await sure(provider, lambda: seats.taken == 2)
            await hang_up(lost)
            await sure(provider, lambda: seats.left == 1)
            rest = await asyncio.gather(*(http.post(URL, json=bodies[n]) for n in (0, 2, 3)))
            return [rest[0], await second, *rest[1:]]

    assert rewards(asyncio.run(run())) == pytest.approx(SHARES)


@pytest.mark.parametrize("gone", [1, 3], ids=["one", "all so far"])
def test_who_hung_up_before_the_group_was_complete_is_not_in_it(
    service: RunningService, provider: FakeProvider, seats: Seats, gone: int
) -> None:
    """Its place is free for others: a run that was started anew is not ranked against the old."""
    prompt = new_prompt()
    old, new = singles(["5 old", "1 old", "3 old"], prompt), singles(TEXTS, prompt)

    async def run() -> list[httpx.Response]:
        async with client(service) as http:
            tasks = [asyncio.create_task(http.post(URL, json=body)) for body in old[:gone]]
            await sure(provider, lambda: seats.taken == gone)
            await hang_up(*tasks)
            await sure(provider, lambda: seats.left == gone)
            return list(await asyncio.gather(*(http.post(URL, json=body) for body in new)))

    assert rewards(asyncio.run(run())) == pytest.approx(SHARES)
    assert seen(provider) == set(TEXTS)


def test_an_answer_that_was_not_received_can_be_fetched(
    service: RunningService, provider: FakeProvider, seats: Seats
) -> None:
    """Who hung up while the group was judged posts again, and has what the group came to, however
    long ago the others had it; another one with the same text is a new member after that.
    """
    gate = held(provider)
    prompt = new_prompt()
    bodies = singles(TEXTS, prompt)

    async def run() -> tuple[list[httpx.Response], httpx.Response, list[httpx.Response]]:
        async with client(service) as http:
            tasks = [asyncio.create_task(http.post(URL, json=body)) for body in bodies]
            await arrived(provider)
            await hang_up(tasks[0])
            await sure(provider, lambda: seats.left == 1)
            gate.set()
            others = list(await asyncio.gather(*tasks[1:]))
            asked = len(provider.requests)
            again = await http.post(URL, json=bodies[0])
            assert len(provider.requests) == asked
            later = singles(["4 a", "5 x", "5 y", "5 z"], prompt)
            return (
                others,
                again,
                list(await asyncio.gather(*(http.post(URL, json=body) for body in later))),
            )

    others, again, later = asyncio.run(run())

    assert rewards([again, *others]) == pytest.approx(SHARES)
    assert rewards(later) == pytest.approx([0.0, 2 / 3, 2 / 3, 2 / 3])


def test_a_post_that_comes_again_joins_the_judgement_that_runs(
    service: RunningService, provider: FakeProvider, seats: Seats
) -> None:
    """Nothing is judged twice for it."""
    gate = held(provider)
    bodies = singles(TEXTS)

    async def run() -> list[httpx.Response]:
        async with client(service) as http:
            tasks = [asyncio.create_task(http.post(URL, json=body)) for body in bodies]
            await arrived(provider)
            await hang_up(tasks[0])
            await sure(provider, lambda: seats.left == 1)
            tasks[0] = asyncio.create_task(http.post(URL, json=bodies[0]))
            await sure(provider, lambda: seats.taken == 5)
            gate.set()
            return list(await asyncio.gather(*tasks))

    assert rewards(asyncio.run(run())) == pytest.approx(SHARES)
    assert len(provider.requests) == 12


def test_a_group_that_nobody_waits_for_is_judged_when_they_are_back(
    service: RunningService, provider: FakeProvider, seats: Seats
) -> None:
    """All hang up while it is judged; they come back one after the other."""
    held(provider)
    bodies = singles(TEXTS)

    async def run() -> list[httpx.Response]:
        async with client(service) as http:
            tasks = [asyncio.create_task(http.post(URL, json=body)) for body in bodies]
            await arrived(provider, 12)
            await hang_up(*tasks)
            await sure(provider, lambda: seats.left == 4)
            provider.behave("main", behaviours.honest())
            return [await http.post(URL, json=body) for body in bodies]

    assert rewards(asyncio.run(run())) == pytest.approx(SHARES)


def test_who_was_told_to_try_again_finds_its_group(
    service: RunningService, provider: FakeProvider, seats: Seats
) -> None:
    """A 503 at the end of one member's budget is no answer: the next post has the group's."""
    gate = held(provider)
    bodies = singles(TEXTS)
    short = openrlhf_url("pair", f"group=4&budget_s={SHORT_S}")

    async def run() -> tuple[httpx.Response, list[httpx.Response]]:
        async with client(service) as http:
            tasks = [asyncio.create_task(http.post(URL, json=body)) for body in bodies[1:]]
            await sure(provider, lambda: seats.taken == 3)
            first = await http.post(short, json=bodies[0])
            gate.set()
            others = await asyncio.gather(*tasks)
            return first, [await http.post(URL, json=bodies[0]), *others]

    first, answers = asyncio.run(run())

    assert (first.status_code, first.json()["error"]["code"]) == (503, "deadline_exceeded")
    assert rewards(answers) == pytest.approx(SHARES)
    assert len(provider.requests) == 12


def test_what_was_dropped_does_not_come_back(
    service: RunningService, provider: FakeProvider, seats: Seats
) -> None:
    """A trainer that drops a sample was told all there is: the same text is a new member."""
    gate = held(provider)
    prompt = new_prompt()
    bodies = singles(["4 a", "2 b"], prompt)
    short = openrlhf_url("pair", f"group=2&budget_s={SHORT_S}&{DROP}")
    long = openrlhf_url("pair", f"group=2&budget_s=30&{DROP}")

    async def run() -> tuple[httpx.Response, list[httpx.Response]]:
        async with client(service) as http:
            other = asyncio.create_task(http.post(long, json=bodies[1]))
            await sure(provider, lambda: seats.taken == 1)
            dropped = await http.post(short, json=bodies[0])
            gate.set()
            await other
            new = singles(["4 a", "5 c"], prompt)
            return dropped, list(
                await asyncio.gather(*(http.post(long, json=body) for body in new))
            )

    dropped, later = asyncio.run(run())

    assert checked(dropped)["scores"] == [-1e6]
    assert rewards(later) == [0.0, 1.0]


def test_a_list_comes_back_whole(
    service: RunningService, provider: FakeProvider, seats: Seats
) -> None:
    """A request that brings a whole group is lost and posted again: the same group, judged once."""
    gate = held(provider)
    body = queries([*TEXTS, TEXTS[0]][:4])

    async def run() -> httpx.Response:
        async with client(service) as http:
            lost = asyncio.create_task(http.post(URL, json=body))
            await arrived(provider, 12)
            await hang_up(lost)
            await sure(provider, lambda: seats.left == 4)
            again = asyncio.create_task(http.post(URL, json=body))
            await sure(provider, lambda: seats.taken == 8)
            gate.set()
            return await again

    assert checked(asyncio.run(run()))["rewards"] == pytest.approx(SHARES)


NEMO = "/adapters/nemo-gym/pair/verify?group=2&budget_s=30"


def test_numbered_rollouts_come_back(
    service: RunningService, provider: FakeProvider, seats: Seats
) -> None:
    """A rollout has a name of its own: it finds its group by that, and one of a later step with the
    same name, whatever its text, does not.
    """
    gate = held(provider)
    prompt = new_prompt()

    def body(number: int, text: str) -> dict[str, Any]:
        return rollout(text, prompt, _ng_task_index=1, _ng_rollout_index=number)

    async def run() -> list[float]:
        async with client(service) as http:
            tasks = [asyncio.create_task(http.post(NEMO, json=body(n, text)))
                     for n, text in enumerate(["4 a", "2 b"])]  # fmt: skip
            await arrived(provider)
            await hang_up(tasks[0])
            await sure(provider, lambda: seats.left == 1)
            again = asyncio.create_task(http.post(NEMO, json=body(0, "4 a")))
            await sure(provider, lambda: seats.taken == 3)
            gate.set()
            found = [await again, await tasks[1]]
            found += await asyncio.gather(
                *(http.post(NEMO, json=body(n, text)) for n, text in enumerate(["4 a", "5 c"]))
            )
            return [checked(answer)["reward"] for answer in found]

    assert asyncio.run(run()) == [1.0, 0.0, 0.0, 1.0]


def test_a_number_is_free_when_its_rollout_left(
    service: RunningService, provider: FakeProvider, seats: Seats
) -> None:
    """A rollout that hung up before its group was complete does not keep its number from another
    text.
    """
    prompt = new_prompt()

    def body(number: int, text: str) -> dict[str, Any]:
        return rollout(text, prompt, _ng_task_index=1, _ng_rollout_index=number)

    async def run() -> list[float]:
        async with client(service) as http:
            lost = asyncio.create_task(http.post(NEMO, json=body(0, "1 old")))
            await sure(provider, lambda: seats.taken == 1)
            await hang_up(lost)
            await sure(provider, lambda: seats.left == 1)
            found = await asyncio.gather(
                *(http.post(NEMO, json=body(n, text)) for n, text in enumerate(["4 a", "2 b"]))
            )
            return [checked(answer)["reward"] for answer in found]

    assert asyncio.run(run()) == [1.0, 0.0]
    assert seen(provider) == {"4 a", "2 b"}


def test_a_failed_rollout_can_be_verified_again(
    service: RunningService, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A typed failure may be verified anew, one by one: each finds its group."""
    monkeypatch.setattr("judge_service.cohort.leader.FAILED_KEPT_S", 0.1)
    provider.behave("main", behaviours.says("no idea"))
    prompt = new_prompt()
    bodies = [rollout(text, prompt, _ng_task_index=1, _ng_rollout_index=n)
              for n, text in enumerate(["4 a", "2 b"])]  # fmt: skip
    short = NEMO.replace("budget_s=30", "budget_s=1")

    async def run() -> tuple[list[Any], list[Any]]:
        async with client(service) as http:
            bad = await asyncio.gather(*(http.post(short, json=body) for body in bodies))
            provider.behave("main", behaviours.honest())
            good = [await http.post(NEMO, json=body) for body in bodies]
            return [checked(answer) for answer in bad], [checked(answer) for answer in good]

    bad, good = asyncio.run(run())

    assert [answer["_ng_failure_class"] for answer in bad] == ["judge_failed"] * 2
    assert [answer["reward"] for answer in good] == [1.0, 0.0]
