"""Groups of one name: which members belong together, at once and one after the other."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.harness import RunningService, new_prompt
from tests.provider import FakeProvider
from tests.rank.joining import TEXTS, all_join, client, join


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
