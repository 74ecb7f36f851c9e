"""Every error of LiteLLM and of providers is mapped; one call is one request."""

from __future__ import annotations

import pytest

from judge_service.adapters.exchange import Exchange
from judge_service.adapters.litellm_errors import BY_CLASS, translate
from judge_service.errors import JudgingError, UpstreamAuthError, UpstreamError
from judge_service.judging.fit import window_in
from tests.backend.support import CODES, Call, exceptions
from tests.provider import Behaviour, FakeProvider, behaviours, faults
from tests.provider.replies import json_reply


def test_every_exception_of_litellm_is_mapped() -> None:
    """By its own name: a class that a new version brings must be looked at."""
    found = exceptions()
    assert len(found) > 20
    assert sorted(found.keys() - BY_CLASS.keys()) == []


def test_an_exception_becomes_an_error_of_ours() -> None:
    """Whatever the class, without an HTTP exchange to go by, its own code is in the closed set."""
    for name, found in exceptions().items():
        made = type(name, (found,), {"__init__": lambda self: None, "__str__": lambda self: "why"})
        mapped = translate(made(), Exchange(), judge="a", sent=frozenset())
        assert isinstance(mapped, JudgingError)
        assert mapped.code in CODES
        assert type(mapped) is BY_CLASS[name][0]


@pytest.mark.parametrize("unknown", [ValueError("odd"), RuntimeError(), KeyError("choices")])
def test_any_other_exception_is_an_upstream_error(unknown: Exception) -> None:
    """LiteLLM lets anything through."""
    mapped = translate(unknown, Exchange(), judge="a", sent=frozenset())
    assert isinstance(mapped, JudgingError)
    assert mapped.code == "upstream_error"


_PLAIN_ERROR: dict[str, tuple[Behaviour, str]] = {
    "429": (faults.rate_limited(), "rate_limited"),
    "500": (faults.status_error(500), "upstream_error"),
    "503 page": (faults.unavailable(503), "upstream_error"),
    "401": (faults.status_error(401), "upstream_auth"),
    "408": (faults.status_error(408), "upstream_error"),
    "no choices": (faults.no_choices(), "upstream_protocol"),
    "200 page": (faults.unavailable(200), "upstream_protocol"),
    "reset": (faults.network("reset"), "upstream_error"),
    "redirect": (faults.redirected(), "upstream_protocol"),
}


@pytest.mark.parametrize("kind", _PLAIN_ERROR)
def test_one_call_is_one_request(kind: str, provider: FakeProvider, call: Call) -> None:
    """LiteLLM's retries, and those of the SDK under it, are off."""
    script, code = _PLAIN_ERROR[kind]
    with pytest.raises(JudgingError) as raised:
        call(provider, script)
    assert raised.value.code == code
    assert len(provider.requests) == 1
    assert provider.elsewhere == []


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (
            400,
            {"error": {"message": "prompt is too long: 9 tokens > 8"}},
            "context_too_long",
        ),
        (400, {"error": "This model's maximum prompt length is 131072"}, "context_too_long"),
        (400, {"message": "Range of input length should be [1, 30720]"}, "context_too_long"),
        (413, {"error": {"message": "Request exceeds the context window"}}, "context_too_long"),
        (413, {"error": {"message": "Request too large for this model"}}, "context_too_long"),
        (413, "<h1>413 Request Entity Too Large</h1>", "context_too_long"),
        (
            422,
            {"error": "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 + 512"},
            "context_too_long",
        ),
        (400, {"error": {"code": "content_filter", "message": "no"}}, "content_filtered"),
        (402, {"error": {"message": "Insufficient Balance"}}, "quota_exhausted"),
        (429, {"error": {"code": "insufficient_quota", "message": "no"}}, "quota_exhausted"),
        (429, {"error": {"type": "insufficient_quota", "message": "no"}}, "quota_exhausted"),
        (429, {"error": {"message": "Slow down"}}, "rate_limited"),
        (429, {"error": {"code": "Throttling.AllocationQuota"}}, "rate_limited"),
        (429, {"error": {"message": "Free allocated quota exceeded."}}, "quota_exhausted"),
        (403, {"error": {"code": "AllocationQuota.FreeTierOnly"}}, "quota_exhausted"),
        (
            403,
            {"error": {"message": "The free tier of the model has been exhausted."}},
            "quota_exhausted",
        ),
        (403, {"message": "Sorry, your account balance is insufficient"}, "quota_exhausted"),
        (403, {"error": {"code": "AccountOverdueError"}}, "quota_exhausted"),
        (429, {"error": {"message": "您的账户已欠费，请充值后重试"}}, "quota_exhausted"),
        (403, {"error": {"message": "Your credit balance is too low"}}, "quota_exhausted"),
        (
            400,
            {"error": {"message": "You have reached your specified API usage limits."}},
            "quota_exhausted",
        ),
        (
            400,
            {
                "error": {
                    "message": "Budget has been exceeded! Max budget: 1",
                    "code": "budget_exceeded",
                }
            },
            "quota_exhausted",
        ),
        (429, {"error": {"message": "ExceededBudget: User over budget"}}, "quota_exhausted"),
        (429, {"error": {"message": "You hit your monthly spend limit"}}, "quota_exhausted"),
        (
            429,
            {
                "error": {
                    "message": "Your account is not active, please check your billing "
                    "details on our website."
                }
            },
            "quota_exhausted",
        ),
        (403, {"error": {"message": "Key limit exceeded (total limit)."}}, "quota_exhausted"),
        (
            400,
            {
                "error": {
                    "code": "invalid_prompt",
                    "message": "Your prompt was flagged as potentially violating our usage policy.",
                }
            },
            "content_filtered",
        ),
        (400, {"error": {"message": "Your credit balance is too low"}}, "quota_exhausted"),
        (400, {"error": {"code": "billing_hard_limit_reached"}}, "quota_exhausted"),
        (429, {"error": {"type": "exceeded_current_quota_error"}}, "quota_exhausted"),
        (403, {"error": "The team has used all available credits"}, "quota_exhausted"),
        (422, {"error": "`inputs` must have less than 4096 tokens"}, "context_too_long"),
        (400, {"message": "longer than the maximum model length of 8192"}, "context_too_long"),
        (
            400,
            {
                "error": {
                    "message": "Provider returned error",
                    "code": 400,
                    "metadata": {
                        "raw": '{"error": {"message": "prompt is too long: 9 tokens > 8"}}'
                    },
                }
            },
            "context_too_long",
        ),
        (400, {"error": {"message": "API key not valid. Pass a valid one."}}, "upstream_auth"),
        (400, {"error": "Incorrect API key provided: ab***yz"}, "upstream_auth"),
        (403, {"detail": "no"}, "upstream_auth"),
        (422, {"detail": [{"loc": ["body"], "msg": "no"}]}, "upstream_error"),
        (404, {"error": {"message": "no such model"}}, "upstream_error"),
        (529, {"type": "error", "error": {"type": "overloaded_error"}}, "upstream_error"),
        (500, [], "upstream_error"),
        (500, {"error": None}, "upstream_error"),
        (400, {"error": {"message": {"odd": 1}, "code": 7, "param": ["x"]}}, "upstream_error"),
    ],
)
def test_what_a_provider_says_decides_the_code(
    status: int, body: object, code: str, provider: FakeProvider, call: Call
) -> None:
    """The HTTP status first, then the error's own words, in every provider's form."""
    with pytest.raises(JudgingError) as raised:
        call(provider, faults.always(json_reply(status, body)))
    assert raised.value.code == code


