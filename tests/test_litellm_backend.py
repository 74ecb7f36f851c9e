"""Judges through LiteLLM: one call is one request, every error is mapped, nothing is given away."""

from __future__ import annotations

import asyncio
import inspect
import json
import resource
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from judge_service.adapters.guarded_transport import Exchange
from judge_service.adapters.litellm_backend import LiteLLMBackend, load_litellm
from judge_service.adapters.litellm_errors import BY_CLASS, translate
from judge_service.api.answers import ErrorCode
from judge_service.backend import ChatCall, ChatReply
from judge_service.capability import refused_parameters
from judge_service.errors import ConfigError, JudgingError, ParameterRefused
from judge_service.fit import window_in
from judge_service.judge import JudgeSpec, load_bench
from judge_service.settings import Settings
from tests.harness import Judges, RunningService, serve, write_rubric
from tests.provider import Behaviour, FakeProvider, Reply, Seen, behaviours, by_hand, faults
from tests.provider.replies import completion, error, json_reply, verdict

GOOD = 4
KEY_VARIABLE, KEY = "A_JUDGES_KEY", "quite-a-secret-key-0123456789"
LEAK = "sk-a-key-of-somebody-else-0123456789"
CODES = frozenset(ErrorCode.__args__)  # type: ignore[attr-defined]
JUDGES = ("main", "keyed", "stepper", "worded", "warm", "renamed", "budget", "both", "thinker",
          "text", "object", "extra", "stubborn", "effort", "routed", "plain", "lengthy",
          "lacking")  # fmt: skip


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of all judges; its honest score is 4 of 1 to 5."""
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A judge for each thing that a service remembers of one; the environment has other keys."""
    folder = tmp_path_factory.mktemp("backend")
    write_rubric(folder)
    more: dict[str, dict[str, object]] = {
        "keyed": {"api_key_env": KEY_VARIABLE},
        "text": {"reply": "text"},
        "object": {"reply": "json_object"},
        "extra": {"extra": {"top_p": 0.5, "seed": 7}, "temperature": 0.3, "max_output_tokens": 77},
        "effort": {"reasoning_effort": "low"},
    }
    judges = Judges(provider)
    for number, judge in enumerate(JUDGES):
        judges.add(judge, f"family-{number}", **more.get(judge, {}))
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("OPENAI_API_KEY", "AZURE_API_KEY", "LITELLM_API_KEY"):
            patch.setenv(variable, LEAK)
        settings = Settings(
            judges=judges.write(folder), rubrics_dir=folder / "rubrics", anchors_dir=folder
        )
        with serve(settings, {KEY_VARIABLE: KEY}) as service:
            yield service


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider) -> None:
    """Honest judges, no requests yet."""
    provider.reset()
    provider.oracle({}, default=GOOD)


def assess(service: RunningService, judge: str = "main", **more: Any) -> Any:
    """An assessment by one judge."""
    return service.assess(judges=[judge], **more)


def call(provider: FakeProvider, script: Behaviour, timeout_s: float = 5.0) -> ChatReply:
    """One call of the backend itself, without the layers above it."""
    provider.behave("judge-a", script)
    judge = JudgeSpec(
        id="judge-a", model="openai/judge-a", family="alpha", api_base=provider.base_url
    )
    one = ChatCall(judge=judge, system="You judge.", user=by_hand.ONE, timeout_s=timeout_s)

    async def complete() -> ChatReply:
        backend = LiteLLMBackend()
        try:
            return await backend.complete(one)
        finally:
            await backend.aclose()

    return asyncio.run(complete())


# Errors.


def _exceptions() -> dict[str, type[Exception]]:
    litellm = load_litellm()
    return {
        name: found
        for name, found in inspect.getmembers(litellm.exceptions, inspect.isclass)
        if issubclass(found, Exception)
        and not issubclass(found, Warning)
        and found.__module__.startswith(("litellm", "openai"))
    }


def test_every_exception_of_litellm_is_mapped() -> None:
    """By its own name: a class that a new version brings must be looked at."""
    found = _exceptions()
    assert len(found) > 20
    assert sorted(found.keys() - BY_CLASS.keys()) == []


