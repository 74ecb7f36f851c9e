"""The tokens that a provider's own prompt cache served are told, whatever it calls them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judge_service.adapters.prices import PriceList
from judge_service.judges.judge import JudgeSpec
from tests.backend.support import Call, assess
from tests.harness import RunningService
from tests.observability.scrape import scrape
from tests.provider import Behaviour, FakeProvider, Reply, Seen, faults
from tests.provider.replies import completion, json_reply, verdict

TOLD: dict[str, dict[str, object]] = {
    "details": {"prompt_tokens_details": {"cached_tokens": 640}},
    "deepseek": {"prompt_cache_hit_tokens": 640, "prompt_cache_miss_tokens": 260},
    "anthropic gateway": {"cache_read_input_tokens": 640, "cache_creation_input_tokens": 0},
    "moonshot": {"cached_tokens": 640},
    "several": {"prompt_tokens_details": {"cached_tokens": 640}, "prompt_cache_hit_tokens": 640},
    "empty details": {"prompt_tokens_details": None, "prompt_cache_hit_tokens": 640},
}
UNTOLD: dict[str, dict[str, object]] = {
    "nothing": {},
    "null": {"prompt_tokens_details": None, "prompt_cache_hit_tokens": None},
    "negative": {"prompt_tokens_details": {"cached_tokens": -1}},
    "text": {"prompt_cache_hit_tokens": "640"},
    "truth": {"cached_tokens": True},
    "fraction": {"cache_read_input_tokens": 0.5},
    "a list": {"prompt_tokens_details": [640]},
}


def _usage(told: dict[str, object]) -> dict[str, object]:
    return {"prompt_tokens": 900, "completion_tokens": 60, **told}


def _honest(told: dict[str, object]) -> Behaviour:
    """An honest judge whose provider counts like this."""

    def reply(seen: Seen) -> Reply:
        body = completion(Reply(content=verdict(seen, seen.honest())), seen.model)
        return Reply(body=json.dumps({**body, "usage": _usage(told)}).encode())

    return reply


def _bare(told: dict[str, object]) -> Behaviour:
    body = {
        "model": "judge-a",
        "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}],
        "usage": _usage(told),
    }
    return faults.always(json_reply(200, body))


@pytest.mark.parametrize("told", TOLD.values(), ids=TOLD)
def test_cached_tokens_stand_in_usage_and_metrics(
    told: dict[str, object], service: RunningService, provider: FakeProvider
) -> None:
    """In the outcome, in the verdict that they belong to, and counted for the judge."""
    before = scrape(service.http).of("upstream_tokens_total", judge="main", type="cached")
    provider.behave("main", _honest(told))

    answer = assess(service)

    assert answer["usage"]["cached_tokens"] == 640
    assert answer["verdicts"][0]["usage"]["cached_tokens"] == 640
    assert answer["usage"]["prompt_tokens"] == 900
    after = scrape(service.http).of("upstream_tokens_total", judge="main", type="cached")
    assert after - before == 640


@pytest.mark.parametrize("told", UNTOLD.values(), ids=UNTOLD)
def test_what_is_no_count_is_none(
    told: dict[str, object], call: Call, provider: FakeProvider
) -> None:
    """A provider that counts oddly is not taken at its word, and its verdict counts."""
    reply = call(provider, _bare(told))
    assert reply.content == "hi"
    assert (reply.usage.prompt_tokens, reply.usage.cached_tokens) == (900, 0)


@pytest.mark.parametrize("told", TOLD.values(), ids=TOLD)
def test_cached_tokens_cost_what_cached_tokens_cost(told: dict[str, object]) -> None:
    """The list's price for them is taken, whatever they are called."""
    prices = PriceList()
    judge = JudgeSpec(id="judge", model="openai/gpt-4o", family="a", api_base="http://127.0.0.1:1")

    def cost(told: dict[str, Any]) -> float:
        found = prices.cost(judge, {"usage": _usage(told)}, {})
        assert found is not None
        return found

    assert cost(told) == cost(TOLD["details"]) < cost({})
