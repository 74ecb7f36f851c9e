"""Batches: cut where the service's limits are, whole again in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from judge_client import (
    Assess,
    Assessed,
    AssessFailed,
    InvalidRequest,
    Join,
    JudgeClient,
    RequestRefused,
)

from tests.clients.stand_in import SUCCESS, Got, StandIn, Told, problem


def echo(got: Got) -> Told:
    """Every item's reward is what its metadata says."""
    rewards = [item["metadata"]["reward"] for item in got.body["items"]]
    return Told(body={"results": [{**SUCCESS, "reward": reward} for reward in rewards]})


def asked(count: int, text: str = "c") -> list[Assess]:
    """Items whose rewards tell them apart."""
    return [
        Assess(prompt="p", candidate=text, metadata={"reward": n / count}) for n in range(count)
    ]


@pytest.fixture
def client(stand_in: StandIn) -> JudgeClient:
    """A client of a stand-in that answers batches."""
    stand_in.script = echo
    return JudgeClient(stand_in.url, rubric="quality", timeout_s=30, family=["qwen", "deepseek"])


def rewards(results: list[Any]) -> list[float | None]:
    """The rewards, None for what failed."""
    return [result.reward if isinstance(result, Assessed) else None for result in results]


def test_one_batch_is_one_post(client: JudgeClient, stand_in: StandIn) -> None:
    """Up to 1,024 items are sent at once, each with its kind, its rubric and who wrote it."""
    results = client.assess_many(asked(1024))

    assert rewards(results) == [n / 1024 for n in range(1024)]
    (got,) = stand_in.requests
    assert got.path == "/v1/bulk"
    item = got.body["items"][0]
    assert (item["kind"], item["rubric"]) == ("assess", "quality")
    assert item["candidate"] == {"text": "c", "family": ["qwen", "deepseek"]}
    assert 15 < got.body["timeout_s"] < 30


def test_more_items_are_more_posts(client: JudgeClient, stand_in: StandIn) -> None:
    """Above 1,024 items the batch is cut, and the results are in the order of the items."""
    results = client.assess_many(asked(2500))

    assert rewards(results) == [n / 2500 for n in range(2500)]
    assert sorted(len(got.body["items"]) for got in stand_in.requests) == [452, 1024, 1024]


def test_long_items_are_more_posts(client: JudgeClient, stand_in: StandIn) -> None:
    """No body is larger than 64 MiB."""
    results = client.assess_many(asked(80, "x" * 1_000_000))

    assert rewards(results) == [n / 80 for n in range(80)]
    assert [
        int(got.headers["content-length"]) <= 64 * 1024 * 1024 for got in stand_in.requests
    ] == [
        True,
        True,
    ]


def test_an_outage_in_one_post_keeps_the_others(client: JudgeClient, stand_in: StandIn) -> None:
    """Verdicts of one POST are not lost with another one."""

    def script(got: Got) -> Told:
        first = got.body["items"][0]["metadata"]["reward"] == 0.0
        return Told(status=500, body=problem("internal")) if first else echo(got)

    stand_in.script = script

    results = client.assess_many(asked(1030))

    assert rewards(results) == [None] * 1024 + [n / 1030 for n in range(1024, 1030)]
    assert isinstance(results[0], AssessFailed)
    assert results[0].error.code == "internal"


def test_a_refused_batch_raises(client: JudgeClient, stand_in: StandIn) -> None:
    """A mistake that the service finds is raised."""
    stand_in.says(Told(status=422, body=problem("invalid_request", "items[1].candidate: unknown")))

    with pytest.raises(RequestRefused, match=r"items\[1\]"):
        client.assess_many(asked(2))


def moved(change: Callable[[list[Any]], list[Any]]) -> Callable[[Got], Told]:
    """Answers, metadata and all, in another order than that of the items."""

    def script(got: Got) -> Told:
        made = [
            {**SUCCESS, "reward": item["metadata"]["reward"], "metadata": item["metadata"]}
            for item in got.body["items"]
        ]
        return Told(body={"results": change(made)})

    return script


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda made: made, [0.0, 0.25, 0.5, 0.75]),
        (lambda made: made[::-1], [None] * 4),
        (lambda made: [made[1], made[0], *made[2:]], [None, None, 0.5, 0.75]),
        (lambda made: [made[0]] * 4, [0.0, None, None, None]),
        (lambda made: [{**made[0], "metadata": {"a": 0}}, *made[1:]], [None, 0.25, 0.5, 0.75]),
        (lambda made: [*made[:3], {**made[3], "metadata": [1]}], [0.0, 0.25, 0.5, None]),
    ],
    ids=["in order", "backwards", "swapped", "one for all", "without its mark", "no metadata"],
)  # fmt: skip
def test_an_answer_in_another_place_is_no_reward(
    client: JudgeClient,
    stand_in: StandIn,
    change: Callable[[list[Any]], list[Any]],
    expected: list[float | None],
) -> None:
    """Answers that are not where their requests are have failed; none is given to another."""
    stand_in.script = moved(change)

    results = client.assess_many(asked(4))

    assert rewards(results) == expected
    failed = [result.error for result in results if isinstance(result, AssessFailed)]
    assert {(error.code, error.at) for error in failed} <= {("protocol", "client")}


def test_an_answer_of_another_batch_is_no_reward(client: JudgeClient, stand_in: StandIn) -> None:
    """What a cache kept of a batch of as many items is not taken for the answer to this one."""
    kept: list[Told] = []

    def script(got: Got) -> Told:
        kept.append(moved(lambda made: made)(got))
        return kept[0]

    stand_in.script = script

    assert rewards(client.assess_many(asked(2))) == [0.0, 0.5]
    assert rewards(client.assess_many(asked(2, "another text"))) == [None, None]


def test_metadata_comes_back_as_it_was(client: JudgeClient, stand_in: StandIn) -> None:
    """What the client adds to know the answers again is not seen."""
    stand_in.says(Told(body={"results": [SUCCESS, SUCCESS]}))
    items = [*asked(1), Assess(prompt="p", candidate="c")]

    first, second = client.assess_many(items)

    assert first.metadata == {"reward": 0.0}
    assert second.metadata is None
    assert all("judge_client_item" not in str(result.raw) for result in (first, second))


def test_joins_do_not_go_in_batches(client: JudgeClient) -> None:
    """A call that waits for others is a call of its own."""
    with pytest.raises(InvalidRequest, match="group"):
        client.bulk([Join(prompt="p", candidate="c", group="g", size=2, member="m")])


def test_what_cannot_be_sent_names_its_item(client: JudgeClient, stand_in: StandIn) -> None:
    """An item that is no JSON refuses the batch before anything is sent."""
    items = [*asked(2), Assess(prompt="p", candidate="half \ud800 a pair")]

    with pytest.raises(InvalidRequest, match=r"items\[2\]\.candidate: .*surrogate"):
        client.assess_many(items)

    assert stand_in.requests == []
