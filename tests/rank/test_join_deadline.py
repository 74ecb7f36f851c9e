"""How long members wait for each other, and what they are told then."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.harness import RunningService, new_prompt
from tests.provider import FakeProvider, behaviours
from tests.rank.joining import TEXTS, all_join, body, client, join


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
