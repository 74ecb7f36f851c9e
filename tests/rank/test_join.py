"""Groups that form on the server: one request per member."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from judge_service.api.answers import JoinAnswer
from tests.harness import Judges, RunningService, judged_by, new_prompt, write_rubric
from tests.provider import FakeProvider, behaviours, faults

TEXTS = ["4 a", "2 b", "5 c", "1 d"]


def body(number: int, text: str, **more: Any) -> dict[str, Any]:
    """One member's request; a prompt's group has its name unless another is given."""
    return {
        "group": str(more.get("prompt", "A question?")), "size": 4, "member": str(number),
        "rubric": "quality", "judges": ["main"], "prompt": "A question?", "deadline_s": 20.0,
        "timeout_s": 20.0, "candidate": {"text": text, "family": "x"}, **more,
    }  # fmt: skip


async def join(http: httpx.AsyncClient, member: int, text: str, **more: Any) -> dict[str, Any]:
    """The answer to one member."""
    answer = await http.post("/v1/groups/join", json=body(member, text, **more))
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.json()
    JoinAnswer.model_validate(data)
    assert (data["reward"] is None) == (data["status"] == "failed") == (data["error"] is not None)
    return data


def client(service: RunningService) -> httpx.AsyncClient:
    """A client of one service."""
    return httpx.AsyncClient(base_url=service.url, timeout=60.0, trust_env=False)


def all_join(*services: RunningService, texts: list[str] = TEXTS, **more: Any) -> list[Any]:
    """All members at once, spread over the services."""

    async def run() -> list[Any]:
        async with clients_of(services) as clients:
            return list(
                await asyncio.gather(
                    *(
                        join(clients[n % len(clients)], member=n, text=text, **more)
                        for n, text in enumerate(texts)
                    )
                )
            )

    return asyncio.run(run())


@asynccontextmanager
async def clients_of(services: Sequence[RunningService]) -> AsyncIterator[list[httpx.AsyncClient]]:
    """A client for each service."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(client(service)) for service in services]


@pytest.fixture
def stores(tmp_path: Path) -> Path:
    """The file that several processes share."""
    return tmp_path / "store.sqlite3"


@pytest.fixture
def two(provider: FakeProvider, tmp_path: Path, stores: Path) -> Iterator[list[RunningService]]:
    """Two services over one store."""
    write_rubric(tmp_path)
    write_rubric(tmp_path, "pair", kind="compare")
    judges = Judges(provider).add("main", "alpha")
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                judged_by(judges, tmp_path, store=stores, secret="a secret for tests")
            )
            for _ in range(2)
        ]


def test_every_member_gets_its_own_reward(service: RunningService, provider: FakeProvider) -> None:
    """Nobody is answered before the group is there; then all are, and the bill is paid once."""
    answers = all_join(service, prompt=new_prompt())

    assert [a["reward"] for a in answers] == [0.75, 0.25, 1.0, 0.0]
    assert [a["rank"] for a in answers] == [2, 3, 1, 4]
    assert {a["group"]["members"] for a in answers} == {4}
    assert not any(a["group"]["partial"] for a in answers)
    assert sum(a["usage"]["upstream_requests"] for a in answers) == len(provider.requests) == 4


def test_members_reach_different_replicas(
    two: list[RunningService], provider: FakeProvider
) -> None:
    """One group over two services: each is judged once, all have the same summary."""
    answers = all_join(*two, prompt=new_prompt(), rubric="pair")

    assert [a["rank"] for a in answers] == [2, 3, 1, 4]
    assert len(provider.requests) == 12
    assert len({str(a["group"]) for a in answers}) == 1
    assert sum(a["usage"]["upstream_requests"] for a in answers) == 12


def test_the_same_member_may_come_again(service: RunningService, provider: FakeProvider) -> None:
    """Twice at once, or after the answer: the same reward, no new judgement."""
    prompt = new_prompt()

    async def run() -> list[dict[str, Any]]:
        async with client(service) as http:
            twice = [join(http, member=0, text=TEXTS[0], prompt=prompt) for _ in range(2)]
            others = [
                join(http, member=n, text=text, prompt=prompt) for n, text in enumerate(TEXTS) if n
            ]
            first = await asyncio.gather(*twice, *others)
            return [*first[:2], await join(http, member=0, text=TEXTS[0], prompt=prompt)]

    answers = asyncio.run(run())

    assert [a["reward"] for a in answers] == [0.75] * 3
    assert {a["group"]["generation"] for a in answers} == {1}
    assert len(provider.requests) == 4