def test_an_exception_becomes_an_error_of_ours() -> None:
    """Whatever the class, without an HTTP exchange to go by, its own code is in the closed set."""
    for name, found in _exceptions().items():
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
def test_one_call_is_one_request(kind: str, provider: FakeProvider) -> None:
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
        (400, {"error": {"code": "content_filter", "message": "no"}}, "content_filtered"),
        (402, {"error": {"message": "Insufficient Balance"}}, "quota_exhausted"),
        (429, {"error": {"code": "insufficient_quota", "message": "no"}}, "quota_exhausted"),
        (429, {"error": {"type": "insufficient_quota", "message": "no"}}, "quota_exhausted"),
        (429, {"error": {"message": "Slow down"}}, "rate_limited"),
        (403, {"error": {"message": "Your credit balance is too low"}}, "quota_exhausted"),
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
    status: int, body: object, code: str, provider: FakeProvider
) -> None:
    """The HTTP status first, then the error's own words, in every provider's form."""
    with pytest.raises(JudgingError) as raised:
        call(provider, faults.always(json_reply(status, body)))
    assert raised.value.code == code


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


# Replies.


def test_the_refusal_field_survives(provider: FakeProvider) -> None:
    """LiteLLM drops it; the raw reply has it."""
    reply = call(provider, faults.refuses_to_judge())
    assert reply.refusal == "I cannot help with judging this text."
    assert reply.content is None


def test_a_refusal_among_the_parts_of_the_content_is_one(
    service: RunningService, provider: FakeProvider
) -> None:
    """Where content is a list, a refusal is a part of it."""
    part = {"type": "refusal", "refusal": "I would rather not."}
    provider.behave(
        "main", _changed(lambda body: body["choices"][0]["message"].update(content=[part]))
    )
    answer = assess(service)
    assert answer["error"]["code"] == "refused"
    assert "rather not" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("finish", "code"),
    [
        ("length", "truncated_reply"),
        ("MAX_TOKENS", "truncated_reply"),
        ("model_length", "truncated_reply"),
        ("content_filter", "content_filtered"),
        ("SAFETY", "content_filtered"),
        ("refusal", "refused"),
        ("error", "upstream_error"),
        (7, "upstream_protocol"),
        (["stop"], "upstream_protocol"),
        ("stop", None),
        ("STOP", None),
        ("end_turn", None),
        ("eos", None),
        (None, None),
    ],
)
def test_how_a_reply_ended_is_looked_at_first(
    finish: object, code: str | None, service: RunningService, provider: FakeProvider
) -> None:
    """A verdict in a reply that did not end well is never read."""
    provider.behave("main", _changed(lambda body: body["choices"][0].update(finish_reason=finish)))
    answer = assess(service)
    assert (answer["error"] or {}).get("code") == code
    assert answer["reward"] == (0.75 if code is None else None)


def _changed(change: Callable[[dict[str, Any]], object]) -> Behaviour:
    """An honest completion after ``change``."""

    def reply(seen: Seen) -> Reply:
        body = completion(Reply(content=verdict(seen, seen.honest())), seen.model)
        change(body)
        return Reply(body=json.dumps(body).encode())

    return reply


def _parts(body: dict[str, Any]) -> None:
    message = body["choices"][0]["message"]
    text = message["content"]
    message["content"] = [
        {"type": "thinking", "thinking": []},
        {"type": "text", "text": text[:20]},
        {"type": "text", "text": text[20:]},
    ]


def _tool_call(body: dict[str, Any]) -> None:
    """The reply as the arguments of a tool call, as some providers are made to give JSON."""
    message = body["choices"][0]["message"]
    function = {"name": "json_tool_call", "arguments": message["content"]}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    message.update(content=None, tool_calls=calls)
    body["choices"][0]["finish_reason"] = "tool_calls"


