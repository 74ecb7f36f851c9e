"""Judges that give no verdict: a failure without a reward."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.assess.support import (
    BUSY,
    GARBAGE,
    REWARD,
    assess,
)
from tests.harness import RunningService
from tests.provider import Behaviour, FakeProvider, behaviours, faults

NO_VERDICT: dict[str, tuple[Behaviour, int, bool]] = {
    "rate_limited": (faults.rate_limited(), 3, True),
    "upstream_error": (faults.status_error(500), 3, True),
    "upstream_auth": (faults.status_error(401), 1, False),
    "upstream_protocol": (faults.no_choices(), 3, True),
    "quota_exhausted": (faults.quota_exhausted(), 1, False),
    "context_too_long": (faults.context_too_long(), 1, False),
    "empty_reply": (faults.empty(), 2, True),
    "refused": (faults.refuses_to_judge(), 2, False),
    "content_filtered": (faults.content_filtered(), 2, False),
    "truncated_reply": (faults.cut_after_verdict(), 2, True),
    "unparsable": (behaviours.says("Four out of five."), 2, True),
    "off_scale": (behaviours.raw_value("9"), 2, True),
    "wrong_model": (behaviours.wrong_model(), 2, True),
}


@pytest.mark.parametrize("code", NO_VERDICT)
def test_no_verdict_is_a_failure_without_a_reward(
    code: str, service: RunningService, provider: FakeProvider
) -> None:
    """The code, whether asking again can help, one re-ask at most, and what was spent."""
    script, requests, retryable = NO_VERDICT[code]
    provider.behave("main", script)
    answer = assess(service)
    assert answer["status"] == "failed"
    assert answer["error"]["code"] == code
    assert answer["error"]["retryable"] is retryable
    assert answer["error"]["message"]
    assert answer["verdicts"] == []
    assert answer["criteria"] == {}
    assert answer["metrics"]["judge_failed"] == 1.0
    assert answer["usage"]["upstream_requests"] == len(provider.requests) == requests


def test_a_judge_that_is_late_is_a_timeout(service: RunningService, provider: FakeProvider) -> None:
    """Its attempt time is up, not the request's; every attempt counts, its price is unknown."""
    provider.behave("impatient", faults.hang())
    answer = assess(service, judges=["impatient"])
    assert answer["error"]["code"] == "timeout"
    assert answer["error"]["retryable"] is True
    assert answer["usage"]["upstream_requests"] == 3
    assert answer["usage"]["unknown_cost_calls"] == 3
    assert answer["usage"]["cost_usd"] is None


def test_a_request_whose_time_is_up_says_so(
    service: RunningService, provider: FakeProvider
) -> None:
    """The request's own time ends an attempt that could have gone on."""
    provider.behave("main", faults.hang())
    answer = assess(service, timeout_s=0.3)
    assert answer["error"]["code"] == "deadline_exceeded"
    assert answer["error"]["retryable"] is True
    assert answer["usage"]["upstream_requests"] == 1


@pytest.mark.parametrize(
    ("script", "requests", "code"),
    [
        ((GARBAGE, behaviours.honest()), 2, None),
        ((faults.empty(), behaviours.honest()), 2, None),
        ((behaviours.raw_value("9"), behaviours.honest()), 2, None),
        ((behaviours.wrong_model(), behaviours.honest()), 2, None),
        ((BUSY, GARBAGE, behaviours.honest()), 3, None),
        ((GARBAGE, BUSY, behaviours.honest()), 3, None),
        ((BUSY, BUSY, behaviours.honest()), 3, None),
        ((GARBAGE, GARBAGE, behaviours.honest()), 2, "unparsable"),
        ((GARBAGE, behaviours.raw_value("9"), behaviours.honest()), 2, "off_scale"),
        ((BUSY, GARBAGE, GARBAGE, behaviours.honest()), 3, "unparsable"),
        ((BUSY, BUSY, BUSY, behaviours.honest()), 3, "upstream_error"),
        ((faults.refuses("temperature"), GARBAGE, behaviours.honest()), 3, None),
    ],
)
def test_one_re_ask_and_three_requests_in_all(
    script: Sequence[Behaviour],
    requests: int,
    code: str | None,
    service: RunningService,
    provider: FakeProvider,
) -> None:
    """Retries, the re-ask and a dropped parameter come out of one budget of three."""
    provider.behave("unpriced", script)
    answer = assess(service, judges=["unpriced"])
    assert (answer["error"] or {}).get("code") == code
    assert answer["usage"]["upstream_requests"] == len(provider.requests) == requests
    if code is None:
        assert answer["reward"] == REWARD
        assert answer["verdicts"][0]["attempts"] == requests


def test_metrics_have_the_same_keys_whatever_happens(
    service: RunningService, provider: FakeProvider
) -> None:
    """A trainer that logs them never sees a key appear or go."""
    good = assess(service, rubric="two")["metrics"]
    empty = assess(service, "", rubric="two")["metrics"]
    own = assess(service, {"text": "x", "family": "alpha"}, rubric="two")["metrics"]
    provider.behave("main", faults.status_error(500))
    failed = assess(service, rubric="two")["metrics"]
    assert good.keys() == empty.keys() == own.keys() == failed.keys()
    assert {"criterion/quality", "criterion/clarity"} < good.keys()