def test_a_client_that_is_gone_can_come_back(
    service: RunningService, provider: FakeProvider
) -> None:
    """A member that hung up while waiting still counts, and finds its reward when it returns."""
    prompt = new_prompt()

    async def run() -> list[dict[str, Any]]:
        async with client(service) as gone, client(service) as http:
            left = asyncio.create_task(join(gone, member=0, text=TEXTS[0], prompt=prompt))
            second = asyncio.create_task(join(http, member=1, text=TEXTS[1], prompt=prompt))
            for _ in range(3):
                await http.get("/healthz")
            left.cancel()
            await asyncio.gather(left, return_exceptions=True)
            rest = [join(http, member=n, text=TEXTS[n], prompt=prompt) for n in (0, 2, 3)]
            return list(await asyncio.gather(second, *rest))

    answers = asyncio.run(run())

    assert [a["reward"] for a in answers] == [0.25, 0.75, 1.0, 0.0]


def test_the_timeout_header_bounds_one_callers_stay(
    service: RunningService, provider: FakeProvider
) -> None:
    """Waiting and judging together: its member stays for the others, and it may come back."""
    prompt = new_prompt()

    async def run() -> list[Any]:
        async with client(service) as http:
            hurried = await http.post(
                "/v1/groups/join",
                json=body(0, TEXTS[0], prompt=prompt),
                headers={"X-Request-Timeout-Ms": "300"},
            )
            rest = [join(http, member=n, text=TEXTS[n], prompt=prompt) for n in (1, 2, 3)]
            others = await asyncio.gather(*rest)
            back = await join(http, member=0, text=TEXTS[0], prompt=prompt)
            return [hurried.elapsed.total_seconds(), hurried.json(), back, *others]

    seconds, hurried, *answers = asyncio.run(run())

    assert seconds < 5.0
    assert hurried["error"]["code"] == "deadline_exceeded"
    assert (hurried["error"]["retryable"], hurried["reward"]) == (True, None)
    assert (hurried["group"]["members"], hurried["group"]["generation"]) == (1, 1)
    assert [a["reward"] for a in answers] == [0.75, 0.25, 1.0, 0.0]


def test_the_timeout_header_of_one_does_not_shorten_the_judging(
    service: RunningService, provider: FakeProvider
) -> None:
    """Who is in a hurry is told so; the others have their rewards."""
    provider.behave("main", behaviours.slow(behaviours.honest(), 1.0))
    prompt = new_prompt()

    async def run() -> list[Any]:
        async with client(service) as http:
            hurried = http.post(
                "/v1/groups/join",
                json=body(0, TEXTS[0], prompt=prompt),
                headers={"X-Request-Timeout-Ms": "400"},
            )
            rest = [join(http, member=n, text=TEXTS[n], prompt=prompt) for n in (1, 2, 3)]
            first, *others = await asyncio.gather(hurried, *rest)
            return [first.json(), *others]

    hurried, *others = asyncio.run(run())

    assert hurried["error"]["code"] == "deadline_exceeded"
    assert [a["reward"] for a in others] == [0.25, 1.0, 0.0]
    assert sum(a["usage"]["upstream_requests"] for a in others) == len(provider.requests) == 4


def test_a_group_that_is_not_complete_fails_for_all(
    service: RunningService, provider: FakeProvider
) -> None:
    """At the deadline everybody is told, nobody has a number, and no judge was paid."""
    prompt = new_prompt()
    answers = all_join(service, texts=TEXTS[:3], prompt=prompt, deadline_s=0.3)

    assert {a["error"]["code"] for a in answers} == {"cohort_incomplete"}
    assert all(a["error"]["retryable"] for a in answers)
    assert {(a["group"]["members"], a["group"]["partial"]) for a in answers} == {(3, False)}
    assert provider.requests == []

    straggler = service.http.post(
        "/v1/groups/join", json=body(3, TEXTS[3], prompt=prompt, deadline_s=0.3)
    ).json()
    assert straggler["error"]["code"] == "cohort_incomplete"
    assert (straggler["group"]["members"], straggler["group"]["partial"]) == (3, False)