HARMLESS: dict[str, Callable[[dict[str, Any]], object]] = {
    "content in parts": _parts,
    "verdict in a tool call": _tool_call,
    "no usage": lambda body: body.pop("usage"),
    "usage is a word": lambda body: body.update(usage="none"),
    "counts are huge": lambda body: body["usage"].update(prompt_tokens=10**400),
    "counts are fractions": lambda body: body["usage"].update(completion_tokens=1.5),
    "counts are not finite": lambda body: body["usage"].update(prompt_tokens=float("inf")),
    "counts are negative": lambda body: body["usage"].update(prompt_tokens=-5),
    "no details": lambda body: body["usage"].update(completion_tokens_details=[]),
    "no role": lambda body: body["choices"][0]["message"].pop("role"),
    "odd calls": lambda body: body["choices"][0]["message"].update(tool_calls=["x"]),
    "created is a word": lambda body: body.update(created="now"),
    "odd id": lambda body: body.update(id=[1]),
    "more choices": lambda body: body["choices"].append({}),
}


@pytest.mark.parametrize("kind", HARMLESS)
def test_oddities_of_a_gateway_cost_no_verdict(
    kind: str, service: RunningService, provider: FakeProvider
) -> None:
    """What nobody needs may look as it likes; token counts that make no sense are unknown."""
    provider.behave("main", _changed(HARMLESS[kind]))
    answer = assess(service)
    assert answer["reward"] == 0.75
    assert len(provider.requests) == 1
    assert 0 <= answer["usage"]["prompt_tokens"] <= 900


NO_PROTOCOL: dict[str, Callable[[dict[str, Any]], object]] = {
    "error in a 200": lambda body: body.update(choices=None, error={"message": "no", "code": 502}),
    "choices is an object": lambda body: body.update(choices={"0": {}}),
    "choice is null": lambda body: body.update(choices=[None]),
    "no message": lambda body: body["choices"][0].pop("message"),
    "message is text": lambda body: body["choices"][0].update(message="4"),
    "content is a number": lambda body: body["choices"][0]["message"].update(content=4),
    "content is an object": lambda body: body["choices"][0]["message"].update(content={"score": 4}),
}


@pytest.mark.parametrize("kind", NO_PROTOCOL)
def test_a_body_that_is_not_the_protocol_has_no_verdict(
    kind: str, service: RunningService, provider: FakeProvider
) -> None:
    """A failed outcome with its own code, not a crash."""
    provider.behave("main", _changed(NO_PROTOCOL[kind]))
    answer = assess(service)
    assert answer["error"]["code"] == "upstream_protocol"
    assert answer["usage"]["upstream_requests"] == len(provider.requests) == 3


@pytest.mark.parametrize(
    "script",
    [
        faults.network("gzip_bomb", size=96 * 1024 * 1024),
        faults.network("big", size=96 * 1024 * 1024),
        faults.network("endless", size=96 * 1024 * 1024),
    ],
    ids=["gzip bomb", "large body", "endless body"],
)
def test_a_huge_reply_is_not_read(script: Behaviour, provider: FakeProvider) -> None:
    """At most 64 KiB of it, compressed or not: the process does not grow."""
    call(provider, behaviours.honest())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(JudgingError) as raised:
        call(provider, script, timeout_s=20.0)
    assert raised.value.code == "upstream_protocol"
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 32 * 1024


# Keys.


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


# What a provider accepts.


def _bodies(provider: FakeProvider) -> list[Mapping[str, Any]]:
    return [request.body for request in provider.requests]


def _mode(body: Mapping[str, Any]) -> str:
    form: Mapping[str, str] = body.get("response_format", {"type": "text"})
    return form["type"]


def _knows(*modes: str) -> Behaviour:
    """Refuses every reply form but ``modes``, and says which."""

    def reply(seen: Seen) -> Reply:
        mode = _mode(seen.body)
        if mode in modes:
            return behaviours.honest()(seen)
        return error(400, f"'{mode}' is not supported", param="response_format.type")

    return reply


