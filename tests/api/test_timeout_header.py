"""``X-Request-Timeout-Ms``: how long a caller waits."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest

from judge_service.api.answers import ProblemAnswer
from tests.harness import RunningService, new_prompt
from tests.http_api import GOOD
from tests.provider import FakeProvider, behaviours


def late(service: RunningService, headers: Mapping[str, str], **fields: object) -> float:
    """The seconds until a request on a judge that takes too long has failed."""
    started = time.monotonic()
    answer = service.http.post(
        "/v1/assess",
        json={**GOOD, "prompt": new_prompt(), "judges": ["alpha"], **fields},
        headers=dict(headers),
    )
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["reward"]) == ("failed", None)
    assert answer.json()["error"]["code"] in {"timeout", "deadline_exceeded"}
    return time.monotonic() - started


def test_the_timeout_header_shortens(service: RunningService, provider: FakeProvider) -> None:
    """``X-Request-Timeout-Ms`` ends a request before the body's own timeout."""
    provider.behave("alpha", behaviours.slow(behaviours.honest(), 50.0))

    assert late(service, {"x-request-timeout-ms": "400"}, timeout_s=40) < 20.0


def test_the_timeout_header_never_lengthens(
    service: RunningService, provider: FakeProvider
) -> None:
    """A header beyond the body's timeout changes nothing."""
    provider.behave("alpha", behaviours.slow(behaviours.honest(), 50.0))

    assert late(service, {"x-request-timeout-ms": "600000"}, timeout_s=0.4) < 20.0


@pytest.mark.parametrize("value", ["0", "-5", "1.5", "abc", "", "1e3", "0x10", "1_0", "٣"])
def test_a_timeout_header_that_is_no_number(service: RunningService, value: str) -> None:
    """Anything but a whole number of milliseconds is refused."""
    answer = service.http.post(
        "/v1/assess", json=GOOD, headers=[(b"x-request-timeout-ms", value.encode())]
    )

    assert answer.status_code == 422
    assert ProblemAnswer.model_validate(answer.json()).error.field == "X-Request-Timeout-Ms"


def test_a_timeout_header_that_is_huge(service: RunningService) -> None:
    """A header of any length is only a number that does not shorten."""
    answer = service.http.post(
        "/v1/assess", json=GOOD, headers={"x-request-timeout-ms": "9" * 5_000}
    )

    assert answer.json()["status"] == "success"
