"""What an assessment cost."""

from __future__ import annotations

import pytest

from tests.assess.support import (
    BUSY,
    GARBAGE,
    assess,
)
from tests.harness import RunningService
from tests.provider import FakeProvider, Usage, behaviours


def test_failed_attempts_are_paid_for(service: RunningService, provider: FakeProvider) -> None:
    """A reply that was of no use still had its tokens; a refused request had none."""
    provider.behave("main", [BUSY, GARBAGE, behaviours.honest()])
    usage = assess(service)["usage"]
    assert (usage["upstream_requests"], usage["prompt_tokens"]) == (3, 1800)
    assert usage["completion_tokens"] == 120
    assert usage["cost_usd"] == pytest.approx(2 * (900 * 1.0 + 60 * 10.0) / 1e6)
    assert usage["unknown_cost_calls"] == 0


@pytest.mark.parametrize(
    ("judge", "reported", "cost", "unknown"),
    [
        ("main", Usage(), 0.0015, 0),
        ("listed", Usage(), 900 * 1.5e-07 + 60 * 6e-07, 0),
        ("unpriced", Usage(), None, 1),
        ("main", None, None, 1),
    ],
    ids=["price given", "price known by name", "no price", "no token counts"],
)
def test_a_cost_is_known_or_said_to_be_unknown(
    judge: str,
    reported: Usage | None,
    cost: float | None,
    unknown: int,
    service: RunningService,
    provider: FakeProvider,
) -> None:
    """A price that nobody knows is null and counted, never zero."""
    model = "gpt-4o-mini" if judge == "listed" else judge
    provider.behave(model, behaviours.with_usage(behaviours.honest(), reported))
    usage = assess(service, judges=[judge])["usage"]
    assert usage["cost_usd"] == (None if cost is None else pytest.approx(cost))
    assert usage["unknown_cost_calls"] == unknown