@pytest.mark.parametrize(
    ("judge", "script", "seen"),
    [
        ("stepper", _knows("text"), ["json_schema", "json_object", "text"]),
        ("worded", _knows("json_object"), ["json_schema", "json_object"]),
        ("text", _knows("text"), ["text"]),
        ("object", _knows("json_object"), ["json_object"]),
    ],
)
def test_the_reply_form_steps_down_and_stays(
    judge: str, script: Behaviour, seen: list[str], service: RunningService, provider: FakeProvider
) -> None:
    """JSON schema, then JSON object, then text; the next verdict costs one request."""
    provider.behave(judge, script)
    assert assess(service, judge)["reward"] == 0.75
    assert assess(service, judge)["reward"] == 0.75
    assert [_mode(body) for body in _bodies(provider)] == [*seen, seen[-1]]
    (listed,) = (j for j in service.http.get("/v1/judges").json()["judges"] if j["id"] == judge)
    assert listed["reply"] == seen[-1]


@pytest.mark.parametrize(
    ("judge", "script", "gone", "new"),
    [
        ("warm", faults.refuses("temperature"), "temperature", None),
        ("renamed", faults.refuses_max_tokens(), "max_tokens", "max_completion_tokens"),
        ("effort", faults.refuses("reasoning_effort"), "reasoning_effort", None),
    ],
)
def test_a_refused_parameter_is_left_out_for_good(
    judge: str,
    script: Behaviour,
    gone: str,
    new: str | None,
    service: RunningService,
    provider: FakeProvider,
) -> None:
    """Dropped, or sent under its other name; remembered for the next verdict."""
    provider.behave(judge, script)
    first, second = assess(service, judge), assess(service, judge)
    assert first["usage"]["upstream_requests"] == 2
    assert second["usage"]["upstream_requests"] == 1
    refused, *rest = _bodies(provider)
    assert gone in refused
    for body in rest:
        assert gone not in body
        assert new is None or body[new] == refused[gone]


def test_a_provider_without_any_budget_parameter(
    service: RunningService, provider: FakeProvider
) -> None:
    """Neither name is known: the limit is left to the provider."""
    both = faults.refuses("max_tokens", then=faults.refuses("max_completion_tokens"))
    provider.behave("budget", both)
    assert assess(service, "budget")["reward"] == 0.75
    assert [sorted(_limits(body)) for body in _bodies(provider)] == [
        ["max_tokens"], ["max_completion_tokens"], [],
    ]  # fmt: skip


def _limits(body: Mapping[str, Any]) -> set[str]:
    return {"max_tokens", "max_completion_tokens"} & body.keys()


def test_learning_goes_on_where_a_verdict_ran_out_of_requests(
    service: RunningService, provider: FakeProvider
) -> None:
    """Three refusals are one failure; the next verdict starts from what they taught."""
    fussy = faults.refuses("temperature", then=faults.refuses("max_tokens", then=_knows("text")))
    provider.behave("both", fussy)
    assert assess(service, "both")["error"]["code"] == "upstream_error"
    assert assess(service, "both")["reward"] == 0.75
    assert len(provider.requests) == 5


@pytest.mark.parametrize(
    ("judge", "told"),
    [
        ("routed", json_reply(400, {"error": {"message": "Provider returned error", "metadata": {
            "raw": '{"error": {"message": "Unsupported parameter", "param": "temperature"}}'}}})),
        ("plain", json_reply(400, {"error": {"message": "Provider returned error", "metadata": {
            "raw": "temperature is not supported by this model"}}})),
        ("lengthy", error(400, f"In the request {'of yours ' * 50}: unknown field temperature")),
        ("lacking", error(501, "temperature is not implemented")),
    ],
)  # fmt: skip
def test_a_refusal_is_found_where_a_gateway_puts_it(
    judge: str, told: Reply, service: RunningService, provider: FakeProvider
) -> None:
    """In what the provider behind it said, far into the message, under a status of its own."""
    honest = behaviours.honest()
    provider.behave(judge, lambda seen: told if "temperature" in seen.body else honest(seen))
    assert assess(service, judge)["reward"] == 0.75
    assert ["temperature" in body for body in _bodies(provider)] == [True, False]


def test_a_parameter_that_cannot_be_left_out_is_an_error(
    service: RunningService, provider: FakeProvider
) -> None:
    """The message is the provider's; nothing is tried again."""
    wrong = error(400, "Invalid value for 'messages'", param="messages")
    provider.behave("stubborn", faults.always(wrong))
    answer = assess(service, "stubborn")
    assert answer["error"]["code"] == "upstream_error"
    assert "messages" in answer["error"]["message"]
    assert len(provider.requests) == 1


