"""What a request cost that brought no verdict, or odd counts: told, or said to be unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.backend.support import assess
from tests.harness import RunningService
from tests.provider import Behaviour, FakeProvider, Reply, Seen, faults
from tests.provider.replies import completion, verdict

COUNTS = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}


def replying(**changes: Any) -> Behaviour:
    """An honest completion with these counts, whose first choice is then changed."""

    def reply(seen: Seen) -> Reply:
        body = completion(Reply(content=verdict(seen, seen.honest())), seen.model)
        body["usage"] = COUNTS
        body["choices"][0].update(changes)
        return Reply(body=json.dumps(body).encode())

    return reply


def with_counts(**counts: Any) -> Behaviour:
    """An honest completion with odd counts."""

    def reply(seen: Seen) -> Reply:
        body = completion(Reply(content=verdict(seen, seen.honest())), seen.model)
        body["usage"] = {name: n for name, n in (COUNTS | counts).items() if n is not None}
        return Reply(body=json.dumps(body).encode())

    return reply


@pytest.mark.parametrize(
    "counts",
    [
        {"prompt_tokens": -1},
        {"prompt_tokens": None},
        {"prompt_tokens": 10**12},
        {"prompt_tokens": "1000"},
        {"completion_tokens": None},
        {"completion_tokens": True},
    ],
    ids=["negative", "missing", "huge", "a word", "no completion", "no number"],
)
def test_a_count_that_makes_no_sense_prices_nothing(
    service: RunningService, provider: FakeProvider, counts: dict[str, Any]
) -> None:
    """The other count alone is not what the request cost."""
    provider.behave("priced", with_counts(**counts))
    usage = assess(service, "priced")["usage"]

    assert (usage["cost_usd"], usage["unknown_cost_calls"]) == (None, 1)


@pytest.mark.parametrize(
    "choice",
    [{"message": None}, {"message": {"content": 7}}, {"finish_reason": 7}],
    ids=["no message", "no text", "no end"],
)
def test_a_reply_that_cannot_be_read_is_paid_for(
    service: RunningService, provider: FakeProvider, choice: dict[str, Any]
) -> None:
    """Its counts stand beside what is wrong with it."""
    provider.behave("priced", replying(**choice))
    answer = assess(service, "priced")
    usage = answer["usage"]

    assert answer["error"]["code"] == "upstream_protocol"
    requests = usage["upstream_requests"]
    assert usage["prompt_tokens"] == 1000 * requests
    assert usage["cost_usd"] == pytest.approx(0.0012 * requests)


@pytest.mark.parametrize(
    "behaviour",
    [faults.network("half"), faults.long_winded(), faults.unavailable(200)],
    ids=["broken off", "too large", "a page"],
)
def test_what_a_begun_reply_cost_is_unknown(
    service: RunningService, provider: FakeProvider, behaviour: Behaviour
) -> None:
    """A provider that had begun to answer will ask for money, who knows how much."""
    provider.behave("priced", behaviour)
    usage = assess(service, "priced")["usage"]

    assert usage["cost_usd"] is None
    assert usage["unknown_cost_calls"] == usage["upstream_requests"] > 0


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
def test_an_error_costs_nothing(
    service: RunningService, provider: FakeProvider, status: int
) -> None:
    """A provider that refuses or fails has done no work that it is paid for."""
    provider.behave("priced", faults.status_error(status))
    usage = assess(service, "priced", timeout_s=5)["usage"]

    assert (usage["cost_usd"], usage["unknown_cost_calls"]) == (0.0, 0)