_GOOGLE_QUOTA = "You exceeded your current quota, please check your plan and billing details."


@pytest.mark.parametrize(
    ("quota", "delay", "code", "wait"),
    [
        ("GenerateContentInputTokensPerModelPerMinute-FreeTier", "26s", "rate_limited", 26.0),
        ("GenerateRequestsPerMinutePerProject", "0.847655010s", "rate_limited", 0.847655010),
        ("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "39s", "quota_exhausted", None),
        ("GenerateRequestsPerMinutePerProject", None, "quota_exhausted", None),
    ],
    ids=["a minute's", "less than a second", "a day's", "no wait told"],
)
@pytest.mark.parametrize("listed", [False, True], ids=["object", "list"])
def test_a_quota_that_fills_up_again_is_a_rate_limit(
    quota: str,
    delay: str | None,
    code: str,
    wait: float | None,
    listed: bool,
    provider: FakeProvider,
    call: Call,
) -> None:
    """Google says the same of both; the wait it asks for tells them apart."""
    details: list[dict[str, object]] = [{"violations": [{"quotaId": quota}] * 20}]
    if delay is not None:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    inner = {"code": 429, "message": _GOOGLE_QUOTA, "status": "RESOURCE_EXHAUSTED"}
    body = {"error": {**inner, "details": details}}
    with pytest.raises(JudgingError, match="You exceeded") as raised:
        call(provider, faults.always(json_reply(429, [body] if listed else body)))
    assert raised.value.code == code
    assert getattr(raised.value, "retry_after_s", None) == wait


@pytest.mark.parametrize(
    ("message", "window"),
    [
        ("This model's maximum context length is 8192 tokens. However, you sent 9001", 8192),
        ("prompt is too long: 200251 tokens > 200000 maximum", 200000),
        ("input length and max_tokens exceed context limit: 198393 + 20000 > 200000", 200000),
        ("Prompt contains 40000 tokens, too large for model with 32768 maximum context", 32768),
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4096),
        ("The input token count (1048580) exceeds the maximum number of tokens (1048576)", 1048576),
        ("Please reduce the length of the messages.", None),
    ],
)
def test_the_window_is_read_from_the_refusal(message: str, window: int | None) -> None:
    """In the words of the usual providers."""
    assert window_in(message) == window


def test_a_judge_that_is_not_there_is_named(provider: FakeProvider, call: Call) -> None:
    """A closed port is a connection that could not be made, not an error of the provider's."""
    provider.stop()
    try:
        with pytest.raises(UpstreamError, match="judge 'judge-a' cannot be reached"):
            call(provider, behaviours.honest())
    finally:
        provider.start()


@pytest.mark.parametrize(
    "said",
    [
        "InternalServerError: OpenAIException - Missing credentials. Please pass an `api_key`, …",
        "Missing Anthropic API Key - A call is being made to anthropic but no key is set",
        "Missing Gemini API key. Set the GEMINI_API_KEY or GOOGLE_API_KEY environment variable.",
        "APIConnectionError: Fireworks_aiException - FIREWORKS_API_KEY is not set",
    ],
    ids=["openai", "anthropic", "gemini", "fireworks"],
)
def test_a_key_that_is_missing_is_no_trouble_of_the_provider(said: str) -> None:
    """Nothing was sent: it is an authentication error, not retried, and names the field."""
    mapped = translate(RuntimeError(said), Exchange(), judge="a", sent=frozenset())

    assert isinstance(mapped, UpstreamAuthError)
    assert not mapped.retryable
    assert "judge 'a'" in str(mapped)
    assert "api_key_env" in str(mapped)