SENT = frozenset({"temperature", "max_tokens", "response_format", "reasoning_effort", "seed"})


@pytest.mark.parametrize(
    ("message", "named", "refused"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
         "'max_completion_tokens' instead.", "max_tokens", {"max_tokens"}),
        ("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
         "'max_completion_tokens' instead.", None, {"max_tokens"}),
        ("`temperature` is deprecated for this model.", None, {"temperature"}),
        ("temperature: Extra inputs are not permitted", None, {"temperature"}),
        ("This response_format type is unavailable now", None, {"response_format"}),
        ("This model does not support response format `json_schema`", None, {"response_format"}),
        ("body.response_format.type: Input should be 'text' or 'json_object'", None,
         {"response_format"}),
        ("Failed to parse grammar", None, {"response_format"}),
        ("Structured outputs are not available for this model", None, {"response_format"}),
        ('Invalid JSON payload received. Unknown name "seed": Cannot find field.', None, {"seed"}),
        ("Argument not supported on this model: reasoning_effort", None, {"reasoning_effort"}),
        ("`temperature` may only be set to 1 when thinking is enabled.", None, {"temperature"}),
        ("`temperature` and `top_p` cannot both be specified", None, {"temperature"}),
        ("Model does not accept the parameter seed", None, {"seed"}),
        ("response_format: value is not one of the allowed values ['text']", None,
         {"response_format"}),
        ('Invalid JSON payload received. Unknown name "response_schema"', None,
         {"response_format"}),
        ('Grammar error: Unimplemented keys: ["pattern"]', None, {"response_format"}),
        ("The model is not available in your region", None, set()),
        ("The temperature in Denver is 20 degrees", None, set()),
        ("no such model", "model", set()),
    ],
)  # fmt: skip
def test_a_refusal_is_understood_in_many_words(
    message: str, named: str | None, refused: set[str]
) -> None:
    """Only parameters that were sent, can be left out and are meant."""
    assert refused_parameters(message, SENT, named) == refused


def test_a_reasoning_model_gets_more_room(service: RunningService, provider: FakeProvider) -> None:
    """Cut off while thinking: the re-ask may be longer, and so may every later question."""
    provider.behave("thinker", [faults.out_of_tokens_while_thinking(), behaviours.honest()])
    answer = assess(service, "thinker")
    assert answer["reward"] == 0.75
    assert assess(service, "thinker")["reward"] == 0.75
    first, again, later = (body["max_tokens"] for body in _bodies(provider))
    assert first < later <= again


def test_parameters_of_the_spec_are_sent(service: RunningService, provider: FakeProvider) -> None:
    """Sampling, limits and extras; no other than these."""
    assess(service, "extra")
    (body,) = _bodies(provider)
    assert (body["temperature"], body["max_tokens"]) == (0.3, 77)
    assert (body["top_p"], body["seed"]) == (0.5, 7)
    assert body.keys() == {
        "model", "messages", "temperature", "max_tokens", "top_p", "seed", "response_format",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["timeout", "num_retries", "fallbacks", "api_key", "model"])
def test_an_extra_parameter_cannot_undo_the_services_own(
    name: str, provider: FakeProvider, tmp_path: Path
) -> None:
    """It is refused when the file is read, with the judge and the field."""
    file = Judges(provider).add("main", "alpha", extra={name: 1}).write(tmp_path)
    with pytest.raises(ConfigError, match=rf"judges\[main\]: extra.*{name}"):
        load_bench(file)


def test_a_refusal_before_any_request_costs_none() -> None:
    """LiteLLM's own check of parameters is no upstream request."""
    found = _exceptions()["UnsupportedParamsError"]
    made = type("UnsupportedParamsError", (found,), {
        "__init__": lambda self: None,
        "__str__": lambda self: "model does not support parameters: ['reasoning_effort']",
    })  # fmt: skip
    mapped = translate(made(), Exchange(), judge="a", sent=SENT)
    assert isinstance(mapped, ParameterRefused)
    assert mapped.parameters == {"reasoning_effort"}
    assert mapped.sent is False
