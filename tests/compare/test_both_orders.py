"""Both orders are always asked, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.compare.support import (
    BAD_TEXT,
    GARBAGE,
    GOOD_TEXT,
    SAME_TEXT,
    TIES,
    compare,
    seen,
    tie_in_one_order,
)
from tests.harness import RunningService
from tests.provider import Behaviour, FakeProvider, behaviours, faults

OUTCOMES = [
    (GOOD_TEXT, BAD_TEXT, behaviours.honest(), "first", 1.0, ("first", "first")),
    (BAD_TEXT, GOOD_TEXT, behaviours.honest(), "second", 0.0, ("second", "second")),
    (SAME_TEXT, "Another one.", behaviours.honest(), "tie", 0.5, ("tie", "tie")),
    (GOOD_TEXT, BAD_TEXT, TIES, "tie", 0.5, ("tie", "tie")),
    (GOOD_TEXT, BAD_TEXT, behaviours.first_position(), "inconsistent", None, ("first", "second")),
    (GOOD_TEXT, BAD_TEXT, behaviours.second_position(), "inconsistent", None, ("second", "first")),
]


@pytest.mark.parametrize(("first", "second", "script", "outcome", "preference", "orders"), OUTCOMES)
def test_both_orders_decide(
    first: str,
    second: str,
    script: Behaviour,
    outcome: str,
    preference: float | None,
    orders: Sequence[str],
    service: RunningService,
    provider: FakeProvider,
) -> None:
    """Two requests to one judge, mapped back; a position that wins both times wins nothing."""
    provider.behave("ann", script)
    answer = compare(service, first, second)
    assert answer["outcome"] == outcome
    assert answer["preference"] == preference
    assert answer["consistent"] is (outcome != "inconsistent")
    assert [(o["order"], o["choice"]) for o in answer["orders"]] == list(
        zip(("AB", "BA"), orders, strict=True)
    )
    assert [(v["judge"], v["order"], v["choice"]) for v in answer["verdicts"]] == [
        ("ann", "AB", orders[0]), ("ann", "BA", orders[1]),
    ]  # fmt: skip
    assert answer["metrics"][f"outcome/{outcome}"] == 1.0
    assert answer["usage"]["upstream_requests"] == len(provider.requests) == 2
    shown = [list(one.candidates.values()) for one in seen(provider)]
    assert sorted(shown) == sorted([[first, second], [second, first]])


def test_a_win_and_a_tie_are_inconsistent(service: RunningService, provider: FakeProvider) -> None:
    """Half a win is nobody's win."""
    provider.behave("ann", behaviours.decides(tie_in_one_order))
    answer = compare(service, GOOD_TEXT, BAD_TEXT)
    assert answer["outcome"] == "inconsistent"
    assert [o["choice"] for o in answer["orders"]] == ["first", "tie"]


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (GARBAGE, "unparsable"),
        (faults.status_error(500), "upstream_error"),
        (faults.status_error(401), "upstream_auth"),
        (behaviours.raw_value("null"), "unparsable"),
        (behaviours.raw_value('"candidate_3"'), "off_scale"),
        (behaviours.wrong_model(), "wrong_model"),
    ],
)
@pytest.mark.parametrize("good_order", ["AB", "BA"])
def test_one_order_without_a_verdict_is_a_failure(
    good_order: str, script: Behaviour, code: str, service: RunningService, provider: FakeProvider
) -> None:
    """Both orders were asked, the good verdict is kept, and there is no winner."""
    shown_first = GOOD_TEXT if good_order == "AB" else BAD_TEXT
    provider.behave(
        "ann",
        behaviours.when(
            lambda one: one.slots["candidate_1"] == shown_first, behaviours.honest(), script
        ),
    )
    answer = compare(service, GOOD_TEXT, BAD_TEXT)
    assert answer["status"] == "failed"
    assert answer["error"]["code"] == code
    assert {o["order"]: o["choice"] for o in answer["orders"]} == {
        "AB": "first" if good_order == "AB" else None,
        "BA": "first" if good_order == "BA" else None,
    }
    assert [(v["order"], v["choice"]) for v in answer["verdicts"]] == [(good_order, "first")]
    assert answer["usage"]["upstream_requests"] == len(provider.requests)
    assert answer["metrics"]["judge_failed"] == 1.0


def test_metrics_have_the_same_keys_whatever_happens(
    service: RunningService, provider: FakeProvider
) -> None:
    """Decided, settled without a judge, or failed."""
    decided = compare(service, GOOD_TEXT, BAD_TEXT)["metrics"]
    same = compare(service, GOOD_TEXT, GOOD_TEXT)["metrics"]
    provider.behave("ann", GARBAGE)
    failed = compare(service, GOOD_TEXT, BAD_TEXT)["metrics"]
    assert decided.keys() == same.keys() == failed.keys()
