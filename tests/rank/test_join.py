"""Groups that form on the server: one request per member."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Judges, RunningService, judged_by, new_prompt, write_rubric
from tests.provider import FakeProvider, behaviours, faults
from tests.rank.joining import all_join, body, client, join


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
