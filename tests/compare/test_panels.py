"""Pairs before several judges."""

from __future__ import annotations

import pytest

from tests.compare.support import (
    BAD_TEXT,
    GARBAGE,
    GOOD_TEXT,
    TIES,
    asked,
    compare,
)
from tests.harness import RunningService
from tests.provider import Behaviour, FakeProvider, behaviours


@pytest.mark.parametrize(
    ("scripts", "outcome"),
    [
        ({}, "first"),
        ({"cleo": behaviours.first_position()}, "first"),
        ({"cleo": TIES}, "first"),
        ({"cleo": GARBAGE}, "first"),
        ({"bea": TIES, "cleo": TIES}, "tie"),
        (
            {"bea": behaviours.first_position(), "cleo": behaviours.second_position()},
            "inconsistent",
        ),
        ({"bea": behaviours.first_position(), "cleo": TIES}, "inconsistent"),
        ({"bea": behaviours.first_position(), "cleo": GARBAGE}, "inconsistent"),
        ({"bea": GARBAGE, "cleo": GARBAGE}, None),
    ],
)
def test_the_majority_of_the_judges_asked_decides(
    scripts: dict[str, Behaviour],
    outcome: str | None,
    service: RunningService,
    provider: FakeProvider,
) -> None:
    """A judge that contradicts itself or gives no verdict has no vote but still counts as asked."""
    for judge, script in scripts.items():
        provider.behave(judge, script)
    answer = compare(service, GOOD_TEXT, BAD_TEXT, rubric="three")
    assert answer["outcome"] == outcome
    assert asked(provider) == ["ann", "bea", "cleo"]
    if outcome is None:
        assert answer["error"]["code"] == "quorum_not_met"
        assert {v["judge"] for v in answer["verdicts"]} == {"ann"}
    assert [o["judge"] for o in answer["orders"]] == ["ann", "ann", "bea", "bea", "cleo", "cleo"]
