"""Trainers whose key has a daily limit: until it is known what judging costs, one finds out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from judge_service.access.cost_quota import CostQuota, Reservation
from judge_service.access.rate_quota import name_key
from tests.harness import new_prompt
from tests.keys.keyed import COST, Keyed, entry, keyed
from tests.keys.stores import Clock, SharedStore
from tests.provider import behaviours, faults
from tests.trainers.support import openrlhf_url, queries

KEY, LIMIT = "key-of-ann", 0.5
SLOW = behaviours.slow(behaviours.honest(), 0.05)


async def _all(own: Keyed, urls: Sequence[str], bodies: Sequence[Any]) -> list[httpx.Response]:
    limits = httpx.Limits(max_connections=200)
    async with httpx.AsyncClient(
        base_url=own.service.url, trust_env=False, timeout=60.0, limits=limits
    ) as http:
        posts = (http.post(url, json=body) for url, body in zip(urls, bodies, strict=True))
        return list(await asyncio.gather(*posts))


def post_all(own: Keyed, urls: Sequence[str], bodies: Sequence[Any]) -> list[httpx.Response]:
    """All at once."""
    return asyncio.run(_all(own, urls, bodies))


def url(rubric: str = "quality", query: str = "") -> str:
    """OpenRLHF's address with the key."""
    return openrlhf_url(rubric, f"token={KEY}&budget_s=4&{query}")


def spent(own: Keyed) -> float:
    """What judges were paid."""
    return COST * len(own.provider.requests)


def test_many_first_responses_stay_near_the_limit(tmp_path: Path) -> None:
    """Sixteen clients with a fresh key spend what it may, and one call more."""
    with keyed(tmp_path, entry("ann", KEY, daily_cost_usd=LIMIT)) as own:
        own.provider.behave("alpha", SLOW)
        bodies = [queries([f"4 text {n}"]) for n in range(16)]
        answers = post_all(own, [url()] * 16, bodies)

        assert LIMIT - COST <= spent(own) <= LIMIT + COST
        good = [answer for answer in answers if answer.status_code == 200]
        assert len(good) == len(own.provider.requests)
        assert {answer.status_code for answer in answers} <= {200, 429, 503}


def test_the_responses_of_one_list_stay_near_the_limit(tmp_path: Path) -> None:
    """So does a single request with sixteen."""
    with keyed(tmp_path, entry("ann", KEY, daily_cost_usd=LIMIT)) as own:
        own.provider.behave("alpha", SLOW)
        body = queries([f"4 text {n}" for n in range(16)])
        (answer,) = post_all(own, [url(query="on_fail=drop&filtering=on")], [body])

        assert LIMIT - COST <= spent(own) <= LIMIT + COST
        scores = answer.json()["scores"]
        assert scores.count(0.75) == len(own.provider.requests)
        assert scores.count(-1e6) == 16 - len(own.provider.requests)


@pytest.mark.parametrize("limit", [2 * COST, 0.5], ids=["one group", "some"])
def test_groups_find_out_what_a_group_costs(tmp_path: Path, limit: float) -> None:
    """Members are let in together, or no group would be complete; their groups are judged one
    after the other until it is known what one costs.
    """
    with keyed(tmp_path, entry("ann", KEY, daily_cost_usd=limit)) as own:
        own.provider.behave("alpha", SLOW)
        bodies = [
            queries([text], prompt=prompt)
            for prompt in (new_prompt() for _ in range(8))
            for text in ("4 a", "2 b")
        ]
        answers = post_all(own, [url("pair", "group=2")] * 16, bodies)

        group = 2 * COST
        assert limit - group <= spent(own) <= limit + group
        good = [answer for answer in answers if answer.status_code == 200]
        assert len(good) == len(own.provider.requests)