def test_a_partial_group_can_be_enough(service: RunningService, provider: FakeProvider) -> None:
    """With at_least the members that are there are judged at the deadline."""
    answers = all_join(
        service, texts=TEXTS[:3], prompt=new_prompt(), deadline_s=0.3, partial={"at_least": 3}
    )

    assert [a["reward"] for a in answers] == [0.75, 0.25, 1.0]
    assert all(a["group"]["partial"] for a in answers)

    too_few = all_join(
        service, texts=TEXTS[:2], prompt=new_prompt(), deadline_s=0.3, partial={"at_least": 3}
    )
    assert {a["error"]["code"] for a in too_few} == {"cohort_incomplete"}


def test_other_content_is_a_new_generation(service: RunningService, provider: FakeProvider) -> None:
    """The same group name with other answers, or another prompt, begins anew."""
    prompt = new_prompt()
    first = all_join(service, prompt=prompt)
    second = all_join(service, prompt=prompt, texts=["1 e", "5 f", "2 g", "4 h"])
    third = all_join(service, prompt=new_prompt(), group=prompt)

    assert [a["reward"] for a in first] == [0.75, 0.25, 1.0, 0.0]
    assert [a["reward"] for a in second] == [0.0, 1.0, 0.25, 0.75]
    assert [a["reward"] for a in third] == [0.75, 0.25, 1.0, 0.0]
    assert [group[0]["group"]["generation"] for group in (first, second, third)] == [1, 2, 3]


def test_the_same_group_twice_in_flight(service: RunningService, provider: FakeProvider) -> None:
    """Two groups of one name fill side by side, each member once in each."""
    prompt = new_prompt()
    others = ["1 e", "5 f", "2 g", "4 h"]

    async def run() -> list[dict[str, Any]]:
        async with client(service) as http:
            mixed = [(n, text) for n, pair in enumerate(zip(TEXTS, others, strict=True))
                     for text in pair]  # fmt: skip
            return list(
                await asyncio.gather(
                    *(join(http, member=n, text=text, prompt=prompt) for n, text in mixed)
                )
            )

    answers = asyncio.run(run())

    assert [a["reward"] for a in answers] == [0.75, 0.0, 0.25, 1.0, 1.0, 0.25, 0.0, 0.75]
    assert sorted(a["group"]["generation"] for a in answers) == [1] * 4 + [2] * 4


def test_runs_do_not_meet(service: RunningService, provider: FakeProvider) -> None:
    """The same group in another run is another group."""
    prompt = new_prompt()
    half = all_join(service, prompt=prompt, texts=TEXTS[:2], size=2, run="one")
    other = all_join(service, prompt=prompt, texts=TEXTS[:2], size=2, run="two")

    assert [a["group"]["generation"] for a in half + other] == [1] * 4


def test_a_failed_group_can_be_tried_again(service: RunningService, provider: FakeProvider) -> None:
    """A judge's failure is told to all; a later retry is judged, and costs what is missing."""
    prompt = new_prompt()
    provider.behave("main", behaviours.chokes_on("c"))
    failed = all_join(service, prompt=prompt)
    assert {a["error"]["code"] for a in failed} == {"unparsable"}
    assert all(a["reward"] is None for a in failed)


@pytest.mark.parametrize("rubric", ["quality", "pair"])
def test_a_member_without_a_verdict_is_named(
    service: RunningService, provider: FakeProvider, rubric: str
) -> None:
    """By its own name: nobody has sent the members as a list, so a place in one says nothing."""
    provider.behave("main", behaviours.chokes_on("one that fails"))

    async def run() -> list[dict[str, Any]]:
        more = {"prompt": new_prompt(), "size": 11, "rubric": rubric}
        async with client(service) as http:
            members = [
                join(http, n, "3 one that fails" if n == 10 else f"{1 + n % 5} text {n}", **more)
                for n in range(11)
            ]
            return list(await asyncio.gather(*members))

    told = {a["error"]["message"].split(": ")[0] for a in asyncio.run(run())}

    assert told == {"member '10'"}


def test_one_member_is_assessed(service: RunningService, provider: FakeProvider) -> None:
    """A group of one is an assessment; a rubric that compares has nothing to compare."""
    (alone,) = all_join(service, texts=["4 a"], size=1)
    assert (alone["reward"], alone["rank"], alone["group"]["size"]) == (0.75, 1, 1)

    refused = service.http.post("/v1/groups/join", json=body(0, "4 a", size=1, rubric="pair"))
    assert refused.status_code == 422


