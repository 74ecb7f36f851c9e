"""Rollouts without a verdict: typed rows, in time; mistakes are errors."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.digits import Digits
from tests.clients.nemo_gym.support import MARKS, post, server, verified
from tests.clients.stand_in import StandIn, Told, problem
from tests.provider import behaviours, faults
from tests.trainers.support import rollout


def test_a_failure_is_typed(judged: Digits) -> None:
    """HTTP 200 with a class, a reason and a mask; other rollouts have their rewards, and all rows
    have the same numbers.
    """
    judged.provider.behave("main", behaviours.chokes_on("unspeakable"))
    bodies = [rollout(f"4 {'unspeakable' if n % 4 == 0 else 'a'}") for n in range(16)]

    rows = verified(server(judged, timeout_s=8), *bodies)

    for n, row in enumerate(rows):
        if n % 4 == 0:
            assert row["_ng_failure_class"] == "judge_failed"
            assert row["_ng_failure_judge_error"].startswith("unparsable: ")
        else:
            assert (row["reward"], row["mask_sample"]) == (0.75, False)
    assert {frozenset(set(row) - MARKS) for row in rows} == {frozenset(set(rows[1]))}


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"status": "failed", "error": {"code": "server_error", "message": "no GPU"}}, "no GPU"),
        ({"status": "cancelled"}, "cancelled"),
        ({"status": "failed"}, "failed"),
    ],
    ids=["an error", "cancelled", "failed"],
)
def test_a_response_that_failed_is_no_candidate(
    judged: Digits, told: dict[str, Any], why: str
) -> None:
    """The policy's server broke: a class of its own, and no judge is asked about an empty text."""
    judged.provider.reset()
    body = rollout("")
    body["response"] |= told

    (row,) = verified(server(judged), body)

    assert row["_ng_failure_class"] == "rollout_failed"
    assert why in row["_ng_failure_judge_error"]
    assert judged.provider.requests == []


def test_an_outage_is_waited_for(judged: Digits) -> None:
    """A judge that comes back in time is no failure."""
    judged.provider.behave("main", [faults.status_error(500)] * 6 + [behaviours.honest()])

    (row,) = verified(server(judged), rollout("4 a"))

    assert row["reward"] == 0.75


@pytest.mark.parametrize("away", ["judge", "service"])
def test_an_outage_ends_in_time(judged: Digits, stand_in: StandIn, away: str) -> None:
    """One that stays is a typed row at the end of the time."""
    judged.provider.behave("main", faults.status_error(500))
    stand_in.says(Told(drop=True))

    (row,) = verified(
        server(judged if away == "judge" else stand_in, timeout_s=4.0), rollout("4 a")
    )

    code = "upstream_error" if away == "judge" else "unreachable"
    assert row["_ng_failure_judge_error"].startswith(f"{code}: ")


def test_mistakes_are_no_failures(judged: Digits, stand_in: StandIn) -> None:
    """An unknown rubric, a refused key and a rollout without input are errors, never a class."""
    stand_in.says(Told(status=401, body=problem("unauthorized")))
    empty = {**rollout("4 a"), "responses_create_params": {"input": []}}
    answers = [
        *post(server(judged, rubric="unknown"), rollout("4 a")),
        *post(server(stand_in), rollout("4 a")),
        *post(server(judged), empty),
    ]

    assert [answer.status_code for answer in answers] == [500] * 3
    assert not any("_ng_failure_class" in answer.text for answer in answers)
    assert judged.provider.requests == []
