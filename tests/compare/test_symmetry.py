"""Symmetry, secrets and rubrics of pairs."""

from __future__ import annotations

import json

import pytest

from tests.compare.support import (
    BAD_TEXT,
    GARBAGE,
    GOOD_TEXT,
    MIRROR,
    TIES,
    compare,
    seen,
    tie_in_one_order,
)
from tests.harness import RunningService
from tests.provider import Behaviour, FakeProvider, behaviours, faults
from tests.provider.replies import error


@pytest.mark.parametrize(
    "script",
    [
        behaviours.honest(),
        TIES,
        behaviours.first_position(),
        behaviours.second_position(),
        behaviours.longer_wins(),
        behaviours.decides(tie_in_one_order),
    ],
)
def test_swapping_the_candidates_mirrors_the_outcome(
    script: Behaviour, service: RunningService, provider: FakeProvider
) -> None:
    """compare(a, b) and compare(b, a) are the same two requests."""
    provider.behave("ann", script)
    one = compare(service, GOOD_TEXT, BAD_TEXT)
    other = compare(service, BAD_TEXT, GOOD_TEXT)
    assert other["outcome"] == MIRROR[one["outcome"]]
    assert one["length_ratio"] * other["length_ratio"] == pytest.approx(1.0)
    shown = [tuple(one.candidates.values()) for one in seen(provider)]
    assert sorted(shown[:2]) == sorted(shown[2:])


def test_orders_and_attempts_share_no_secret(
    service: RunningService, provider: FakeProvider
) -> None:
    """Every request has its own nonce and tokens; none of them is in the answer."""
    provider.behave("ann", [GARBAGE, behaviours.leaks_secrets()])
    answer = json.dumps(compare(service, GOOD_TEXT, BAD_TEXT))
    found = seen(provider)
    assert len(found) == 3
    secrets = {secret for one in found for secret in (one.nonce, one.v, one.end)}
    assert len(secrets) == 9
    assert not any(secret in answer for secret in secrets)


def test_a_rubric_of_points_can_compare(service: RunningService, provider: FakeProvider) -> None:
    """Its questions become the criteria of the choice."""
    answer = compare(service, GOOD_TEXT, BAD_TEXT, rubric="quality")
    assert answer["outcome"] == "first"
    assert all(one.form == "choice" for one in seen(provider))
    assert "How good is the answer?" in seen(provider)[0].system
    assert answer["metrics"].keys() == compare(service, BAD_TEXT, GOOD_TEXT)["metrics"].keys()


def test_a_refused_parameter_is_dropped_in_both_orders(
    service: RunningService, provider: FakeProvider
) -> None:
    """Both orders may meet a refusal at once, and both go on: with the next lesser form."""
    no_schema = error(400, "json_schema is not supported here", param="response_format")
    strict = faults.refuses(
        "temperature",
        then=behaviours.when(
            lambda one: one.body.get("response_format", {}).get("type") == "json_schema",
            faults.always(no_schema),
            behaviours.honest(),
        ),
    )
    provider.behave("fussy", strict)
    answer = compare(service, GOOD_TEXT, BAD_TEXT, judges=["fussy"])
    assert answer["outcome"] == "first"
    # An order that is asked a moment later profits from what the other one has learnt.
    assert 4 <= len(provider.requests) <= 6
    last = provider.requests[-1].body
    assert last["response_format"] == {"type": "json_object"}
    provider.reset()
    provider.behave("fussy", strict)
    assert compare(service, GOOD_TEXT, BAD_TEXT, judges=["fussy"])["outcome"] == "first"
    assert len(provider.requests) == 2


@pytest.mark.parametrize("count", [1, 3])
def test_a_pair_is_two_candidates(count: int, service: RunningService) -> None:
    """Any other number is the caller's mistake."""
    body = {"rubric": "pair", "prompt": "Why?", "candidates": [{"text": "x"}] * count}
    assert service.http.post("/v1/compare", json=body).status_code == 422