@pytest.mark.parametrize(
    "more",
    [
        {"size": 0}, {"size": 65}, {"member": ""}, {"group": ""}, {"deadline_s": 0},
        {"partial": "maybe"}, {"partial": {"at_least": 1}}, {"partial": {"at_least": 5}},
        {"rubric": "nothing"}, {"judges": ["nobody"]}, {"size": True}, {"upstream": "x"},
    ],
    ids=str,
)  # fmt: skip
def test_a_member_that_cannot_be_right(
    service: RunningService, provider: FakeProvider, more: dict[str, Any]
) -> None:
    """The caller's mistake is told at once, not when the group is complete."""
    answer = service.http.post("/v1/groups/join", json={**body(0, "4 a"), **more})

    assert answer.status_code in (404, 422)
    assert provider.requests == []


def test_an_outage_is_no_number(service: RunningService, provider: FakeProvider) -> None:
    """A judge that is down fails the group with its own code."""
    provider.behave("failing", faults.status_error(401))
    answers = all_join(service, prompt=new_prompt(), judges=["failing"])

    assert {a["error"]["code"] for a in answers} == {"upstream_auth"}
    assert {a["group"]["members"] for a in answers} == {4}


def test_members_in_a_hurry_and_others_are_one_group(
    service: RunningService, provider: FakeProvider
) -> None:
    """How long a member waits is no part of what the group is."""
    prompt = new_prompt()

    async def run() -> list[dict[str, Any]]:
        async with client(service) as http:
            return list(
                await asyncio.gather(
                    *(
                        join(http, n, text, prompt=prompt, timeout_s=15.0 + n, deadline_s=10.0 + n)
                        for n, text in enumerate(TEXTS)
                    )
                )
            )

    answers = asyncio.run(run())

    assert [a["reward"] for a in answers] == [0.75, 0.25, 1.0, 0.0]
    assert {a["group"]["generation"] for a in answers} == {1}


def test_a_straggler_is_told_at_once_whatever_came_between(
    service: RunningService, provider: FakeProvider
) -> None:
    """Another group of the same name, since then, does not make it wait in vain."""
    prompt, other = new_prompt(), new_prompt()
    all_join(service, texts=TEXTS[:3], prompt=prompt, deadline_s=0.3, group="busy")
    all_join(service, texts=TEXTS, prompt=other, group="busy")
    straggler = service.http.post(
        "/v1/groups/join", json=body(3, TEXTS[3], prompt=prompt, deadline_s=20.0, group="busy")
    ).json()

    assert straggler["error"]["code"] == "cohort_incomplete"


def test_many_prompts_under_one_group_name(service: RunningService, provider: FakeProvider) -> None:
    """A dozen contents open at once, each waiting for its second member, keep apart."""
    prompts = [new_prompt() for _ in range(12)]

    async def run() -> list[list[dict[str, Any]]]:
        async with client(service) as http:
            halves = []
            for member, text in enumerate(TEXTS[:2]):
                halves.append([
                    asyncio.create_task(
                        join(http, member, text, prompt=prompt, group="one name", size=2)
                    )
                    for prompt in prompts
                ])  # fmt: skip
                for _ in range(5):
                    await http.get("/healthz")
            return [list(await asyncio.gather(*half)) for half in halves]

    first, second = asyncio.run(run())

    assert [a["reward"] for a in first] == [0.75] * 12
    assert [a["reward"] for a in second] == [0.25] * 12
    numbers = [a["group"]["generation"] for a in first]
    assert numbers == [a["group"]["generation"] for a in second]
    assert sorted(numbers) == list(range(1, 13))


def test_many_groups_of_one_name_and_prompt(
    service: RunningService, provider: FakeProvider
) -> None:
    """A dozen groups of the same members with other answers, one after the other, and the first
    one's answer is still there; those of another dozen in flight fill in the order they came.
    """
    prompt = new_prompt()
    one_by_one = [
        all_join(service, texts=[f"4 a{n}", f"2 b{n}"], prompt=prompt, size=2) for n in range(6)
    ]
    together = all_join(
        service, texts=[f"{1 + n % 5} c{n}" for n in range(24)], prompt=new_prompt(), size=2
    )

    assert [[a["reward"] for a in group] for group in one_by_one] == [[0.75, 0.25]] * 6
    again = all_join(service, texts=["4 a0", "2 b0"], prompt=prompt, size=2)
    assert [a["group"]["generation"] for a in again] == [1, 1]
    assert [a["reward"] for a in together] == [n % 5 / 4 for n in range(24)]
    assert sorted(a["group"]["generation"] for a in together) == sorted([*range(1, 13)] * 2)
