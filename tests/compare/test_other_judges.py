"""Another family in place of a judge, or to decide a flip."""

from __future__ import annotations

import pytest

from tests.compare.support import (
    BAD_TEXT,
    GARBAGE,
    GOOD_TEXT,
    TIES,
    asked,
    compare,
    flags,
)
from tests.harness import RunningService
from tests.provider import Behaviour, FakeProvider, behaviours, faults


def test_another_family_takes_over_the_whole_pair(
    service: RunningService, provider: FakeProvider
) -> None:
    """Both orders are asked of it, never one of each judge; three requests an order at most."""
    provider.behave(
        "ann",
        behaviours.when(
            lambda one: one.slots["candidate_1"] == GOOD_TEXT, behaviours.honest(), GARBAGE
        ),
    )
    answer = compare(service, GOOD_TEXT, BAD_TEXT, rubric="fallback")
    assert answer["outcome"] == "first"
    assert {v["judge"] for v in answer["verdicts"]} == {"bea"}
    assert "unparsable" in flags(answer)["fallback_judge"]
    assert len(provider.requests) == answer["usage"]["upstream_requests"] == 5


def test_a_second_family_that_fails_too_is_a_failure(
    service: RunningService, provider: FakeProvider
) -> None:
    """The first judge's error and orders stand; nothing is flagged."""
    provider.behave("ann", faults.status_error(500))
    provider.behave("bea", GARBAGE)
    answer = compare(service, GOOD_TEXT, BAD_TEXT, rubric="fallback")
    assert answer["error"]["code"] == "upstream_error"
    assert flags(answer) == {}
    assert asked(provider) == ["ann", "bea"]
    assert len(provider.requests) == 6


@pytest.mark.parametrize(
    ("bea", "outcome", "requests"),
    [
        (behaviours.honest(), "first", 4),
        (TIES, "tie", 4),
        (behaviours.first_position(), "inconsistent", 4),
        (GARBAGE, "inconsistent", 6),
    ],
)
def test_one_more_family_can_decide(
    bea: Behaviour, outcome: str, requests: int, service: RunningService, provider: FakeProvider
) -> None:
    """Where the rubric escalates, in both orders; what it leaves open stays open."""
    provider.behave("ann", behaviours.first_position())
    provider.behave("bea", bea)
    answer = compare(service, GOOD_TEXT, BAD_TEXT, rubric="escalate")
    assert answer["outcome"] == outcome
    assert "bea" in flags(answer)["escalated"]
    assert len(provider.requests) == requests


def test_a_consistent_pair_is_not_escalated(
    service: RunningService, provider: FakeProvider
) -> None:
    """There is nothing to decide."""
    answer = compare(service, GOOD_TEXT, BAD_TEXT, rubric="escalate")
    assert answer["outcome"] == "first"
    assert flags(answer) == {}
    assert asked(provider) == ["ann"]
