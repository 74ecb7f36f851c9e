"""Keys go where they belong and are never shown."""

from __future__ import annotations

import json

import pytest

from tests.backend.support import KEY, LEAK, assess
from tests.harness import RunningService
from tests.provider import Behaviour, FakeProvider, Reply, Seen, faults
from tests.provider.replies import error


def _echoes_the_key(status: int) -> Behaviour:
    def reply(seen: Seen) -> Reply:
        sent = seen.headers["authorization"]
        return error(status, f"bad header {sent}, key {sent.removeprefix('Bearer ')}", code=sent)

    return reply


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 429, 500, 200])
def test_a_key_is_sent_and_never_shown(
    status: int, service: RunningService, provider: FakeProvider
) -> None:
    """Not even when the provider quotes it back."""
    provider.behave("keyed", _echoes_the_key(status))
    answer = assess(service, "keyed")
    assert provider.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert answer["status"] == "failed"
    assert KEY not in json.dumps(answer)


def test_a_redirect_carries_nothing_away(service: RunningService, provider: FakeProvider) -> None:
    """It is not followed, so neither the key nor the text arrives elsewhere."""
    provider.behave("keyed", faults.redirected())
    assert assess(service, "keyed")["error"]["code"] == "upstream_protocol"
    assert provider.elsewhere == []


def test_a_judge_at_an_address_never_gets_a_key_of_the_environment(
    service: RunningService, provider: FakeProvider
) -> None:
    """Keys that LiteLLM would look up by itself are for the protocol's usual provider."""
    assert assess(service)["reward"] == 0.75
    assert LEAK not in json.dumps(dict(provider.requests[0].headers))
    assert LEAK not in json.dumps(provider.requests[0].body)