def test_a_first_request_whose_judge_is_away_does_not_hold_up_the_others(tmp_path: Path) -> None:
    """It finds out nothing while it is held; another one does."""
    with keyed(tmp_path, entry("ann", KEY, daily_cost_usd=LIMIT)) as own:
        away = faults.status_error(503)
        choosing = behaviours.when(
            lambda seen: "away" in (seen.candidate or ""), away, behaviours.honest()
        )
        own.provider.behave("alpha", choosing)

        async def run() -> list[httpx.Response]:
            async with httpx.AsyncClient(
                base_url=own.service.url, trust_env=False, timeout=60.0
            ) as http:
                first = asyncio.create_task(http.post(url(), json=queries(["4 away"])))
                assert await asyncio.to_thread(
                    own.provider.wait_until, lambda: bool(own.provider.requests)
                )
                second = await http.post(url(), json=queries(["4 here"]))
                assert not first.done()
                return [await first, second]

        first, second = asyncio.run(run())

    assert (first.status_code, second.status_code) == (503, 200)


def test_a_limit_costs_no_group_that_stays_incomplete(tmp_path: Path) -> None:
    """Nothing is asked ahead where money is counted."""
    with keyed(tmp_path, entry("ann", KEY, daily_cost_usd=LIMIT)) as own:
        bodies = [queries([text], prompt="A question?") for text in ("4 a", "2 b")]
        answers = post_all(own, [url("pair", "group=3")] * 2, bodies)

        assert [answer.status_code for answer in answers] == [503] * 2
        assert own.provider.requests == []


def test_a_group_of_one_waits_as_an_assessment_does(tmp_path: Path) -> None:
    """Joining alone is assessing."""
    with keyed(tmp_path, entry("ann", KEY, daily_cost_usd=LIMIT)) as own:
        own.provider.behave("alpha", SLOW)

        async def run() -> list[httpx.Response]:
            async with httpx.AsyncClient(
                base_url=own.service.url, trust_env=False, timeout=60.0,
                headers={"authorization": f"Bearer {KEY}"},
            ) as http:  # fmt: skip
                bodies = [
                    {"group": "g", "size": 1, "member": "m", "rubric": "quality",
                     "prompt": f"Question {n}?", "candidate": {"text": "4", "family": "own"}}
                    for n in range(16)
                ]  # fmt: skip
                posts = (http.post("/v1/groups/join", json=body) for body in bodies)
                return list(await asyncio.gather(*posts))

        answers = asyncio.run(run())

        assert LIMIT - COST <= spent(own) <= LIMIT + COST
        assert {answer.status_code for answer in answers} == {200, 429}


@pytest.mark.parametrize("cost", [0.2, 0.0], ids=["dearer", "free"])
@pytest.mark.parametrize("usual", [b"", b"100000"], ids=["no price yet", "a price is known"])
def test_a_group_that_goes_on_without_its_payer_costs_what_it_costs(
    cost: float, usual: bytes
) -> None:
    """The member in whose name it is judged may leave before it is over."""
    store, clock = SharedStore(), Clock()
    quota = CostQuota(store, clock=clock)

    async def left() -> int | None:
        await store.put(f"jq:usual:{name_key('ann')}", usual, 60.0)
        made = await quota.reserve("ann", 1.0)
        assert isinstance(made, Reservation)
        part = await quota.begin(made, 5.0)
        assert part is not None
        await quota.settle(made, 0.0, complete=False)
        await quota.end(made, part, cost, free=False)
        return await store.add(f"jq:usd:{name_key('ann')}:{int(clock() // 86_400)}", 0, 60.0)

    assert asyncio.run(left()) == pytest.approx(cost * 1e6)


def test_members_of_a_group_set_nothing_aside(tmp_path: Path) -> None:
    """A limit that has room for two groups lets all members of the second one in, although what a
    group costs is known by then; the third finds nothing left.
    """
    with keyed(tmp_path, entry("ann", KEY, daily_cost_usd=4 * 12 * COST / 2)) as own:
        answers = []
        for prompt in (new_prompt() for _ in range(3)):
            bodies = [queries([text], prompt=prompt) for text in ("4 a", "2 b", "5 c", "1 d")]
            answers += post_all(own, [url("pair", "group=4")] * 4, bodies)

    assert [answer.status_code == 200 for answer in answers] == [True] * 8 + [False] * 4
    assert len(own.provider.requests) == 24
